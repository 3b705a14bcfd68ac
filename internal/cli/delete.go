package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
)

// deleteVerb deletes a set.
type deleteVerb struct {
	membersVerb
	kinds   []string
	cascade string
	yes     bool
	wait    bool
	timeout time.Duration
}

var deleteFlags = map[string]cobra.CompletionFunc{"wait": complete.Words("true", "false")}

func newSetDelete(e *env) *cobra.Command {
	v := &deleteVerb{membersVerb: membersVerb{env: e}}
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete the members of a set, and the set",
		Long: `Delete all members of a set and then its parent, by the rules of --prune: what is marked to be kept, is
owned, or holds data or anything of others is kept and reported, and the set stays with the remaining members.
More than 25 objects are deleted only if that is confirmed, on the terminal or with --yes.

Exit code 0: all of it is deleted; 1: an error; 3: something is kept.`,
		Example: `  # See what would be deleted
  kubectl merge applyset delete shop --dry-run

  kubectl merge applyset delete shop --wait`,
		Args: oneSet,
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), args[0]) },
	}
	v.addFlags(cmd.Flags())
	return cmd
}

var _ = registerVerb(verb{open: newDelete, args: noArgs, flags: deleteFlags})

// newDelete is the earlier form of applyset delete.
func newDelete(e *env) *cobra.Command {
	v, name := &deleteVerb{membersVerb: membersVerb{env: e}}, ""
	cmd := &cobra.Command{
		Use:    "delete --applyset=NAME",
		Short:  "Delete a set: the earlier form of applyset delete",
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && name == "" {
				return fmt.Errorf("unexpected argument %q; did you mean `kubectl merge applyset delete %s`? Single objects: kubectl delete", args[0], args[0])
			}
			return unexpected(args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name == "" {
				return errors.New("names no set: kubectl merge applyset delete NAME deletes one; single objects: kubectl delete")
			}
			if !v.quiet {
				e.note("", "kubectl merge delete --applyset="+name+" is now kubectl merge applyset delete "+name)
			}
			return v.run(cmd.Context(), name)
		},
	}
	v.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&name, "applyset", "", "the set")
	return cmd
}

func (v *deleteVerb) addFlags(flags *pflag.FlagSet) {
	v.add(flags)
	addDryRun(flags, &v.dryRun)
	flags.StringSliceVar(&v.kinds, "prune-kinds", nil, "kinds that hold data and are deleted as well: PersistentVolumeClaim, PersistentVolume")
	flags.StringVar(&v.cascade, "cascade", "background", "what happens to objects owned by one that is deleted: background, foreground or orphan")
	flags.BoolVar(&v.yes, "yes", false, "delete without asking, also more than 25 objects")
	flags.BoolVar(&v.wait, "wait", false, "wait until the objects are gone")
	flags.DurationVar(&v.timeout, "timeout", 5*time.Minute, "with --wait: how long")
}

func (v *deleteVerb) run(ctx context.Context, name string) error {
	mode, err := parseDryRun(v.dryRun.text)
	if err != nil {
		return err
	}
	s, err := v.existingSet(ctx, name)
	if err != nil {
		return err
	}
	if err := s.Writable(); err != nil {
		return err
	}
	p, err := v.pruner(s)
	if err != nil {
		return err
	}
	plan := &run.Plan{Job: &run.Job{Pruner: p, Write: cluster.Write{DryRun: mode == dryServer}, Concurrency: v.concurrency, Needs: run.Outcomes}}
	h := &holding{api: v.api, types: (&apply.Documents{Fetch: v.api.OpenAPI}).Type, note: s.Note, orphans: v.cascade == "orphan"}
	if v.wait {
		until := time.Now().Add(v.timeout)
		h.until = func() time.Time { return until }
	}
	plan.Hold = h.hold
	plan.Merge(ctx)
	if err := v.confirm(ctx, confirmation{plan: plan, look: "--dry-run", given: v.yes, dryRun: mode}); err != nil {
		return err
	}
	v.send(ctx, plan, mode)
	if err := plan.Failed(); err != nil {
		return err
	}
	if unpruned(plan) == 0 {
		v.line(s.Target, "deleted", mode)
	}
	if v.wait && mode == dryNone {
		if err := v.await(ctx, p, plan); err != nil {
			return err
		}
	}
	if unpruned(plan) > 0 {
		return &exit{Code: conflicted}
	}
	return nil
}

func (v *deleteVerb) pruner(s *prune.Set) (*prune.Pruner, error) {
	f := pruneFlags{kinds: v.kinds, cascade: v.cascade}
	allowed, err := f.allowed()
	if err != nil {
		return nil, err
	}
	propagation, known := propagations[v.cascade]
	if !known {
		return nil, fmt.Errorf("--cascade=%s: must be background, foreground or orphan", v.cascade)
	}
	return &prune.Pruner{Set: s, Allowed: allowed, Propagation: propagation, Limit: v.concurrency, Disband: true}, nil
}

// send deletes the members, or shows the deletions.
func (v *deleteVerb) send(ctx context.Context, plan *run.Plan, mode dryRun) {
	notes := v.reporter(v.quiet)
	report := func(item *run.Item) {
		switch item.Action() {
		case run.Delete:
			v.line(item.Target, "deleted", mode)
		case run.Keep:
			notes.kept(item)
		}
	}
	switch {
	case plan.Err != nil:
	case mode == dryClient:
		plan.Show(ctx, report)
	default:
		plan.Send(ctx, report)
	}
}

// await waits until objects deleted now or before are gone.
func (v *deleteVerb) await(ctx context.Context, p *prune.Pruner, plan *run.Plan) error {
	limited, cancel := context.WithTimeout(ctx, v.timeout)
	defer cancel()
	leaving := p.Leaving()
	for _, item := range plan.Others {
		if item.Action() == run.Delete {
			leaving = append(leaving, prune.Member{Member: applyset.Member{GroupKind: applyset.GroupKind{Group: item.Target.Group, Kind: item.Target.Kind}, UID: item.UID}, Target: item.Target})
		}
	}
	return p.Await(limited, leaving)
}
