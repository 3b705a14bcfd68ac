package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

var _ = registerPrinter(printerRow{
	name: "explain", help: "who decided each field, and why", values: true, report: true, traces: true, merges: true,
	open: func(v view) (printer, error) { return newExplainPrinter(v, diff.ExplainTable) },
})

// explainPrinter explains who decided every field, and why.
type explainPrinter struct {
	view
	out   *diff.ExplanationWriter
	paths []asked // none: all fields
	shown int     // objects

	changed bool // only fields that change
}

// write prints the requested parts of an explanation.
func (f *explainPrinter) write(e diff.Explanation) error {
	if f.changed {
		e = e.Changed()
	}
	return f.out.Write(e)
}

// asked is a field that the user asked for.
type asked struct {
	merge.Path
	typed string // the path, as the user wrote it
	found bool   // on any side of any object
	near  string // a suggestion, if it was not found
}

func askedFields(fields []string) ([]asked, error) {
	var all []asked
	for _, field := range fields {
		path, err := merge.ParsePath(field)
		if err != nil {
			return nil, err
		}
		all = append(all, asked{Path: path, typed: field})
	}
	return all, nil
}

func newExplainPrinter(v view, as diff.ExplainFormat) (*explainPrinter, error) {
	out, err := diff.NewExplanationWriter(v.Out, diff.ExplainOptions{Format: as, Width: term.Width(v.Out), Color: v.colored()})
	return &explainPrinter{view: v, out: out}, err
}

func (f *explainPrinter) object(item *run.Item) error {
	if item.Surplus != nil {
		return f.surplus(item)
	}
	report := reportOf(item.Result.Planned, f.secrets)
	f.shown++
	if len(f.paths) == 0 {
		return f.write(diff.Explain(report))
	}
	var found []merge.Path
	for i := range f.paths {
		field := &f.paths[i]
		if len(diff.Explain(report, field.Path).Fields) > 0 {
			field.found = true
			found = append(found, field.Path)
		} else if near := schema.Nearest(item.Result.Planned.Type, field.Path, report.Local, report.Live, report.Plan.Result); field.near == "" && near != nil {
			field.near = "; did you mean " + near.String() + "?"
		}
	}
	if len(found) == 0 {
		return nil
	}
	return f.write(diff.Explain(report, found...))
}

// surplus reports why an object missing in the input is deleted, or kept.
func (f *explainPrinter) surplus(item *run.Item) error {
	if len(f.paths) > 0 {
		return nil
	}
	word := "pruned: "
	if item.Action() == run.Keep {
		word = "kept: "
	}
	return f.out.Write(diff.Explanation{Object: item.Target.String(), Fields: []diff.Row{{Why: word + item.Reason()}}})
}

// unknown returns an error for the requested fields that no object has on any side.
func (f *explainPrinter) unknown() error {
	var errs []error
	for _, field := range f.paths {
		if !field.found && f.shown > 0 {
			errs = append(errs, fmt.Errorf("%s: no object has it, neither in original nor in local nor in live%s", field.typed, field.near))
		}
	}
	return errors.Join(errs...)
}

func (f *explainPrinter) close(context.Context) error { return f.out.Close() }

func (f *explainPrinter) conflicts() bool { return true }

// explainVerb explains fields, and needs only permission to read.
type explainVerb struct {
	*env
	inputs      inputFlags
	plan        planFlags
	notes       noteFlags
	out         outputFlags
	live        []string
	concurrency int
	prune       pruneFlags
	changed     bool
}

var _ = registerVerb(verb{open: newExplain, args: explainedArgs, flags: map[string]cobra.CompletionFunc{"output": complete.Words("table\tfor a terminal", "json", "yaml")}})

func newExplain(e *env) *cobra.Command {
	v := &explainVerb{env: e}
	cmd := &cobra.Command{
		Use:   "explain (-f FILE | -k DIRECTORY | TYPE/NAME) [FIELD...]",
		Short: "Explain the resulting value of each field, its source and the reason",
		Long: `Explain what a merge would do to each field: the result, which side it comes from and
by which rule, what original, local and live have, and who set live's value and when.
Without a file, what was applied last is used as local. Needs only permission to get the objects.`,
		Example: `  # Every field
  kubectl merge explain -f web.yaml

  # The fields that it would change, and those on which file and cluster disagree
  kubectl merge explain -f web.yaml --changed

  # An object as it was applied last: which fields others have set or changed since
  kubectl merge explain deployment/web

  # One field, and all below it
  kubectl merge explain -f web.yaml spec.replicas 'spec.template.spec.containers[name=web]'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.plan.guard.ended(v.run(cmd.Context(), cmd.Flags().Changed("policy"), args))
		},
	}
	flags := cmd.Flags()
	v.inputs.add(flags, "explain")
	v.plan.add(flags)
	v.notes.add(flags)
	flags.StringVarP(&v.out.output, "output", "o", "table", "table, json or yaml")
	flags.BoolVar(&v.out.secrets, "show-secrets", false, "show the values of Secrets")
	flags.StringSliceVar(&v.live, "live", nil, "work offline: live objects come from this FILE or DIR")
	flags.IntVar(&v.concurrency, "concurrency", parallel.Limit, "objects under way at once")
	flags.BoolVar(&v.changed, "changed", false, "only fields that the merge would change, and those on which local and live disagree")
	v.prune.add(flags, false)
	return cmd
}

func (v *explainVerb) run(ctx context.Context, policyGiven bool, args []string) (err error) {
	names, fields := namesAndFields(args)
	if !v.plan.asks() {
		done := v.page()
		defer func() { err = errors.Join(err, done()) }()
	}
	if err := v.prune.validate(&v.inputs, v.live); err != nil {
		return err
	}
	switch diff.ExplainFormat(v.out.output) {
	case diff.ExplainTable, diff.ExplainJSON, diff.ExplainYAML:
	default:
		return fmt.Errorf("--output=%s: there are table, json and yaml", v.out.output)
	}
	printer, err := newExplainPrinter(view{env: v.env, outputFlags: v.out}, diff.ExplainFormat(v.out.output))
	if err != nil {
		return err
	}
	printer.changed = v.changed
	if printer.paths, err = askedFields(fields); err != nil {
		return err
	}
	v.plan.secret = v.secretValues()
	planner, err := v.plan.planner(ctx, policyGiven)
	if err != nil {
		return err
	}
	planner.Trace = true
	notes := v.notes.reporter(v.env, v.out, dryClient)
	objects, err := namedArgs{"explain", names, &v.inputs, v.live, v.prune.name}.lastApplied(ctx, v.env)
	if err != nil {
		return err
	}
	s, err := v.open(ctx, request{inputs: &v.inputs, objects: objects, plan: &v.plan, planner: planner, live: v.live, concurrency: v.concurrency, shown: true, quiet: v.notes.quiet, prune: &v.prune, note: notes.set()})
	if err != nil {
		return err
	}
	errs := []error{v.plan.guard.check(ctx, s, notes, dryClient)}
	s.Show(ctx, func(item *run.Item) {
		if item.Err != nil {
			return
		}
		notes.problems(item)
		errs = append(errs, printer.object(item))
	})
	notes.unused(planner.Rules)
	return errors.Join(printer.close(ctx), errors.Join(errs...), printer.unknown(), s.Failed())
}
