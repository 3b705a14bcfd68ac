package diff

import (
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/linediff"
)

// Pair holds two forms of a text, and their names in the head of a diff.
type Pair struct {
	From, To string
	Old, Now string
}

// Text returns the unified diff of two texts, with context lines around each change, as
// diff -u prints it; "" where they are equal. It masks nothing.
func Text(t Pair, context int) string {
	if t.Old == t.Now {
		return ""
	}
	h := hunks{old: linediff.Lines(t.Old), context: context}
	h.out.WriteString("--- " + t.From + "\n+++ " + t.To + "\n")
	all := changes(h.old, linediff.Lines(t.Now))
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j].at-all[j-1].end() <= 2*context {
			j++
		}
		h.hunk(all[i:j])
		i = j
	}
	return h.out.String()
}

// change replaces lines of the old text by new ones.
type change struct {
	at, removed int // the first line, from 0, and how many
	added       []string
}

func (c change) end() int { return c.at + c.removed }

// hunks writes changes, and counts the offset of the new text's lines from the old one's.
type hunks struct {
	old     []string
	context int
	shift   int
	out     strings.Builder
}

// changes returns the changes from one text to another.
func changes(old, now []string) (all []change) {
	for _, c := range linediff.Between(old, now) {
		all = append(all, change{at: c.Old, removed: c.OldEnd - c.Old, added: now[c.New:c.NewEnd]})
	}
	return all
}

func (h *hunks) hunk(all []change) {
	first := max(all[0].at-h.context, 0)
	end := min(all[len(all)-1].end()+h.context, len(h.old))
	grown := 0
	for _, c := range all {
		grown += len(c.added) - c.removed
	}
	fmt.Fprintf(&h.out, "@@ -%s +%s @@\n", span(first, end-first), span(first+h.shift, end-first+grown))
	h.shift += grown
	at := first
	for _, c := range all {
		h.lines(' ', h.old[at:c.at])
		h.lines('-', h.old[c.at:c.end()])
		h.lines('+', c.added)
		at = c.end()
	}
	h.lines(' ', h.old[at:end])
}

// span names lines as diff does: a single one without a count, none by the line before.
func span(first, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", first)
	case 1:
		return fmt.Sprint(first + 1)
	}
	return fmt.Sprintf("%d,%d", first+1, n)
}

func (h *hunks) lines(mark byte, lines []string) {
	for _, l := range lines {
		h.out.WriteByte(mark)
		h.out.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			h.out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// The colors of git diff, for a terminal.
const (
	Bold   = "\x1b[1m"
	Red    = "\x1b[31m"
	Green  = "\x1b[32m"
	Yellow = "\x1b[33m"
	Cyan   = "\x1b[36m"

	reset = "\x1b[0m"
)

// Paint returns a text in a color, if on is set; color "" is none.
func Paint(text, color string, on bool) string {
	if !on || color == "" || text == "" {
		return text
	}
	return color + text + reset
}
