package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

// mergeVerb is the main verb: it merges local into live and applies the result.
type mergeVerb struct {
	*env
	inputs      inputFlags
	plan        planFlags
	out         outputFlags
	notes       noteFlags
	dryRun      dryRunFlag
	live        []string
	concurrency int
	preflight   bool
	partial     bool
	prune       pruneFlags
	recreate    recreateFlag
	waits       waitFlags
	bind        bindFlags
	record      recordFlags
	interactive interactiveFlag
	given       func(flag string) bool
}

const mergeLong = `Merge objects from files into what the cluster holds, three ways, and apply the result.

What was applied last (original), what the file asks for (local) and what the cluster
holds (live) are merged field by field: what local states is set, what original has and
local does not is removed, and what others have set stays. Nothing that others have
set is overwritten or removed without a line on stderr.

Exit codes:

    0  done, or nothing to do; diff, drift: no differences
    1  an error; diff, drift: differences
    2  an error of diff or drift
    3  something is left to you: conflicts, or objects that are not pruned for safety
    4  written, and not ready (--wait)

With --notes=json, of any command, notes, errors and outcomes on stderr are JSON.`

const mergeExample = `  # Apply a file, keeping what others have set
  kubectl merge -f web.yaml

  # Preview the result; nothing is written
  kubectl merge -f web.yaml --dry-run
  kubectl merge diff -f web.yaml

  # Apply, and wait until what was written is ready
  kubectl merge -f web.yaml --wait --timeout=5m

  # Without a cluster: live objects from files
  kubectl merge -f web.yaml --live live.yaml`

func newMerge(e *env) *cobra.Command {
	v := &mergeVerb{env: e}
	cmd := &cobra.Command{
		Use:     "kubectl-merge (-f FILE | -k DIRECTORY)",
		Short:   "Three-way merge of local objects into a cluster",
		Long:    mergeLong,
		Example: mergeExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := spaced(cmd.Flags(), args); err != nil {
				return err
			}
			if err := unknownVerb(cmd, args); err != nil {
				return err
			}
			if err := errors.Join(checkRefused(cmd.Flags()), v.prune.validate(&v.inputs, v.live)); err != nil {
				return err
			}
			if !v.inputs.given() && cmd.Flags().NFlag() == 0 {
				return errors.Join(cmd.Help(), v.inputs.validate())
			}
			return v.run(cmd.Context(), cmd.Flags().Changed("policy"))
		},
	}
	flags := cmd.Flags()
	v.given = flags.Changed
	v.inputs.add(flags, "merge")
	v.plan.add(flags)
	v.out.add(flags)
	v.notes.add(flags)
	addDryRun(flags, &v.dryRun)
	flags.StringSliceVar(&v.live, "live", nil, "work offline: live objects come from this FILE or DIR (output of kubectl get -o yaml); implies --dry-run")
	flags.IntVar(&v.concurrency, "concurrency", parallel.Limit, "objects under way at once; unless given, up to 32 where the server is far")
	flags.BoolVar(&v.preflight, "preflight", true, "where several objects are to be written, have the server try all of them before the first is")
	flags.BoolVar(&v.partial, "partial", false, "write the objects without conflicts even if others have some; otherwise a conflict in any object keeps all from being written")
	v.recreate.add(flags)
	v.prune.add(flags, true)
	v.waits.addTo(flags)
	v.bind.add(flags)
	v.record.add(flags)
	v.interactive.add(flags, &v.prune.yes)
	addRefused(flags)
	return cmd
}

func (v *mergeVerb) run(ctx context.Context, policyGiven bool) error {
	start := time.Now()
	mode, err := v.checked(ctx)
	if err != nil {
		return err
	}
	notes := v.notes.reporter(v.env, v.out, mode)
	r, err := v.request(ctx, policyGiven, mode)
	if err != nil {
		return err
	}
	out, err := v.out.printer(ctx, v.env, mode)
	if err != nil {
		return err
	}
	r.note = notes.set()
	s, err := v.open(ctx, r)
	if err == nil {
		err = v.agreed(ctx, s, notes, mode)
	}
	if err == nil {
		err = begin(ctx, out, s)
	}
	if err != nil {
		return err
	}
	v.waits.after(v.env, s, notes, v.out.output == "")
	v.waits.hold(s, &v.prune, notes.set())
	if err := v.record.open(ctx, v.env, s, v.out.secrets); err != nil {
		return err
	}
	t := &results{out: out, notes: notes, mode: mode, env: v.env, output: v.out.output, start: start}
	s.finish(ctx, mode, t)
	v.recreate.unused(s.Plan, notes.set())
	return v.record.end(ctx, v.env, s, v.plan.guard.ended(v.bind.ended(t.end(ctx, s))))
}

