package drift

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// kindColors are those of a diff from the files to live; values on both sides are yellow.
var kindColors = map[Kind]string{Changed: diff.Yellow, Added: diff.Green, Removed: diff.Red, Missing: diff.Red, Orphaned: diff.Green}

// colors returns those of the lines of a table: of the heads, which have none, and the rows.
func colors(rows []Row) []string {
	out := []string{""}
	for _, row := range rows {
		out = append(out, kindColors[row.Drift])
	}
	return out
}

// writeBlocks prints rows that are too wide for a table: below their object, the field in a line,
// and its details in the next ones.
func writeBlocks(w io.Writer, rows []Row, o Options) error {
	var b strings.Builder
	object := ""
	for _, row := range rows {
		name := escape.Line(row.Title)
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
