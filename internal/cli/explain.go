package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

var _ = registerPrinter(printerRow{
	name: "explain", help: "who decided each field, and why", values: true, report: true, conflicts: true, traces: true, merges: true,
	open: func(v view) (printer, error) { return newExplainPrinter(v), nil },
})

// explainPrinter explains who decided every field, and why.
type explainPrinter struct {
	view
	out   list
	paths []asked // none: all fields
	shown int     // objects
}

// explainStyles are the forms for programs, by the values of -o; the other ones are texts.
var explainStyles = map[string]listStyle{
	"json": {head: "[\n    ", between: ",\n    ", tail: "\n]\n", empty: "[]\n", entry: func(v any) ([]byte, error) { return indentedJSON(v, "    ") }},
	"yaml": {empty: "[]\n", entry: func(v any) ([]byte, error) {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		row, _ := merge.ReadJSON(text)
		return yamlList.entry(row)
	}},
}

func newExplainPrinter(v view) *explainPrinter {
	style, forPrograms := explainStyles[v.output]
	if !forPrograms {
		style = listStyle{between: "\n", entry: func(shown any) ([]byte, error) {
			if e, is := shown.(diff.Explanation); is {
				shown = e.Table(term.Width(v.Out), v.colored())
			}
			return []byte(shown.(string)), nil
		}}
	}
	return &explainPrinter{view: v, out: list{env: v.env, style: style}}
}

// write explains an object, or the fields at and below paths.
func (f *explainPrinter) write(r diff.Report, paths ...merge.Path) error {
	if f.call.output == "blame" {
		text, err := diff.Blame(r, diff.BlameOptions{Paths: paths, Changed: f.call.changed, File: f.call.hasInput(), Color: f.colored()})
		if err == nil {
			err = f.out.add(text)
		}
		return err
	}
	e := diff.Explain(r, paths...)
	if f.call.changed {
		e = e.Changed()
	}
	return f.out.add(e)
}

// asked is a field that the user asked for.
type asked struct {
	merge.Path
	typed string // the path, as the user wrote it
	found bool   // on any side of any object
	known bool   // the type of one of them has it
	near  string // a suggestion, if it was not found
}

// miss notes what was probably meant by a field that an object of the type does not have on any of its sides.
func (f *asked) miss(typ *merge.Type, sides ...any) {
	_, declared := schema.FieldAt(typ, f.Path)
	f.known = f.known || declared
	near := ""
	if p := schema.Nearest(typ, f.Path, sides...); p != nil {
		near = p.String()
	} else if meant := schema.Suggest(typ, f.Path); !declared && !strings.Contains(meant, "[*]") { // which is no path to ask for
		near = meant
	}
	if f.near == "" && near != "" {
		f.near = "; did you mean " + near + "?"
	}
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

func (f *explainPrinter) printObject(item *run.Item) error {
	if item.Surplus != nil {
		return f.surplus(item)
	}
	report := reportOf(item.Result.Planned, f.secrets)
	f.shown++
	if len(f.paths) == 0 {
		return f.write(report)
	}
	var found []merge.Path
	for i := range f.paths {
		field := &f.paths[i]
		if len(diff.Explain(report, field.Path).Fields) > 0 {
			field.found = true
			found = append(found, field.Path)
		} else {
			field.miss(item.Result.Planned.Type, report.Local, report.Live, report.Plan.Result)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return f.write(report, found...)
}

// surplus reports why an object missing in the input is deleted, or kept.
func (f *explainPrinter) surplus(item *run.Item) error {
	if len(f.paths) > 0 {
		return nil
	}
	word := "pruned: "
	if item.Action() == apply.Keep {
		word = "kept: "
	}
	return f.out.add(diff.Explanation{Object: item.Target.String(), Fields: []diff.Row{{Why: word + item.Reason()}}})
}

// unknown returns an error for the requested fields that no object has on any side.
func (f *explainPrinter) unknown() error {
	var errs []error
	for _, field := range f.paths {
		if field.near == "" && slices.ContainsFunc(field.Path, func(s merge.Step) bool { return s.Name != "" && strings.Trim(s.Name, "0123456789") == "" }) {
			field.near = "; an entry of a list is written [0] or [name=web]"
		}
		if !field.found && f.shown > 0 {
			errs = append(errs, fmt.Errorf("%s: no object has it, neither in original nor in local nor in live%s", field.typed, field.near))
		}
	}
	return errors.Join(errs...)
}

func (f *explainPrinter) close(context.Context) error { return f.out.end() }

var _ = registerVerb(verb{
	use: "explain (-f FILE | -k DIRECTORY | TYPE/NAME) [FIELD...]", short: "Explain where the value of each field comes from, and why",
	long: `Explain what a merge would do to each field: the result, which side it comes from and
by which rule, what original, local and live have, and who set live's value and when.
Without a file, what was applied last is used as local. Needs only permission to get the objects.`,
	example: `  # Every field
  kubectl merge explain -f web.yaml

  # Only what it would change, and what file and cluster disagree on
  kubectl merge explain -f web.yaml --changed

  # An object as it was applied last: what others have set or changed since
  kubectl merge explain deployment/web

  # Who owns each line, since when, and whether file and last-applied agree
  kubectl merge explain deployment/web -o blame

  # One field, and all below it
  kubectl merge explain -f web.yaml spec.replicas
  kubectl merge explain -f web.yaml 'spec.template.spec.containers[name=web]'`,
	inputs: "explain", previews: true,
	// Completes objects and fields, including fields that only live has.
	args: func(s *complete.Server) cobra.CompletionFunc { return s.Explained },
	run:  func(c *call, ctx context.Context) error { return c.guarded(c.explain(ctx)) },
	sum:  (*call).printed,
})

// explain explains fields, and needs only permission to read.
func (c *call) explain(ctx context.Context) (err error) {
	done := c.page()
	defer func() { err = errors.Join(err, done()) }()
	printer := newExplainPrinter(view{c})
	var fields []string
	c.args, fields = namesAndFields(c.args)
	if printer.paths, err = askedFields(fields); err != nil {
		return err
	}
	if err := c.checkNamed(); err != nil {
		return err
	}
	notes := c.reporter()
	r, err := c.request(ctx)
	if err != nil {
		return err
	}
	r.Planner.Trace, r.note = true, notes.set()
	s, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	errs := []error{c.checkGuard(ctx, s, notes)}
	s.Show(ctx, func(item *run.Item) {
		if item.Err != nil {
			return
		}
		notes.problems(item)
		errs = append(errs, printer.printObject(item))
	})
	notes.unused(s.Planner)
	return errors.Join(printer.close(ctx), errors.Join(errs...), printer.unknown(), s.Failed())
}
