// Package linemerge merges texts three ways by lines, as git does. It refuses to know
// what the lines mean.
package linemerge

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-merge/kubectl-merge/pkg/linediff"
)

// Chunk is a run of lines of a merge. In a conflict both sides have changed the same
// lines of base, or lines that touch, in different ways; otherwise the three texts are
// one. Line ends belong to the lines. Of conflicts that share lines of base, the first has
// them.
type Chunk struct {
	Conflict           bool
	Base, Ours, Theirs string
}

// Merge merges what changed from base to theirs into ours. Put together, the chunks are the merged
// text; an empty one where all texts are empty.
//
// Rules: git's merge of lines, where changes that touch conflict and equal changes are
// one.
func Merge(base, ours, theirs string) []Chunk {
	m := merger{base: linediff.Lines(base)}
	a, b := changes(m.base, linediff.Lines(ours)), changes(m.base, linediff.Lines(theirs))
	for len(a) > 0 || len(b) > 0 {
		var from, to int
		if len(b) == 0 || len(a) > 0 && a[0].from <= b[0].from {
			from, to = a[0].from, a[0].to
		} else {
			from, to = b[0].from, b[0].to
		}
		i, j := 0, 0
		for grown := true; grown; {
			grown = false
			for i < len(a) && a[i].from <= to {
				to, grown = max(to, a[i].to), true
				i++
			}
			for j < len(b) && b[j].from <= to {
				to, grown = max(to, b[j].to), true
				j++
			}
		}
		m.same(from)
		m.changed(from, to, a[:i], b[:j])
		a, b = a[i:], b[j:]
	}
	m.same(len(m.base))
	return m.chunks
}

// Sides are the merged text with theirs and with ours of the lines in conflict; clean: there
// are none, and both are one.
func Sides(base, ours, theirs string) (theirsWin, oursWin string, clean bool) {
	var a, b strings.Builder
	clean = true
	for _, c := range Merge(base, ours, theirs) {
		clean = clean && !c.Conflict
		if b.WriteString(c.Ours); c.Conflict {
			a.WriteString(c.Theirs)
		} else {
			a.WriteString(c.Ours)
		}
	}
	return a.String(), b.String(), clean
}

// change replaces lines of base, from and to counted from 0, by text.
type change struct {
	from, to int
	text     []string
}

// changes leads from one text to another, in order.
func changes(from, to []string) []change {
	var out []change
	for _, c := range linediff.Between(from, to) {
		out = append(out, change{from: c.Old, to: c.OldEnd, text: to[c.New:c.NewEnd]})
	}
	return out
}

type merger struct {
	base   []string
	at     int // of base's lines are merged
	chunks []Chunk
}

func (m *merger) add(c Chunk) {
	if c.Base != "" || c.Ours != "" || c.Theirs != "" {
		m.chunks = append(m.chunks, c)
	}
}

// same takes base's lines up to one that somebody has changed.
func (m *merger) same(to int) {
	text := strings.Join(m.base[m.at:to], "")
	m.add(Chunk{Base: text, Ours: text, Theirs: text})
	m.at = to
}

// changed takes lines of base that one side has changed, or both.
func (m *merger) changed(from, to int, a, b []change) {
	base := m.base[from:to]
	ours, theirs := replaced(base, from, a), replaced(base, from, b)
	m.at = to
	switch {
	case len(b) == 0 || slices.Equal(ours, theirs):
		m.merged(ours)
	case len(a) == 0:
		m.merged(theirs)
	default:
		m.conflict(base, ours, theirs)
	}
}

func (m *merger) merged(side []string) {
	text := strings.Join(side, "")
	m.add(Chunk{Base: text, Ours: text, Theirs: text})
}

// conflict leaves out what both sides have in common: changes that are one.
func (m *merger) conflict(base, ours, theirs []string) {
	at := 0
	for _, c := range together(ours, linediff.Between(ours, theirs)) {
		m.merged(ours[at:c.Old])
		m.add(Chunk{
			Conflict: true,
			Base:     strings.Join(base, ""),
			Ours:     strings.Join(ours[c.Old:c.OldEnd], ""),
			Theirs:   strings.Join(theirs[c.New:c.NewEnd], ""),
		})
		base, at = nil, c.OldEnd
	}
	m.merged(ours[at:])
}

// mostBetween is how many lines without a word may stand between two conflicts that are
// shown as one.
const mostBetween = 3

// together makes one of changes between which nothing but brackets or empty lines stands.
func together(lines []string, all []linediff.Change) []linediff.Change {
	var out []linediff.Change
	for _, c := range all {
		if n := len(out); n > 0 && c.Old-out[n-1].OldEnd <= mostBetween && wordless(lines[out[n-1].OldEnd:c.Old]) {
			out[n-1].OldEnd, out[n-1].NewEnd = c.OldEnd, c.NewEnd
			continue
		}
		out = append(out, c)
	}
	return out
}

func wordless(lines []string) bool {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return !slices.ContainsFunc(lines, func(l string) bool { return strings.ContainsFunc(l, word) })
}

// replaced is a run of base's lines, the first of which is number from, with changes made.
func replaced(base []string, from int, all []change) []string {
	var out []string
	at := 0
	for _, c := range all {
		out = append(out, base[at:c.from-from]...)
		out = append(out, c.text...)
		at = c.to - from
	}
	return append(out, base[at:]...)
}
