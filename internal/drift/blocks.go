package drift

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

const (
	bold     = "\x1b[1m"
	colorOff = "\x1b[0m"
)

// kindColors are those of a diff from the files to live; what is on both sides is yellow.
var kindColors = map[Kind]string{Changed: "\x1b[33m", Added: "\x1b[32m", Removed: "\x1b[31m", Missing: "\x1b[31m", Orphaned: "\x1b[32m"}

func paint(text, color string) string {
	if color == "" || text == "" {
		return text
	}
	return color + text + colorOff
}

func (o Options) color(r Row) string {
	if !o.Color {
		return ""
	}
	return kindColors[r.Drift]
}

// colors are those of the rows.
func (r *Report) colors(o Options) []string {
	out := make([]string, len(r.Rows))
	for i, row := range r.Rows {
		out[i] = o.color(row)
	}
	return out
}

// writeBlocks prints rows that have no room in a table: below their object, the field in a
// line, and what is known of it in those below.
func writeBlocks(w io.Writer, r *Report, o Options) error {
	var b strings.Builder
	object := ""
	for _, row := range r.Rows {
		name := escape.Line(row.Title)
		if row.Namespace != "" {
			name += " (" + escape.Line(row.Namespace) + ")"
		}
		if name != object {
			object = name
			head := ""
			if o.Color {
				head = bold
			}
			b.WriteString(paint(name, head) + "\n")
		}
		for _, line := range row.block(o.Width) {
			b.WriteString("  " + paint(line, o.color(row)) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// block are the lines of a row.
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
	if by := diff.OwnerName(r.Owner); by != "" {
		if !r.Owner.Time.IsZero() {
			by += ", " + r.Owner.Time.UTC().Format("2006-01-02 15:04Z")
		}
		parts = append(parts, "by "+by)
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
