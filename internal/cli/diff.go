package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// diffVerb shows the difference between live and the result of the merge.
type diffVerb struct {
	*env
	inputs      inputFlags
	plan        planFlags
	out         outputFlags
	notes       noteFlags
	dryRun      dryRunFlag
	live        []string
	concurrency int
	prune       pruneFlags
	recreate    recreateFlag
	args        []string // TYPE/NAME, in place of files
}

const diffLong = `Show what a merge would change in the cluster, as a unified diff of live against the
result. Without a file, what was applied last is used as local. Needs only permission to
get the objects. The values of Secrets are not shown.

With --dry-run=server the server is asked what it would make of the result, with its
defaults and webhooks; that needs permission to write, and writes nothing.

-o prints another report instead of the diff; -o plan prints one that a run can be bound to
with --plan.

KUBECTL_EXTERNAL_DIFF names a program, and its arguments, that shows the differences between
two folders instead. It has to exit with 0 for none, 1 for some, and more for errors.

Exit code 0: nothing would change; 1: something would; 2: an error; 3: conflicts are left.`

var _ = registerVerb(verb{open: newDiff, args: objectArgs, flags: map[string]cobra.CompletionFunc{"output": reportOutputs}})

// newDiff returns the diff verb.
//
// Unlike kubectl: it merges here rather than in a dry run of the server, so that
// permission to get the objects is enough.
func newDiff(e *env) *cobra.Command {
	v := &diffVerb{env: e}
	cmd := &cobra.Command{
		Use:     "diff (-f FILE | -k DIRECTORY | TYPE/NAME...)",
		Short:   "Show what a merge would change in the cluster",
		Long:    diffLong,
		Example: "  kubectl merge diff -f web.yaml\n  kubectl merge diff deployment/web\n  kubectl merge diff -f web.yaml -o plan > plan.yaml\n  kubectl merge diff -f web.yaml --live live.yaml\n  KUBECTL_EXTERNAL_DIFF=\"colordiff -N -u\" kubectl merge diff -f web.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			differs, err := v.paged(cmd, args)
			err = v.plan.guard.ended(err)
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
	v.notes.add(flags)
	addDryRun(flags, &v.dryRun)
	flags.StringVarP(&v.out.output, "output", "o", "diff", "what is printed: "+printerNames(isReport))
	flags.BoolVar(&v.out.managedFields, "show-managed-fields", false, "show managedFields and other book-keeping")
	flags.BoolVar(&v.out.secrets, "show-secrets", false, "show the values of Secrets")
	flags.StringSliceVar(&v.live, "live", nil, "work offline: live objects come from this FILE or DIR")
	flags.IntVar(&v.concurrency, "concurrency", parallel.Limit, "objects under way at once")
	v.recreate.add(flags)
	v.prune.add(flags, false)
	return cmd
}

// paged runs the verb; on a terminal, its output is shown page by page.
func (v *diffVerb) paged(cmd *cobra.Command, args []string) (differs bool, err error) {
	if v.plan.asks() {
		return v.checked(cmd, args)
	}
	done := v.page()
	differs, err = v.checked(cmd, args)
	return differs, errors.Join(err, done())
}

// checked validates the command line and runs the verb.
func (v *diffVerb) checked(cmd *cobra.Command, args []string) (differs bool, err error) {
	if err := spaced(cmd.Flags(), args); err != nil {
		return false, err
	}
	v.args = args
	if err := v.named().check(); err != nil {
		return false, err
	}
	mode, err := showMode(v.dryRun.text, v.live)
	if err != nil {
		return false, err
	}
	if err := errors.Join(v.prune.validate(&v.inputs, v.live), v.checkOutput()); err != nil {
		return false, err
	}
	return v.run(cmd.Context(), cmd.Flags().Changed("policy"), mode)
}

func (v *diffVerb) named() namedArgs {
	return namedArgs{"diff", v.args, &v.inputs, v.live, v.prune.name}
}

// planned returns the run whose diff is printed, with the conflicts that the user has settled.
func (v *diffVerb) planned(ctx context.Context, policyGiven bool, notes *reporter, render run.Render) (*session, error) {
	v.plan.secret = v.secretValues()
	planner, err := v.plan.planner(ctx, policyGiven)
	if err != nil {
		return nil, err
	}
	p, _ := printerNamed(v.out.output)
	planner.Trace = p.traces
	recreation, err := v.recreate.recreation(&v.prune, v.plan.server, nil)
	if err != nil {
		return nil, err
	}
	objects, err := v.named().lastApplied(ctx, v.env)
	if err != nil {
		return nil, err
	}
	s, err := v.open(ctx, request{
		inputs: &v.inputs, objects: objects, plan: &v.plan, planner: planner, live: v.live, concurrency: v.concurrency, needs: p.needs, shown: true, quiet: v.notes.quiet,
		prune: &v.prune, recreation: recreation, note: notes.set(), render: render,
		write: cluster.Write{FieldManager: v.plan.manager, FieldValidation: fieldValidation[planner.Validate], DryRun: true},
	})
	if err != nil {
		return nil, err
	}
	asked := askRequest{&v.inputs, &v.plan, v.out.secrets}
	return s, errors.Join(v.plan.guard.check(ctx, s, notes, dryClient), v.ask(ctx, s, asked), v.confirm(ctx, asked.confirmation(s.Plan, &v.prune, dryClient)))
}

// run prints the diff of every object, even if others have errors.
func (v *diffVerb) run(ctx context.Context, policyGiven bool, mode dryRun) (differs bool, err error) {
	notes := v.notes.reporter(v.env, v.out, mode)
	if v.out.output != "diff" {
		return v.report(ctx, policyGiven, notes, mode)
	}
	d := view{env: v.env, outputFlags: v.out, mode: mode}.differ()
	s, err := v.planned(ctx, policyGiven, notes, rendering(d, notes, mode))
	if err != nil {
		return false, err
	}
	var errs []error
	s.preview(ctx, mode, func(item *run.Item) {
		switch item.Action() {
		case run.Failed:
			return
		case run.Keep:
			notes.kept(item)
			return
		}
		notes.item(item)
		notes.impact(item, "")
		if item.Result.Outcome == write.Unchanged {
			return
		}
		changed, err := d.item(item)
		differs = differs || changed
		errs = append(errs, err)
	})
	changed, err := d.close(ctx)
	left := notes.conflicts(s.Items) + unpruned(s.Plan)
	notes.unused(s.Planner.Rules)
	notes.stale(s.Plan)
	if mode == dryClient {
		notes.missing(s.MissingNamespaces(ctx))
	}
	if err := errors.Join(s.Failed(), errors.Join(errs...), err); err != nil || left == 0 {
		return differs || changed, err
	}
	return differs || changed, &exit{Code: conflicted}
}

// preview determines the result of writing the items, on the server if mode is dryServer, and
// reports each. An error stops no other item.
func (s *session) preview(ctx context.Context, mode dryRun, report func(*run.Item)) {
	if mode != dryServer {
		s.Show(ctx, report)
		return
	}
	defer s.line.End()
	s.Preview(ctx, term.Around(s.line, report))
}
