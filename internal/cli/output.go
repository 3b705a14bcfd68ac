package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/patch"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/yamldoc"
)

// printer prints the results of objects. close prints what depends on all of them. conflicts
// reports whether it also prints objects with conflicts, which are not written.
type printer interface {
	object(*run.Item) error
	close(context.Context) error
	conflicts() bool
}

// outputFlags choose a printer.
type outputFlags struct {
	output        string
	template      string
	managedFields bool
	secrets       bool
}

// printerRow describes a printer.
type printerRow struct {
	name string // that -o gives, without what stands behind =
	help string // what it prints, in a few words
	open func(view) (printer, error)

	// report: it prints what a run would do, so nothing is written. The other printers
	// print what was done, as those of kubectl apply do.
	report bool
	needs  run.Needs // what has to be stored until an object is printed
	traces bool      // it needs a trace of every field
	merges bool      // it reports a merge: not for a verb that changes last-applied alone
	impact bool      // it prints the impact of each object; in a preview with another printer, a note does
}

// printerRows are the values of -o besides kubectl's templates. To add one is to add a file with
//
//	var _ = registerPrinter(printerRow{name: "…", help: "…", open: …})
//
// Help, completion, errors and exclusions follow from the row.
var printerRows = []printerRow{
	{name: "name", help: "type and name of each object", open: func(v view) (printer, error) { return namePrinter{v}, nil }},
	{name: "yaml", help: "the result", open: func(v view) (printer, error) { return &streamPrinter{view: v, style: yamlList}, nil }},
	{name: "json", help: "the result", open: func(v view) (printer, error) { return &streamPrinter{view: v, style: jsonList}, nil }},
	{name: "patch", help: "what is sent, as JSON merge patches", report: true, needs: run.Changes, open: func(v view) (printer, error) { return patchPrinter{v}, nil }},
	{name: "diff", help: "live against the result", report: true, needs: run.Changes, open: func(v view) (printer, error) { return diffPrinter{v.differ()}, nil }},
}

// templates are kubectl's template languages; what they take stands behind =.
var templates = []struct{ name, help string }{
	{"jsonpath", "fields by a JSONPath template"},
	{"go-template", "by a Go template"},
	{"custom-columns", "a table of fields"},
}

// registerPrinter adds a row to printerRows, when the program starts.
func registerPrinter(p printerRow) bool {
	printerRows = append(printerRows, p)
	return true
}

// printerNamed is the row of a name; the zero row where there is none.
func printerNamed(name string) (printerRow, bool) {
	i := slices.IndexFunc(printerRows, func(p printerRow) bool { return p.name == name })
	if i < 0 {
		return printerRow{}, false
	}
	return printerRows[i], true
}

func isReport(p printerRow) bool { return p.report }

// printerNames are the names of the printerRows that fit.
func printerNames(fit func(printerRow) bool) string {
	var names []string
	for _, p := range printerRows {
		if fit(p) {
			names = append(names, p.name)
		}
	}
	return strings.Join(names, ", ")
}

// templateNames are the template languages as help texts list them.
func templateNames() string {
	var names []string
	for _, t := range templates {
		names = append(names, t.name+"=…")
	}
	return strings.Join(names, ", ")
}

func (f *outputFlags) add(flags *pflag.FlagSet) {
	flags.StringVarP(&f.output, "output", "o", "", fmt.Sprintf("%s, %s: print the objects written; %s: reports, which write nothing",
		printerNames(func(p printerRow) bool { return !p.report }), templateNames(), printerNames(isReport)))
	flags.StringVar(&f.template, "template", "", "template text or file for -o go-template and -o go-template-file")
	flags.BoolVar(&f.managedFields, "show-managed-fields", false, "keep managedFields when printing objects")
	flags.BoolVar(&f.secrets, "show-secrets", false, "print the values of Secrets")
}

// view is where and how a printer prints.
type view struct {
	*env
	outputFlags
	mode dryRun
}

func (f *outputFlags) printer(ctx context.Context, e *env, mode dryRun) (printer, error) {
	v := view{env: e, outputFlags: *f, mode: mode}
	if f.output == "" && f.template == "" {
		if mode == dryNone {
			return linePrinter{v}, nil
		}
		return &dryPrinter{view: v}, nil
	}
	if p, ok := printerNamed(f.output); ok {
		return p.open(v)
	}
	return templated(ctx, v)
}

// mode is the dry run of a command line. A report implies one.
//
// Unlike kubectl: whose -o prints what was written, whatever its argument. What only
// shows a change in a pull request must not deploy it for want of --dry-run.
func (f *outputFlags) mode(asked dryRunFlag) (dryRun, error) {
	mode, err := parseDryRun(asked.text)
	p, _ := printerNamed(f.output)
	switch {
	case err != nil || mode != dryNone || !p.report:
		return mode, err
	case asked.given:
		return mode, fmt.Errorf("-o %s: is a report, which never writes, and --dry-run=none asks for a write: leave out --dry-run to see the report, as with kubectl merge diff, or -o %s to write", f.output, f.output)
	}
	return dryClient, nil
}

// needs is what has to be stored of objects until they are printed.
func (f *outputFlags) needs(mode dryRun) run.Needs {
	switch {
	case mode == dryNone && f.template == "" && (f.output == "" || f.output == "name"):
		return run.Outcomes
	}
	p, _ := printerNamed(f.output)
	return p.needs
}

