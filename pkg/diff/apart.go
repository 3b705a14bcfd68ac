package diff

import (
	"strings"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// sideTexts holds the values of one place, spelled for output below each other, or in a
// line with their names.
type sideTexts struct{ original, live, local string }

// apart spells the sides in about n characters each, so that two different ones never read
// alike. A list, a map or a text of several lines that is too long is described by its
// difference from original or, where that is unknown, from live. What the server fills in,
// which stored has (nil: unknown), is not a difference.
func (s sides) apart(n int, stored *sides) sideTexts {
	v := s.shownIn(n)
	if v.long && stored != nil {
		s = *stored
	}
	switch {
	case !v.long:
		return sideTexts{orAbsent(s.original, v.texts.original, absent), orAbsent(s.live, v.texts.live, absent), orAbsent(s.local, v.texts.local, absent)}
	case s.original.Set && !unknown(s.original):
		return sideTexts{summary(s.original, n), s.against("original", s.original, s.live, n), s.against("original", s.original, s.local, n)}
	case s.live.Set:
		return sideTexts{orAbsent(s.original, v.texts.original, absent), summary(s.live, n), s.against("live", s.live, s.local, n)}
	}
	return sideTexts{orAbsent(s.original, v.texts.original, absent), absent, summary(s.local, n)}
}

// absent is the text for a value that a side does not have.
const absent = "-"

// summary returns a value in n characters, or where it is longer, its shape.
func summary(o merge.Opt, n int) string {
	if !o.Set {
		return absent
	}
	if fits(o, n) {
		return short(o.Value, n)
	}
	return noun(o.Value)
}

// against returns a side's value: whole where there is room, else its difference from base.
func (s sides) against(name string, base, o merge.Opt, n int) string {
	switch {
	case !o.Set:
		return absent
	case fits(o, n):
		return short(o.Value, n)
	case alike(base, o):
		return "as " + name
	}
	return difference(base, o, mostParts)
}

// breakLines breaks a text into lines of at most n characters, at spaces where it has any;
// continuation lines are indented. n below 1 is no limit.
func breakLines(text string, n int) []string {
	const indent = "  "
	var lines []string
	for lead := ""; ; lead = indent {
		room := n - len(lead)
		if n < 1 || room < 1 || utf8.RuneCountInString(text) <= room {
			return append(lines, lead+text)
		}
		at := len(string([]rune(text)[:room]))
		rest := at
		if i := strings.LastIndexByte(text[:at+1], ' '); i > at/3 {
			at, rest = i, i+1
		}
		lines = append(lines, lead+text[:at])
		text = text[rest:]
	}
}