// checked returns the dry run mode, after checking that the flags agree.
func (v *mergeVerb) checked(ctx context.Context) (dryRun, error) {
	mode, err := v.mode()
	if err == nil {
		err = errors.Join(v.waits.check(mode), v.record.check(mode), v.interactive.open(v.env, mode, v.inputs.stdin()), v.bind.read(ctx))
	}
	return mode, err
}

// request returns the run that the flags ask for, without the destination of its notes.
func (v *mergeVerb) request(ctx context.Context, policyGiven bool, mode dryRun) (request, error) {
	v.plan.secret = v.secretValues()
	planner, err := v.plan.planner(ctx, policyGiven)
	if err != nil {
		return request{}, err
	}
	p, _ := printerNamed(v.out.output)
	planner.Trace = p.traces
	recreation, err := v.recreate.recreation(&v.prune, v.plan.server, v.bind.recreated())
	if v.waits.what != waitNone {
		recreation.Within = v.waits.timeout
	}
	return request{
		inputs:      &v.inputs,
		plan:        &v.plan,
		planner:     planner,
		live:        v.live,
		concurrency: v.concurrency,
		adapt:       !v.given("concurrency"),
		preflight:   v.preflight,
		partial:     v.partial,
		needs:       v.needs(mode),
		bind:        v.bind.bind(),
		shown:       v.out.oneByOne(),
		asked:       v.interactive.on,
		quiet:       v.notes.quiet,
		prune:       &v.prune,
		recreation:  recreation,
		write: cluster.Write{
			FieldManager:    v.plan.manager,
			FieldValidation: fieldValidation[planner.Validate],
			DryRun:          mode == dryServer,
		},
	}, err
}

// agreed returns an error unless all agree to the run before anything is written: the plan that it
// is bound to, the guard, and the user about conflicts and deletions.
func (v *mergeVerb) agreed(ctx context.Context, s *session, notes *reporter, mode dryRun) error {
	asked := askRequest{&v.inputs, &v.plan, v.out.secrets}
	for _, agree := range []func() error{
		func() error { return v.bind.check(ctx, s, notes) },
		func() error { return v.plan.guard.check(ctx, s, notes, mode) },
		func() error { return v.ask(ctx, s, asked) },
		func() error { return v.confirmed(ctx, s, asked, mode) },
	} {
		if err := agree(); err != nil {
			return err
		}
	}
	return nil
}

// confirmed asks all questions before anything is written.
func (v *mergeVerb) confirmed(ctx context.Context, s *session, asked askRequest, mode dryRun) error {
	if !v.interactive.on {
		return v.confirm(ctx, asked.confirmation(s.Plan, &v.prune, mode))
	}
	err := v.interactive.confirm(ctx, v.env, s, review{v.out, v.notes, false})
	if err == nil {
		err = v.bind.confirmed(s)
	}
	return err
}

// needs returns the parts of objects to store until they are written and printed.
func (v *mergeVerb) needs(mode dryRun) run.Needs {
	if needs := v.out.needs(mode); needs != run.Outcomes || v.bind.bound == nil && !v.record.given() && !v.interactive.on {
		return needs
	}
	return run.Changes // they are compared, or recorded, whole
}

// mode returns the dry run that the flags ask for.
func (v *mergeVerb) mode() (dryRun, error) {
	mode, err := v.out.mode(v.dryRun)
	if err != nil || len(v.live) == 0 {
		return mode, err
	}
	if mode == dryServer {
		return mode, errNoServer
	}
	return dryClient, nil
}