// oneByOne reports whether each object is printed by itself and not needed any more. A
// template may access any object at any time.
func (f *outputFlags) oneByOne() bool {
	_, known := printerNamed(f.output)
	return f.template == "" && (known || f.output == "")
}

// conflicts is false for most printers.
func (v view) conflicts() bool { return false }

// became is what became of an object, in the words of kubectl apply.
func (v view) became(item *run.Item) string {
	return fmt.Sprint(item.Result.Outcome) + v.mode.suffix()
}

// line is the outcome line of an object.
func (v view) line(w io.Writer, item *run.Item) error {
	_, err := fmt.Fprintf(w, "%s %s\n", oneLine(item.Target.String()), v.became(item))
	return err
}

// linePrinter prints lines as kubectl apply does: deployment.apps/web configured.
type linePrinter struct{ view }

func (f linePrinter) object(item *run.Item) error { return f.line(f.Out, item) }
func (f linePrinter) close(context.Context) error { return nil }

// namePrinter prints names only.
type namePrinter struct{ view }

func (f namePrinter) object(item *run.Item) error {
	_, err := fmt.Fprintln(f.Out, oneLine(item.Target.String()))
	return err
}
func (f namePrinter) close(context.Context) error { return nil }

// dryPrinter prints the results of a dry run for reading: Secrets masked, without
// managedFields and the last-applied annotation. The outcome is printed to stderr.
type dryPrinter struct {
	view
	shown int
}

func (f *dryPrinter) object(item *run.Item) error {
	if item.Surplus != nil { // nothing of it is left to show
		return f.outcome(item)
	}
	var live any
	if item.Result.Planned.Live != nil {
		live = item.Result.Planned.Live
	}
	obj := any(item.Result.Object)
	if !f.secrets {
		_, obj = redact.Mask(live, obj, item.Result.Planned.Sensitive)
	}
	obj = lastapplied.Without(obj)
	text, err := yamldoc.Encode(f.trimmed(obj))
	if err != nil {
		return fmt.Errorf("%s: %w", item.Target, err)
	}
	if f.shown > 0 {
		if _, err := io.WriteString(f.Out, "---\n"); err != nil {
			return err
		}
	}
	f.shown++
	if _, err := f.Out.Write(text); err != nil {
		return err
	}
	return f.outcome(item)
}

// outcome prints an object's outcome on stderr, beside what is printed on stdout.
func (v view) outcome(item *run.Item) error {
	name, became := oneLine(item.Target.String()), v.became(item)
	return v.remark(diff.Note{Object: name, Kind: noteOutcome, Message: became}, name+" "+became)
}

func (f *dryPrinter) close(context.Context) error { return nil }

// trimmed is obj without managedFields, unless --show-managed-fields is set.
func (v view) trimmed(obj any) any {
	m, _ := obj.(map[string]any)
	meta, _ := m["metadata"].(map[string]any)
	if v.managedFields || meta["managedFields"] == nil {
		return obj
	}
	out, inner := without(m), without(meta, "managedFields")
	out["metadata"] = inner
	return out
}

func without(m map[string]any, keys ...string) map[string]any {
	c := make(map[string]any, len(m))
	for k, v := range m {
		c[k] = v
	}
	for _, k := range keys {
		delete(c, k)
	}
	return c
}

// disclose notes that the values of a Secret are printed.
func (v view) disclose(item *run.Item) {
	if redact.IsSecretKind(item.Target.Group, item.Target.Kind) && !v.secrets {
		printer, _, _ := strings.Cut(v.output, "=")
		name, text := oneLine(item.Target.String()), "-o "+printer+" prints its values"
		_ = v.remark(diff.Note{Object: name, Kind: noteShown, Message: text}, "note: "+name+": "+text) // what is on stdout counts
	}
}

// patchPrinter prints the JSON merge patch of each object on a line of its own: the whole
// object if it is created, {} if nothing changes.
type patchPrinter struct{ view }

func (f patchPrinter) object(item *run.Item) error {
	if item.Surplus != nil { // no patch deletes an object
		return f.outcome(item)
	}
	p := item.Result.Planned
	body := map[string]any{}
	switch p.Action {
	case apply.Create:
		body = p.Final
	case apply.Change:
		body, _ = patch.Merge(p.Live, p.Final)
	}
	if body["data"] != nil {
		f.disclose(item)
	}
	text, err := json.Marshal(body)
	if err == nil {
		_, err = fmt.Fprintf(f.Out, "%s\n", escape.JSON(text))
	}
	return err
}
func (f patchPrinter) close(context.Context) error { return nil }

// diffPrinter prints the difference between live and what was, or would be, written.
type diffPrinter struct{ *differ }

func (f diffPrinter) object(item *run.Item) error {
	if item.Result.Outcome == write.Unchanged {
		return nil
	}
	_, err := f.show(f.doc(item))
	return err
}

func (f diffPrinter) close(ctx context.Context) error {
	_, err := f.differ.close(ctx)
	return err
}

// doc is an item's live object and the one that was, or would be, written; in a server dry
// run, as the server would store it.
func (v view) doc(item *run.Item) diff.Doc {
	p := item.Result.Planned
	if item.Surplus != nil {
		return diff.Doc{Name: diff.DocName(p.Live), Live: p.Live, Sensitive: p.Sensitive}
	}
	d := diff.Doc{Name: diff.DocName(p.Final), Result: p.Final, Sensitive: p.Sensitive}
	if p.Live != nil {
		d.Live = p.Live
	}
	if v.mode == dryServer && item.Result.Object != nil {
		d.Result = item.Result.Object
	}
	return d
}
