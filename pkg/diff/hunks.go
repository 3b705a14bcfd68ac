package diff

import (
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

// Text is the unified diff of two texts, with so many lines of context around each
// change, as diff -u prints it; "" where they are equal. It masks nothing.
//
// The library finds what differs; its own hunks count their lines wrong where one
// holds more than one change, and cannot be fed to patch.
func Text(from, to, old, now string, context int) string {
	if old == now {
		return ""
	}
	h := hunks{old: splitLines(old), context: context}
	h.out.WriteString("--- " + from + "\n+++ " + to + "\n")
	all := h.changes(old, udiff.Lines(old, now))
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

// splitLines keeps the line ends.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// change takes lines of the old text out, and puts new ones in their place.
type change struct {
	at, removed int // the first line, from 0, and how many
	added       []string
}

func (c change) end() int { return c.at + c.removed }

// hunks writes changes, keeping count of how far the new text's lines are from the
// old one's.
type hunks struct {
	old     []string
	context int
	shift   int
	out     strings.Builder
}

// changes turns edits, which the library makes at the ends of lines, into lines.
func (h *hunks) changes(old string, edits []udiff.Edit) []change {
	all := make([]change, 0, len(edits))
	line, at := 0, 0
	for _, e := range edits {
		line += strings.Count(old[at:e.Start], "\n")
		c := change{at: line, added: splitLines(e.New)}
		if c.removed = len(splitLines(old[e.Start:e.End])); c.removed > 0 || len(c.added) > 0 {
			all = append(all, c)
		}
		line += strings.Count(old[e.Start:e.End], "\n")
		at = e.End
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

// span names lines as diff does: a single one without its number, none by the line
// before.
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
