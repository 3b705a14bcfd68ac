package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/batch"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// explainForm says of every field who decided it and why.
type explainForm struct {
	view
	paths []merge.Path // none: all fields
	all   []diff.Explanation
	as    diff.ExplainFormat
}

func (f *explainForm) object(item *batch.Item) error {
	e := diff.Explain(tell(item.Outcome.Planned, f.secrets), f.paths...)
	if len(f.paths) == 0 || len(e.Fields) > 0 {
		f.all = append(f.all, e)
	}
	return nil
}

// unknown are the fields asked for that no object has on any side.
func (f *explainForm) unknown(items []*batch.Item) error {
	var errs []error
	for _, path := range f.paths {
		near, found := "", false
		for _, item := range items {
			p := item.Outcome.Planned
			found = found || len(diff.Explain(tell(p, f.secrets), path).Fields) > 0
			if s := schema.Suggest(p.Type, path); near == "" && s != "" && s != path[len(path)-1].Name {
				near = "; did you mean " + s + "?"
			}
		}
		if !found && len(items) > 0 {
			errs = append(errs, fmt.Errorf("%s: no object has it, neither in original nor in local nor in live%s", path, near))
		}
	}
	return errors.Join(errs...)
}

func (f *explainForm) close(context.Context) error {
	return diff.WriteExplanations(f.Out, f.all, diff.ExplainOptions{Format: f.as, Width: width(f.Out), Color: f.colored()})
}

// any says whether there is a field to explain.
func (f *explainForm) any() bool {
	return slices.ContainsFunc(f.all, func(e diff.Explanation) bool { return len(e.Fields) > 0 })
}

func (f *explainForm) conflicts() bool { return true }

// explainVerb explains fields, and needs read rights only.
type explainVerb struct {
	*env
	inputs      inputFlags
	plan        planFlags
	told        noteFlags
	out         outputFlags
	live        []string
	concurrency int
}

func newExplain(e *env) *cobra.Command {
	v := &explainVerb{env: e}
	cmd := &cobra.Command{
		Use:   "explain (-f FILE | -k DIRECTORY) [FIELD...]",
		Short: "Say of each field what it will be, who decided that, and why",
		Long: `Say of each field what a merge would make of it: the result, which side it comes from and
by which rule, what original, local and live have, and who set live's value and when.
Only the right to get the objects is needed.`,
		Example: `  # Every field
  kubectl merge explain -f web.yaml

  # One field, and all below it
  kubectl merge explain -f web.yaml spec.replicas 'spec.template.spec.containers[name=web]'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.run(cmd.Context(), cmd.Flags().Changed("policy"), args)
		},
	}
	flags := cmd.Flags()
	v.inputs.add(flags, "explain")
	v.plan.add(flags)
	v.told.add(flags)
	flags.StringVarP(&v.out.output, "output", "o", "table", "table, json or yaml")
	flags.BoolVar(&v.out.secrets, "show-secrets", false, "show the values of Secrets")
	flags.StringSliceVar(&v.live, "live", nil, "work offline: live objects come from this FILE or DIR")
	flags.IntVar(&v.concurrency, "concurrency", run.Limit, "objects under way at once")
	return cmd
}

func (v *explainVerb) run(ctx context.Context, policyGiven bool, fields []string) error {
	form := &explainForm{view: view{env: v.env, outputFlags: v.out}, as: diff.ExplainFormat(v.out.output)}
	switch form.as {
	case diff.ExplainTable, diff.ExplainJSON, diff.ExplainYAML:
	default:
		return fmt.Errorf("--output=%s: there are table, json and yaml", v.out.output)
	}
	for _, field := range fields {
		path, err := merge.ParsePath(field)
		if err != nil {
			return err
		}
		form.paths = append(form.paths, path)
	}
	planner, err := v.plan.planner(ctx, policyGiven)
	if err != nil {
		return err
	}
	planner.Trace = true
	notes, err := v.told.teller(v.env, v.out)
	if err != nil {
		return err
	}
	s, err := v.open(ctx, request{inputs: &v.inputs, plan: &v.plan, planner: planner, live: v.live, concurrency: v.concurrency, quiet: v.told.quiet})
	if err != nil {
		return err
	}
	t := &told{out: form, notes: notes}
	for _, item := range s.items {
		if item.Err != nil {
			continue
		}
		showOnly(item)
		notes.problems(item)
		t.errs = append(t.errs, form.object(item))
	}
	if len(fields) > 0 && !form.any() && len(form.all) > 0 {
		return fmt.Errorf("%s: neither local, original nor live has this field: without a FIELD all are explained", strings.Join(fields, ", "))
	}
	return errors.Join(form.close(ctx), errors.Join(t.errs...), form.unknown(s.items), s.bad, batch.Failed(s.items))
}
