package diff

import (
	"strings"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// wide is the terminal width from which a field's reason has room in its line.
const wide = 120

// table lays an explanation out: a line for each field and, where the sides do
// not agree, what each of them says below it. In a narrow one the reason is a
// word, and stands in full below.
func table(e Explanation, o ExplainOptions) string {
	roomy := o.Width == 0 || o.Width >= wide
	rows := e.rows(roomy, longest)
	for n := longest - 1; !roomy && n >= longestN && lineWidth(columns(rows)) > o.Width; n-- {
		rows = e.rows(roomy, n)
	}
	widths := fit(columns(rows), o.Width)
	var b strings.Builder
	b.WriteString(paint(inLine(e.Object), bold, o.Color) + "\n")
	b.WriteString(line(rows[0], widths) + "\n")
	for i, r := range e.Fields {
		lines := []string{line(rows[i+1], widths)}
		for _, below := range r.below(roomy) {
			for _, l := range pack(below, o.Width-2) {
				lines = append(lines, "  "+l)
			}
		}
		for _, l := range lines {
			b.WriteString(paint(l, r.color(), o.Color) + "\n")
		}
	}
	return b.String()
}

// How long a value may be in a table, and to what it is cut before field names are,
// which are worth more of the width.
const (
	longest  = 60
	longestN = 24
)

// rows are the table's cells, values of at most n characters.
func (e Explanation) rows(roomy bool, n int) [][]string {
	rows := [][]string{{"FIELD", "RESULT", "FROM", "WHY"}}
	for _, r := range e.Fields {
		rows = append(rows, r.cells(roomy, n))
	}
	return rows
}

func (r Row) cells(roomy bool, n int) []string {
	from := r.From
	if from == "" {
		from = "-"
	}
	path := Visible(r.Path.String())
	if roomy {
		return []string{path, cell(r.Result, n), from, r.reason()}
	}
	return []string{path, cell(r.Result, n), from, r.brief}
}

// reason is why, and how the list around the field is split.
func (r Row) reason() string {
	if r.Split == "" {
		return r.Why
	}
	return r.Why + "; " + r.Split
}

func cell(o merge.Opt, n int) string {
	if !o.Set {
		return "-"
	}
	return short(o.Value, n)
}

// parts are what a line is broken between, where it is too long.
type parts struct {
	texts []string
	glue  string
}

// pack lays parts into as few lines of at most n characters as their order allows,
// and cuts a part that has no room in a line of its own; n below 1 is no limit.
func pack(p parts, n int) []string {
	var lines []string
	for _, t := range p.texts {
		if n > 0 {
			t = cut(t, n)
		}
		if last := len(lines) - 1; last >= 0 {
			if joined := lines[last] + p.glue + t; n < 1 || utf8.RuneCountInString(joined) <= n {
				lines[last] = joined
				continue
			}
		}
		lines = append(lines, t)
	}
	return lines
}

// below tells what does not fit into the field's line.
func (r Row) below(roomy bool) []parts {
	who := OwnerName(r.Owner)
	if who != "" {
		who = strings.TrimSuffix(who+", "+when(r.Owner), ", ")
	}
	switch {
	case r.untold && who != "":
		return []parts{{texts: []string{"set by " + who}}}
	case r.untold || !r.differ:
		return nil
	}
	texts := beside(longest, r.Live, r.Local, r.Original)
	for i, o := range []merge.Opt{r.Live, r.Local, r.Original} {
		if !o.Set {
			texts[i] = "-"
		}
	}
	live := "live " + texts[0]
	if who != "" {
		live += " (" + who + ")"
	}
	sides := parts{[]string{live, "local " + texts[1], "original " + texts[2]}, " · "}
	if roomy {
		return []parts{sides}
	}
	return []parts{{strings.Split(r.reason(), "; "), "; "}, sides}
}

// color is by side; what is open or goes is red.
func (r Row) color() string {
	switch {
	case r.conflict || !r.Result.Set:
		return red
	case r.From == "local":
		return green
	case r.From == "original":
		return yellow
	case r.From == "live" && r.differ && !r.untold:
		return cyan
	}
	return ""
}

const yellow = "\x1b[33m"

func paint(s, color string, on bool) string {
	if !on || color == "" {
		return s
	}
	return color + s + reset
}

// narrowest is what a column keeps whatever happens.
const narrowest = 6

// columns gives each column the width of its longest cell.
func columns(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	return widths
}

func lineWidth(widths []int) int {
	total := 2 * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	return total
}

// fit takes from the widest column, letter by letter, until the line fits; limit 0
// takes nothing.
func fit(widths []int, limit int) []int {
	total := lineWidth(widths)
	for limit > 0 && total > limit {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= narrowest {
			break
		}
		widths[widest]--
		total--
	}
	return widths
}

func line(row []string, widths []int) string {
	var b strings.Builder
	for i, c := range row {
		if i > 0 {
			b.WriteString("  ")
		}
		if i == 0 {
			c = cutFront(c, widths[i]) // a path's end says most
		}
		c = cut(c, widths[i])
		b.WriteString(c + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)))
	}
	return strings.TrimRight(b.String(), " ")
}

// cutFront shortens a text to n characters, the first of which then says so.
func cutFront(s string, n int) string {
	over := utf8.RuneCountInString(s) - n
	if over <= 0 {
		return s
	}
	for at := range s {
		if over--; over < -1 {
			return "…" + s[at:]
		}
	}
	return s
}
