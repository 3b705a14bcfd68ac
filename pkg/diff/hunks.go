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
	h := hunks{old: linediff.Lines(t.Old), now: linediff.Lines(t.Now), context: context}
	h.out.WriteString("--- " + t.From + "\n+++ " + t.To + "\n")
	all := linediff.Between(h.old, h.now)
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j].Old-all[j-1].OldEnd <= 2*context {
			j++
		}
		h.hunk(all[i:j])
		i = j
	}
	return h.out.String()
}

// hunks writes changes, and counts the offset of the new text's lines from the old one's.
type hunks struct {
	old, now []string
	context  int
	shift    int
	out      strings.Builder
}

func (h *hunks) hunk(all []linediff.Change) {
	first := max(all[0].Old-h.context, 0)
	end := min(all[len(all)-1].OldEnd+h.context, len(h.old))
	grown := 0
	for _, c := range all {
		grown += c.NewEnd - c.New - (c.OldEnd - c.Old)
	}
	fmt.Fprintf(&h.out, "@@ -%s +%s @@\n", span(first, end-first), span(first+h.shift, end-first+grown))
	h.shift += grown
	at := first
	for _, c := range all {
		h.lines(' ', h.old[at:c.Old])
		h.lines('-', h.old[c.Old:c.OldEnd])
		h.lines('+', h.now[c.New:c.NewEnd])
		at = c.OldEnd
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
