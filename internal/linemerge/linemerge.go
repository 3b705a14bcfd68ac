// Package linemerge merges texts three ways by lines, as git does. It refuses to know
// what the lines mean.
package linemerge

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-merge/kubectl-merge/internal/linediff"
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
func Merge(base, ours, theirs string) (out []Chunk) {
	for _, h := range Hunks(base, ours, theirs) {
		if h.Conflict {
			out = append(out, h.Chunks()...)
		} else if h.Merged != "" {
			out = append(out, Chunk{Base: h.Merged, Ours: h.Merged, Theirs: h.Merged})
		}
	}
	return out
}

// Hunk is a run of lines as each side has it, and merged where it is no conflict.
type Hunk struct {
	Conflict           bool
	Base, Ours, Theirs string
	Merged             string
}

// Hunks are the parts of a merge, in order: the chunks of Merge with each conflict whole,
// which neither side's lines outside it touch. Of equal lines those are the same ones that git pairs,
// so that what both sides have added is one; where neither these nor those of the shortest way from base
// to a side merge cleanly, the latter. What only these merge may be one change of an entry, made twice.
func Hunks(base, ours, theirs string) []Hunk {
	lines, a, b := linediff.Lines(base), linediff.Lines(ours), linediff.Lines(theirs)
	toOurs, toTheirs := linediff.Between(lines, a), linediff.Between(lines, b)
	gitOurs, gitTheirs := linediff.Compact(lines, a, toOurs), linediff.Compact(lines, b, toTheirs)
	byGit, clean := hunks(lines, side{a, gitOurs}, side{b, gitTheirs})
	if clean || slices.Equal(gitOurs, toOurs) && slices.Equal(gitTheirs, toTheirs) {
		return byGit
	}
	if all, clean := hunks(lines, side{a, toOurs}, side{b, toTheirs}); !clean {
		return all
	}
	return byGit
}

// hunks are those of two sides' changes; clean: none is a conflict.
func hunks(base []string, a, b side) (all []Hunk, clean bool) {
	m := merger{base: base}
	for len(a.changes) > 0 || len(b.changes) > 0 {
		first := slices.MinFunc(slices.Concat(a.next(), b.next()), func(x, y linediff.Change) int { return x.Old - y.Old })
		from, to := first.Old, first.OldEnd
		i, j := 0, 0
		for more := -1; more < i+j; {
			more = i + j
			i, to = a.touching(i, to)
			j, to = b.touching(j, to)
		}
		m.same(from)
		m.changed(from, to, side{a.lines, a.changes[:i]}, side{b.lines, b.changes[:j]})
		a.changes, b.changes = a.changes[i:], b.changes[j:]
	}
	m.same(len(m.base))
	moved(m.hunks)
	return m.hunks, !slices.ContainsFunc(m.hunks, func(h Hunk) bool { return h.Conflict })
}

// moved makes a conflict of lines that one side has moved, perhaps among others, and the other deleted or
// moved elsewhere: both have deleted them in one place, and one alone has them in another.
func moved(all []Hunk) {
	for _, gone := range all {
		if gone.Base == "" || gone.Ours+gone.Theirs+gone.Merged != "" {
			continue
		}
		has := func(text string) bool { return strings.Contains("\n"+text, "\n"+gone.Base) }
		alike := func(h Hunk) bool { return h.Ours == h.Theirs && has(h.Merged) }
		for i, h := range all {
			if h.Ours != h.Theirs && has(h.Merged) && !has(h.Base) && !slices.ContainsFunc(all, alike) {
				all[i].Conflict, all[i].Merged = true, ""
			}
		}
	}
}

