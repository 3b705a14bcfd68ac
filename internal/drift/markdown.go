package drift

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

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
