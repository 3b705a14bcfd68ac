package drift

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Format prints reports.
type Format struct {
	Name string
	Help string // in a few words

	// Write prints a report. The error is the writer's, or that of a value that is not JSON.
	Write func(io.Writer, *Report, Options) error

	// stream prints a watch; nil where the format has no events.
	stream func(io.Writer, Options) Stream
}

// Options of Write.
type Options struct {
	Width int // of the terminal; 0: none, nothing is cut
	Color bool
	Now   time.Time // when the objects were compared
}

// Formats are all formats, the default first.
var Formats = []Format{
	{"table", "for people", writeTable, streamTable},
	{"json", "one line for programs", writeJSON, streamJSON},
	{"markdown", "a comment for a pull request", writeMarkdown, nil},
	{"prometheus", "metrics for node_exporter's textfile collector", writeMetrics, nil},
}

// FormatNamed returns the format of a name, which must be one of Formats.
func FormatNamed(name string) Format {
	return Formats[slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })]
}

// How long values in a table may be, and their length on a narrow terminal.
const (
	longest  = 60
	shortest = 12
)

var heads = []string{"NAMESPACE", "OBJECT", "DRIFT", "FIELD", "WANTED", "LIVE", "BY", "SINCE"}

// headsOf returns those of rows, of several clusters with that of their contexts.
func headsOf(rows []Row) []string {
	if rows[0].Context != "" {
		return append([]string{"CONTEXT"}, heads...)
	}
	return heads
}

func writeTable(w io.Writer, r *Report, o Options) error {
	if len(r.Rows) == 0 {
		return nil
	}
	grouped := r.grouped()
	rows := fit(o.Width, func(n int) [][]string {
		return append([][]string{headsOf(grouped)}, object.Each(grouped, func(row Row) []string { return row.cells(n) })...)
	})
	if o.Width > 0 && diff.LineWidth(diff.Columns(rows), gap) > o.Width {
		return writeBlocks(w, grouped, o)
	}
	return o.writeLines(w, rows, diff.Columns(rows), colors(grouped))
}

// fit returns rows with values as long as a line of that width allows.
func fit(width int, rows func(n int) [][]string) [][]string {
	n := longest
	for n > shortest && width > 0 && diff.LineWidth(diff.Columns(rows(n)), gap) > width {
		n--
	}
	return rows(n)
}

