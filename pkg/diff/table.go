package diff

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// wide is the terminal width from which a field's reason has room in its line.
const wide = 120

// Table formats an explanation for people: a line for each field and, where the sides do not agree,
// the value of each below it. In a terminal that is not wide the reason is below, too, or is one
// word. width 0 is no terminal: nothing is cut.
func (e Explanation) Table(width int, color bool) string {
	rows, roomy := e.laidOut(width)
	widths := Columns(rows)
	// The column of field names is narrowed until the line fits. A longer name gets a separate line,
	// since a cut name cannot be copied into the next command.
	if over := LineWidth(widths, 2) - width; width > 0 && over > 0 {
		widths[0] = max(widths[0]-over, narrowest)
	}
	var b strings.Builder
	b.WriteString(Paint(escape.Line(e.Object), Bold, color) + "\n")
	if len(e.Fields) > 0 {
		b.WriteString(strings.Join(line(rows[0], widths), "\n") + "\n")
	} else {
		b.WriteString("  no field changes\n")
	}
	for i, r := range e.Fields {
		lines := line(rows[i+1], widths)
		for _, below := range r.below(roomy, width) {
			for _, l := range pack(below, width-2) {
				lines = append(lines, "  "+l)
			}
		}
		for _, l := range lines {
			b.WriteString(Paint(l, r.color(), color) + "\n")
		}
	}
	return b.String()
}

// The maximum length of a value in a table, and that after a cut for a narrow terminal.
const (
	longest  = 60
	longestN = 24
)

// laidOut returns the rows with the longest values that leave room for the whole line.
// roomy reports whether the terminal is wide enough for the reason in it.
func (e Explanation) laidOut(width int) (rows [][]string, roomy bool) {
	for _, roomy := range []bool{true, false} {
		if roomy && width > 0 && width < wide {
			continue
		}
		for n := longest; n >= longestN; n-- {
			if rows = e.rows(roomy, n); width == 0 || LineWidth(Columns(rows), 2) <= width {
				return rows, roomy
			}
		}
	}
	for n := longestN; n > narrowest; n-- {
		rows = e.rows(false, n)
		if widths := Columns(rows); LineWidth(widths, 2)-widths[0]+narrowest <= width {
			break
		}
	}
	return rows, false
}

// rows returns the table's cells, values of at most n characters.
func (e Explanation) rows(roomy bool, n int) [][]string {
	rows := [][]string{{"FIELD", "RESULT", "FROM", "WHY"}}
	why := false
	for _, r := range e.Fields {
		cells := r.cells(roomy, n)
		why = why || cells[3] != ""
		rows = append(rows, cells)
	}
	for i := range rows {
		if !why && len(e.Fields) > 0 { // all are below
			rows[i] = rows[i][:3]
		}
	}
	return rows
}

func (r Row) cells(roomy bool, n int) []string {
	why := r.brief
	switch {
	case roomy:
		why = r.reason()
	case r.hasSides():
		why = "" // it is below
	}
	return []string{escape.Text(r.Path.String()), r.cell(n), cmp.Or(r.From, "-"), why}
}

// hasSides reports whether each side's value is below the field's line and, where that has
// no room for it, the reason.
func (r Row) hasSides() bool { return r.differ && !r.liveOnly }

// reason returns why, and how the list around the field is split.
func (r Row) reason() string {
	if r.Split == "" {
		return r.Why
	}
	return r.Why + "; " + r.Split
}

// cell returns the result in n characters. Where the sides differ, the difference is in it,
// or below.
func (r Row) cell(n int) string {
	switch {
	case !r.Result.Set:
		return absent
	case r.differ && !merge.IsScalar(r.Result.Value):
		return cut(summary(r.Result, n), n)
	case r.differ:
		return cut(beside(n, r.Result, r.Live, r.Local, r.Original)[0], n)
	}
	return short(r.Result.Value, n)
}

// parts holds the pieces between which a long line is broken.
type parts struct {
	texts []string
	glue  string
}

// pack puts parts into as few lines of at most n characters as their order allows. It
// breaks a part that is longer than a line. n below 1 is no limit.
func pack(p parts, n int) (lines []string) {
	for _, t := range p.texts {
		if last := len(lines) - 1; last >= 0 {
			if joined := lines[last] + p.glue + t; n < 1 || utf8.RuneCountInString(joined) <= n {
				lines[last] = joined
				continue
			}
		}
		lines = append(lines, breakLines(t, n)...)
	}
	return lines
}

// below returns what has no room in the field's line, for lines of that width.
func (r Row) below(roomy bool, width int) []parts {
	who := By(r.Owner)
	switch {
	case r.liveOnly && who != "":
		return []parts{{texts: []string{"set by " + who}}}
	case !r.hasSides():
		return nil
	}
	room := longest
	if width > 0 {
		room = max(min(room, width-len("  original ")), longestN)
	}
	texts := sides{r.Original, r.Local, r.Live}.apart(room, &r.stored)
	live := "live " + texts.live + aside(who)
	out := []parts{{[]string{live, "local " + texts.local, "original " + texts.original}, " · "}}
	if !roomy {
		out = append([]parts{{strings.Split(r.reason(), "; "), "; "}}, out...)
	}
	side, of := "result", r.Result
	if r.conflict {
		side, of = "local", r.Local
	}
	for _, line := range textHunks([2]string{"live", side}, r.Live, of) {
		out = append(out, parts{texts: []string{line}})
	}
	return out
}

// color returns the side's color; an open conflict and a removed value are red.
func (r Row) color() string {
	switch {
	case r.conflict || !r.Result.Set:
		return Red
	case r.From == "local":
		return Green
	case r.From == "original":
		return Yellow
	case r.From == "live" && r.differ && !r.liveOnly:
		return Cyan
	}
	return ""
}

// narrowest is the minimum width of a column.
const narrowest = 6

// Columns gives each column the width of its longest cell.
func Columns(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	return widths
}

// LineWidth returns the width of a line of columns with gaps between them.
func LineWidth(widths []int, gap int) int {
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	return total
}

// line prints a row, in two lines where its field's name is longer than its column.
func line(row []string, widths []int) []string {
	var b strings.Builder
	var lines []string
	for i, c := range row {
		if i > 0 {
			b.WriteString("  ")
		}
		if i == 0 && utf8.RuneCountInString(c) > widths[0] {
			lines, c = append(lines, c), ""
		}
		b.WriteString(c + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)))
	}
	return append(lines, strings.TrimRight(b.String(), " "))
}
