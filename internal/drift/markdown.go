package drift

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// room is the maximum size of Markdown in a comment, in bytes: GitHub's limit is 65536.
const room = 60000

func writeMarkdown(w io.Writer, r *Report, _ Options) error {
	var b strings.Builder
	b.WriteString(r.Summary() + ".\n")
	if len(r.Rows) > 0 {
		b.WriteString("\n| Namespace | Object | Drift | Field | Wanted | Live | By | Since |\n|---|---|---|---|---|---|---|---|\n")
	}
	if left := fill(&b, len(r.Rows), func(i int) string { return r.Rows[i].markdown() }); left > 0 {
		fmt.Fprintf(&b, "\nAnd %d more: the comment would be too long.\n", left)
	}
	if len(r.Errors) > 0 {
		b.WriteString("\nNot compared:\n\n")
	}
	if left := fill(&b, len(r.Errors), func(i int) string { return "- " + diff.Code(r.Errors[i]) + "\n" }); left > 0 {
		fmt.Fprintf(&b, "\nAnd %d more errors.\n", left)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fill writes as many lines as fit, and returns the number of the others.
func fill(b *strings.Builder, n int, line func(i int) string) (left int) {
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
		if c != "-" && i != 2 {
			cells[i] = strings.ReplaceAll(diff.Code(c), "|", "\\|")
		}
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}