// writeLines prints rows in columns that are at least as wide as given, each in its color.
func (o Options) writeLines(w io.Writer, rows [][]string, wide []int, colors []string) error {
	var b strings.Builder
	for i, row := range rows {
		line := ""
		for j, cell := range row {
			line += cell + strings.Repeat(" ", max(wide[j]-utf8.RuneCountInString(cell), 0)+gap)
		}
		b.WriteString(diff.Paint(strings.TrimRight(line, " "), colors[i], o.Color) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const gap = 3 // between columns

// cells returns a row of the table, with values of at most n characters.
func (r Row) cells(n int) []string {
	values := diff.Beside(n, r.Wanted, r.Live)
	field := ""
	if r.Path != nil {
		field = escape.Text(r.Path.String())
	} else if r.Reason != "" {
		values[1] = escape.Line(r.Reason)
	}
	cells := []string{escape.Line(r.Namespace), escape.Line(r.Object.String()), string(r.Drift), field, values[0], values[1], diff.OwnerName(r.Owner), diff.When(r.Owner)}
	for i, c := range cells {
		cells[i] = cmp.Or(c, "-")
	}
	if r.Context != "" {
		return append([]string{r.Context}, cells...)
	}
	return cells
}

// JSON returns a row as a value of the JSON report.
func (r Row) JSON() map[string]any {
	return diff.Fields(map[string]any{
		"object": r.Object.String(), "kind": r.Kind, "apiVersion": strings.TrimPrefix(r.Group+"/"+r.Version, "/"), "name": merge.Some(r.Name), "namespace": r.Namespace,
		"context": r.Context, "drift": r.Drift, "reason": r.Reason, "path": r.Path, "stated": r.Stated, "wanted": r.Wanted, "live": r.Live,
	}, r.Owner)
}

func writeJSON(w io.Writer, r *Report, o Options) error {
	rows := append([]map[string]any{}, object.Each(r.Rows, Row.JSON)...)
	doc := map[string]any{
		"kind": "DriftReport", "time": o.Now.UTC().Format(time.RFC3339),
		"checked": r.Checked, "drifted": r.Drifted, "counts": r.counts(), "rows": rows,
	}
	if len(r.Errors) > 0 {
		doc["errors"] = r.Errors
	}
	if r.of != nil {
		var all []any
		for i, one := range r.of.reports {
			all = append(all, map[string]any{"context": r.of.names[i], "checked": one.Checked, "drifted": one.Drifted, "errors": append([]string{}, one.Errors...)})
		}
		doc["contexts"] = all
	}
	return escape.WriteJSON(w, doc, "")
}

// kindColors are those of a diff from the files to live; values on both sides are yellow.
var kindColors = map[Kind]string{Changed: diff.Yellow, Added: diff.Green, Removed: diff.Red, Missing: diff.Red, Orphaned: diff.Green}

// colors returns those of the lines of a table: of the heads, which have none, and the rows.
func colors(rows []Row) []string {
	return append([]string{""}, object.Each(rows, func(row Row) string { return kindColors[row.Drift] })...)
}

// writeBlocks prints rows that are too wide for a table: below their object, the field in a line,
// and its details in the next ones.
func writeBlocks(w io.Writer, rows []Row, o Options) error {
	var b strings.Builder
	object := ""
	for _, row := range rows {
		name := escape.Line(row.Object.String())
		if row.Namespace != "" {
			name += " (" + escape.Line(row.Namespace) + ")"
		}
		if name != object {
			object = name
			b.WriteString(diff.Paint(name, diff.Bold, o.Color) + "\n")
		}
		for _, line := range row.block(o.Width) {
			b.WriteString("  " + diff.Paint(line, kindColors[row.Drift], o.Color) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// block returns the lines of a row.
func (r Row) block(width int) []string {
	const indent = "          " // below the longest kind
	first := string(r.Drift)
	if r.Path != nil {
		first += strings.Repeat(" ", len(indent)-len(first)) + escape.Text(r.Path.String())
	}
	lines := []string{first}
	values := diff.Beside(longest, r.Wanted, r.Live)
	var parts []string
	if r.Live.Set {
		parts = append(parts, "live "+values[1])
	}
	if r.Wanted.Set {
		parts = append(parts, "wanted "+values[0])
	}
	if r.Path == nil && r.Reason != "" {
		parts = append(parts, escape.Line(r.Reason))
	}
	if by := diff.By(r.Owner); by != "" {
		parts = append(parts, "by "+by)
	}
	if r.Context != "" {
		parts = append(parts, "in "+r.Context)
	}
	for i, part := range parts {
		joined := lines[len(lines)-1] + " · " + part
		if i > 0 && 2+utf8.RuneCountInString(joined) <= width {
			lines[len(lines)-1] = joined
			continue
		}
		lines = append(lines, indent+part)
	}
	return lines
}

// room is the maximum size of Markdown in a comment, in bytes, a sixth for errors: GitHub's limit is 65536.
const room = 60000

func writeMarkdown(w io.Writer, r *Report, _ Options) error {
	var b strings.Builder
	b.WriteString(r.Summary() + ".\n")
	rows := r.grouped()
	if len(rows) > 0 {
		b.WriteString("\n")
		for _, head := range headsOf(rows) {
			b.WriteString("| " + head[:1] + strings.ToLower(head[1:]) + " ")
		}
		b.WriteString("|\n" + strings.Repeat("|---", len(headsOf(rows))) + "|\n")
	}
	if left := fill(&b, room-room/6*min(len(r.Errors), 1), len(rows), func(i int) string { return rows[i].markdown() }); left > 0 {
		fmt.Fprintf(&b, "\nAnd %d more: the comment would be too long.\n", left)
	}
	if len(r.Errors) > 0 {
		b.WriteString("\nNot compared:\n\n")
	}
	if left := fill(&b, room, len(r.Errors), func(i int) string { return "- " + diff.Code(r.Errors[i]) + "\n" }); left > 0 {
		fmt.Fprintf(&b, "\nAnd %d more errors.\n", left)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fill writes as many lines as fit into room bytes, and returns the number of the others.
func fill(b *strings.Builder, room, n int, line func(i int) string) (left int) {
	for i := range n {
		text := line(i)
		if b.Len()+len(text) > room {
			return n - i
		}
		b.WriteString(text)
	}
	return 0
}

// markdown returns a row of the table.
func (r Row) markdown() string {
	cells := r.cells(longest)
	for i, c := range cells {
		if c != "-" && i != len(cells)-6 { // the kind
			cells[i] = strings.ReplaceAll(diff.Code(c), "|", "\\|")
		}
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// writeMetrics prints gauges in Prometheus' text format. Every group of compared objects has its
// lines, also without drift, so that alerts end.
//
// The format: https://prometheus.io/docs/instrumenting/exposition_formats/.
func writeMetrics(w io.Writer, r *Report, o Options) error {
	var b strings.Builder
	family := func(name, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
	}
	family("kubectl_merge_drift_objects_checked", "Objects that were compared with their files.")
	for _, g := range r.sorted() {
		fmt.Fprintf(&b, "kubectl_merge_drift_objects_checked{%s} %d\n", g.labels(), r.groups[g].checked)
	}
	family("kubectl_merge_drift_objects", "Objects that differ from their files.")
	for _, g := range r.sorted() {
		fmt.Fprintf(&b, "kubectl_merge_drift_objects{%s} %d\n", g.labels(), r.groups[g].drifted)
	}
	family("kubectl_merge_drift_rows", "Differences by kind: fields that were changed, removed or added, and objects that are missing or orphaned.")
	for _, g := range r.sorted() {
		for _, k := range Kinds {
			fmt.Fprintf(&b, "kubectl_merge_drift_rows{%s,drift=%q} %d\n", g.labels(), k, r.groups[g].rows[k])
		}
	}
	family("kubectl_merge_drift_errors", "Objects, or parts of the input, that could not be compared.")
	fmt.Fprintf(&b, "kubectl_merge_drift_errors %d\n", len(r.Errors))
	family("kubectl_merge_drift_last_run_timestamp_seconds", "When the objects were compared.")
	fmt.Fprintf(&b, "kubectl_merge_drift_last_run_timestamp_seconds %d\n", o.Now.Unix())
	_, err := io.WriteString(w, b.String())
	return err
}

// labels returns the labels of the group.
func (g group) labels() string {
	return fmt.Sprintf(`namespace="%s",group="%s",kind="%s"`, label.Replace(g.namespace), label.Replace(g.apiGroup), label.Replace(g.kind))
}

// label escapes the value of a label.
var label = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
