package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

// printer prints the results of objects. Of most printers, the other methods are those of view, which do
// nothing.
type printer interface {
	begin(context.Context, *session) error // before the first object
	printObject(*run.Item) error
	ended(outcome.Ended) error   // when all objects are done, those with errors included
	close(context.Context) error // prints the parts that depend on all of them
}

type printerRow struct {
	name string // the value of -o, up to =
	help string // what it prints, in a few words
	open func(view) (printer, error)

	// report states that it prints the actions of a run, so nothing is written. The other printers
	// print results, as those of kubectl apply do.
	report    bool
	values    bool      // it prints no values, or masks them itself; every other printer receives masked ones
	conflicts bool      // it prints objects with conflicts, too, which are not written
	kept      bool      // it prints objects that are missing in the input, and kept
	needs     run.Needs // the parts to store until an object is printed
	traces    bool      // it needs a trace of every field
	merges    bool      // it reports a merge: not for a verb that changes last-applied alone
	impact    bool      // it prints the impact of each object; in a preview with another printer, a note does

	sum func(view, several) error // prints what was found in several contexts; nil: the text on each object
}

// printerRows lists the values of -o besides kubectl's templates. To add one, add a file with
//
//	var _ = registerPrinter(printerRow{name: "…", help: "…", open: …})
//
// Help, completion, errors and exclusions follow from the row.
var printerRows = []printerRow{
	{name: "name", help: "type and name of each object", values: true, open: func(v view) (printer, error) { return namePrinter{v}, nil }},
	{name: "yaml", help: "the result", values: true, open: func(v view) (printer, error) { return &streamPrinter{v, list{env: v.env, style: yamlList}}, nil }},
	{name: "json", help: "the result", values: true, open: func(v view) (printer, error) { return &streamPrinter{v, list{env: v.env, style: jsonList}}, nil }},
	{name: "patch", help: "what is sent: a JSON merge patch on a line for each object, which it names", values: true, report: true, needs: run.Changes, open: func(v view) (printer, error) { return patchPrinter{v}, nil }},
	{name: "diff", help: "live against the result", values: true, report: true, conflicts: true, needs: run.Changes, open: func(v view) (printer, error) { return v.differ(), nil }},
}

type language struct{ name, help string }

// templates lists kubectl's template languages; their argument follows =.
var templates = []language{
	{"jsonpath", "fields by a JSONPath template"},
	{"go-template", "by a Go template"},
	{"custom-columns", "a table of fields"},
}

// registerPrinter adds a row to printerRows at program start.
func registerPrinter(p printerRow) bool {
	printerRows = append(printerRows, p)
	return true
}

// printerNamed returns the row of a name; the zero row if there is none.
func printerNamed(name string) (printerRow, bool) {
	i := slices.IndexFunc(printerRows, func(p printerRow) bool { return p.name == name })
	if i < 0 {
		return printerRow{}, false
	}
	return printerRows[i], true
}

// printerWords returns the printers that fit, with their help.
func printerWords(fit func(printerRow) bool) []string {
	fitting := slices.DeleteFunc(slices.Clone(printerRows), func(p printerRow) bool { return !fit(p) })
	return object.Each(fitting, func(p printerRow) string { return cobra.CompletionWithDesc(p.name, p.help) })
}

// wordOf returns a word for completion without its help.
func wordOf(word string) string { return strings.Split(word, "\t")[0] }

func anyPrinter(printerRow) bool { return true }

// ofTarget reports whether a printer is for verbs that change only the last-applied configuration.
func ofTarget(p printerRow) bool { return !p.merges }

func isReport(p printerRow) bool { return p.report }

// printerNames returns the names of the printerRows that fit.
func printerNames(fit func(printerRow) bool) string {
	return strings.Join(each(printerWords(fit), wordOf), ", ")
}

// templateNames returns the template languages as help texts list them.
func templateNames() string {
	return strings.Join(each(templates, func(l language) string { return l.name + "=…" }), ", ")
}

// each is object.Each.
func each[T, U any](all []T, of func(T) U) []U { return object.Each(all, of) }

// view states where and how a printer prints.
type view struct{ *call }

func (c *call) printer(ctx context.Context) (printer, error) {
	v := view{c}
	if c.output == "" && c.template == "" {
		if c.mode == dryNone {
			return linePrinter{v}, nil
		}
		return &dryPrinter{view: v}, nil
	}
	if p, ok := printerNamed(c.output); ok {
		out, err := p.open(v)
		if err == nil && !p.values && !c.secrets {
			out = maskedPrinter{out}
		}
		return out, err
	}
	return templated(ctx, v)
}

// setMode sets the dry run that the flags ask for. A report implies one, as saved live objects do.
//
// Unlike kubectl: whose -o prints what was written, whatever its argument. What only
// shows a change in a pull request must not deploy it for want of --dry-run.
func (c *call) setMode() error {
	p, _ := printerNamed(c.output)
	report := p.report && c.cmd.Flags().Lookup("dry-run") != nil
	switch c.mode = cmp.Or(dryRun(c.dryRun), dryNone); {
	case c.mode != dryNone:
	case report && c.given("dry-run") && !c.verb.previews:
		return fmt.Errorf("-o %s: is a report, which never writes, and --dry-run=none asks for a write: leave out --dry-run to see the report, as with kubectl merge diff, or -o %s to write", c.output, c.output)
	case report, c.verb.previews, len(c.live) > 0:
		c.mode = dryClient
	}
	return nil
}

// needs returns the parts of objects to store until they are printed.
func (c *call) needs() run.Needs {
	if c.mode == dryNone && c.template == "" && (c.output == "" || c.output == "name") {
		return run.Outcomes
	}
	p, _ := printerNamed(c.output)
	return p.needs
}

// oneByOne reports whether each object is printed separately and not needed afterwards. A template
// may access any object at any time.
func (c *call) oneByOne() bool {
	_, known := printerNamed(c.output)
	return c.template == "" && (known || c.output == "")
}

type dryRun string

// The dry runs, as kubectl names them.
const (
	dryNone   dryRun = "none"
	dryClient dryRun = "client" // nothing is sent
	dryServer dryRun = "server" // the server processes the requests but stores nothing
)

// suffix returns the text that kubectl prints after the outcome.
func (d dryRun) suffix() string {
	return map[dryRun]string{dryClient: " (dry run)", dryServer: " (server dry run)"}[d]
}