// Sides are the merged text with theirs and with ours of the lines in conflict; clean: there
// are none, and both are one.
func Sides(base, ours, theirs string) (theirsWin, oursWin string, clean bool) {
	switch base { // what only one side has changed is not compared
	case ours:
		return theirs, theirs, true
	case theirs:
		return ours, ours, true
	}
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

// Marks are the labels behind the markers of a conflict.
type Marks struct{ Ours, Theirs string }

// Conflict is two texts with markers around them, as git writes them. Each line has an end,
// those of the markers the same as the lines.
func (m Marks) Conflict(ours, theirs string) string {
	eol := "\n"
	if strings.Contains(ours+theirs, "\r\n") {
		eol = "\r\n"
	}
	ended := func(s string) string {
		if s == "" || strings.HasSuffix(s, "\n") {
			return s
		}
		return s + eol
	}
	return "<<<<<<< " + m.Ours + eol + ended(ours) + "=======" + eol + ended(theirs) + ">>>>>>> " + m.Theirs + eol
}

// Marked is the merged text with markers around each conflict, and how many there are.
func (m Marks) Marked(all []Chunk) (text string, conflicts int) {
	var b strings.Builder
	for _, c := range all {
		if !c.Conflict {
			b.WriteString(c.Ours)
			continue
		}
		conflicts++
		b.WriteString(m.Conflict(c.Ours, c.Theirs))
	}
	return b.String(), conflicts
}

// side is a text, and those of its changes that are not merged yet.
type side struct {
	lines   []string
	changes []linediff.Change
}

// next is the first change, if there is one.
func (s side) next() []linediff.Change { return s.changes[:min(len(s.changes), 1)] }

// touching counts the changes, n of which are known, that touch base's lines up to one, and returns where they end.
func (s side) touching(n, to int) (int, int) {
	for ; n < len(s.changes) && s.changes[n].Old <= to; n++ {
		to = max(to, s.changes[n].OldEnd)
	}
	return n, to
}

type merger struct {
	base  []string
	at    int // of base's lines are merged
	hunks []Hunk
}

// same takes base's lines up to one that a side has changed.
func (m *merger) same(to int) {
	if text := strings.Join(m.base[m.at:to], ""); text != "" {
		m.hunks = append(m.hunks, Hunk{Base: text, Ours: text, Theirs: text, Merged: text})
	}
	m.at = to
}

// changed takes lines of base that one side has changed, or both.
func (m *merger) changed(from, to int, a, b side) {
	base := m.base[from:to]
	h := Hunk{Base: strings.Join(base, ""), Ours: replaced(base, from, a), Theirs: replaced(base, from, b)}
	m.at = to
	switch {
	case len(b.changes) == 0 || h.Ours == h.Theirs:
		h.Merged = h.Ours
	case len(a.changes) == 0:
		h.Merged = h.Theirs
	default:
		h.Conflict = true
	}
	m.hunks = append(m.hunks, h)
}

// Chunks are the chunks of a hunk that is a conflict. What both sides have in common is in
// none: these changes are one.
func (h Hunk) Chunks() (out []Chunk) {
	ours, theirs := linediff.Lines(h.Ours), linediff.Lines(h.Theirs)
	merged := func(lines []string) {
		if text := strings.Join(lines, ""); text != "" {
			out = append(out, Chunk{Base: text, Ours: text, Theirs: text})
		}
	}
	base, at := h.Base, 0
	for _, c := range together(ours, linediff.Between(ours, theirs)) {
		merged(ours[at:c.Old])
		out = append(out, Chunk{
			Conflict: true,
			Base:     base,
			Ours:     strings.Join(ours[c.Old:c.OldEnd], ""),
			Theirs:   strings.Join(theirs[c.New:c.NewEnd], ""),
		})
		base, at = "", c.OldEnd
	}
	merged(ours[at:])
	return out
}

// Apart is the merge of a hunk that is a conflict only since changes touch, ours first where both add at one place;
// false where they overlap.
func (h Hunk) Apart() (string, bool) {
	base, ours, theirs := linediff.Lines(h.Base), linediff.Lines(h.Ours), linediff.Lines(h.Theirs)
	a, b := side{ours, linediff.Between(base, ours)}, side{theirs, linediff.Between(base, theirs)}
	var out strings.Builder
	at := 0
	for len(a.changes) > 0 || len(b.changes) > 0 {
		s := &a
		if len(a.changes) == 0 || len(b.changes) > 0 && (b.changes[0].Old < a.changes[0].Old || b.changes[0].OldEnd < a.changes[0].OldEnd) {
			s = &b
		}
		c := s.changes[0]
		if c.Old < at {
			return "", false
		}
		out.WriteString(strings.Join(base[at:c.Old], "") + strings.Join(s.lines[c.New:c.NewEnd], ""))
		at, s.changes = c.OldEnd, s.changes[1:]
	}
	return out.String() + strings.Join(base[at:], ""), true
}

// mostBetween is how many lines without a word may stand between two conflicts that are
// shown as one.
const mostBetween = 3

// together makes one of changes between which nothing but brackets or empty lines stands.
func together(lines []string, all []linediff.Change) (out []linediff.Change) {
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

// replaced is a run of base's lines, the first of which is number from, with a side's changes made.
func replaced(base []string, from int, s side) string {
	var out strings.Builder
	at := 0
	for _, c := range s.changes {
		out.WriteString(strings.Join(base[at:c.Old-from], ""))
		out.WriteString(strings.Join(s.lines[c.New:c.NewEnd], ""))
		at = c.OldEnd - from
	}
	out.WriteString(strings.Join(base[at:], ""))
	return out.String()
}
