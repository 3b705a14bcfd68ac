package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/batch"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

// diffVerb shows live against the result of the merge.
type diffVerb struct {
	*env
	inputs      inputFlags
	plan        planFlags
	out         outputFlags
	told        noteFlags
	live        []string
	concurrency int
}

// newDiff makes the verb.
//
// Unlike kubectl: it merges here rather than in a dry run of the server, so that
// the right to get the objects is enough.
func newDiff(e *env) *cobra.Command {
	v := &diffVerb{env: e}
	cmd := &cobra.Command{
		Use:   "diff (-f FILE | -k DIRECTORY)",
		Short: "Show what a merge would change in the cluster",
		Long: `Show what a merge would change in the cluster, as a unified diff of live against the
result. Only the right to get the objects is needed.

Exit code 0: nothing would change; 1: something would; 2: an error.`,
		Example: "  kubectl merge diff -f web.yaml\n  kubectl merge diff -f web.yaml --live live.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			differs, err := v.run(cmd.Context(), cmd.Flags().Changed("policy"))
			switch {
			case exitCode(err) > failed:
				return err
			case err != nil:
				return &exit{Code: diffFailed, Err: err}
			case differs:
				return &exit{Code: failed}
			}
			return nil
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &exit{Code: diffFailed, Err: flagError(cmd, err)}
	})
	flags := cmd.Flags()
	v.inputs.add(flags, "diff")
	v.plan.add(flags)
	v.told.add(flags)
	flags.BoolVar(&v.out.managedFields, "show-managed-fields", false, "show managedFields and other book-keeping")
	flags.BoolVar(&v.out.secrets, "show-secrets", false, "show the values of Secrets")
	flags.StringSliceVar(&v.live, "live", nil, "work offline: live objects come from this FILE or DIR")
	flags.IntVar(&v.concurrency, "concurrency", run.Limit, "objects under way at once")
	return cmd
}

// run prints every object's diff, also where another one is bad.
func (v *diffVerb) run(ctx context.Context, policyGiven bool) (differs bool, err error) {
	planner, err := v.plan.planner(ctx, policyGiven)
	if err != nil {
		return false, err
	}
	notes, err := v.told.teller(v.env, v.out)
	if err != nil {
		return false, err
	}
	s, err := v.open(ctx, request{inputs: &v.inputs, plan: &v.plan, planner: planner, live: v.live, concurrency: v.concurrency})
	if err != nil {
		return false, err
	}
	errs := []error{s.bad, batch.Failed(s.items)}
	show := view{env: v.env, outputFlags: v.out}
	for _, item := range s.items {
		if item.Err != nil {
			continue
		}
		showOnly(item)
		notes.item(item)
		changed, err := show.unified(item)
		differs = differs || changed
		errs = append(errs, err)
	}
	left := notes.conflicts(s.items)
	if err := errors.Join(errs...); err != nil || left == 0 {
		return differs, err
	}
	return differs, &exit{Code: conflicted}
}
