package diff

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/linediff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// shownAt is the maximum length of a value in a note.
const shownAt = 48

// short spells a value on one line of at most n characters, without characters that control
// a terminal. Text is quoted, so that "5" and 5 read differently.
func short(v any, n int) string {
	if s, ok := v.(string); ok {
		if len(s) > 4*n {
			s = s[:4*n] // more than is shown; a cut character shows as an escape, and is cut off too
		}
		text := quoted(s)
		if utf8.RuneCountInString(text) > n {
			return cut(text, n-1) + `"`
		}
		return text
	}
	return cut(compact(v), n)
}

// compact returns a value as JSON on one line.
func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "?"
	}
	return escape.Line(strings.TrimSuffix(b.String(), "\n"))
}

// quoted returns a text in quotes; characters that are invisible, or look like a space, are escaped.
func quoted(s string) string { return strconv.Quote(s) }

// cut shortens a text to n characters, the last of which then marks the cut.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	i := 0
	for at := range s {
		if i++; i == n {
			return s[:at] + "…"
		}
	}
	return s
}

// fits reports whether the value is printed whole in n characters.
func fits(o merge.Opt, n int) bool {
	if s, ok := o.Value.(string); ok {
		return len(s) <= 4*n && utf8.RuneCountInString(quoted(s)) <= n
	}
	return !o.Set || utf8.RuneCountInString(compact(o.Value)) <= n
}

// beside spells values of one place in about n characters each, so that two different ones
// never read alike. A long one is cut around the places where it differs from the others.
func beside(n int, all ...merge.Opt) []string {
	var texts, others []string
	for _, o := range all {
		if s, ok := o.Value.(string); ok {
			texts = append(texts, s)
		} else if o.Set {
			others = append(others, compact(o.Value))
		}
	}
	textsPart, othersPart := partings(texts), partings(others)
	out := make([]string, len(all))
	for i, o := range all {
		s, isText := o.Value.(string)
		switch {
		case !o.Set || fits(o, n):
			out[i] = short(o.Value, n)
		case isText && len(textsPart) > 0:
			out[i] = `"` + windows(s, textsPart, n, escapedText) + `"`
		case !isText && len(othersPart) > 0:
			out[i] = windows(compact(o.Value), othersPart, n, escape.Line)
		default:
			out[i] = short(o.Value, n)
		}
	}
	return out
}

// partings returns the places, in bytes, where two of the texts begin to differ.
func partings(all []string) (at []int) {
	for i, a := range all {
		for _, b := range all[:i] {
			if a != b {
				at = append(at, common(a, b))
			}
		}
	}
	return at
}

// common returns the length of the texts' common beginning, in whole characters.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return n
}

// escapedText returns a text as it is printed between quotes.
func escapedText(s string) string {
	q := quoted(s)
	return q[1 : len(q)-1]
}

// windows cuts a text to the surroundings of the places, half before and half after each,
// each part spelled by spell.
func windows(s string, places []int, n int, spell func(string) string) string {
	slices.Sort(places)
	var b strings.Builder
	end := 0
	for i, at := range places {
		from, to := max(start(s, at-n/2), end), start(s, at+n/2)
		if from > end || i == 0 && from > 0 {
			b.WriteString("…")
		}
		if to > from {
			b.WriteString(spell(s[from:to]))
		}
		end = max(end, to)
	}
	if end < len(s) {
		b.WriteString("…")
	}
	return b.String()
}

// start returns where the character at or before byte i begins.
func start(s string, i int) int {
	i = min(max(i, 0), len(s))
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// noun names a value that is too long for a line by its shape.
func noun(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "map of " + Count(len(v), "field", "fields")
	case []any:
		return "list of " + Count(len(v), "entry", "entries")
	case string:
		if n := len(linediff.Lines(v)); n > 1 {
			return fmt.Sprintf("text of %d lines", n)
		}
	}
	return short(v, shownAt)
}

// content returns a value for a line without others: a list by its entries' names, most of
// them, where it is too long.
func content(o merge.Opt, most int) string {
	list, ok := o.Value.([]any)
	if !ok || fits(o, shownAt) {
		if text, isText := o.Value.(string); isText && manyLines(text) && !fits(o, shownAt) {
			return noun(text)
		}
		return short(o.Value, 2*shownAt)
	}
	return "[" + strings.Join(atMost(entryTexts(list), most), ", ") + "]"
}

// shown holds the values of one place in the form in which they are printed side by side.
type shown struct {
	sides
	texts struct{ original, local, live string }

	// long: a list, map or text of several lines has no room in the line; its differences
	// are named instead.
	long bool
}

func (s sides) shown() shown { return s.shownIn(shownAt) }

// shownIn returns the form of values that may be n characters long.
func (s sides) shownIn(n int) shown {
	v := shown{sides: s}
	texts := beside(n, s.original, s.local, s.live)
	v.texts.original, v.texts.local, v.texts.live = texts[0], texts[1], texts[2]
	for _, o := range []merge.Opt{s.original, s.local, s.live} {
		v.long = v.long || !fits(o, n) && (!isScalar(o.Value) || manyLines(merge.At[string](o.Value)))
	}
	return v
}

// Value spells a value on one line, as notes do: whole where there is room. Of a list it
// gives the names of its entries, of a text its number of lines.
func Value(v any) string { return content(merge.Some(v), mostParts) }

// Difference names the differences of two values, as notes do: the entries, fields or lines
// of long ones. It is "" where both have room in a line, so that they are best shown whole.
// It masks nothing.
func Difference(from, to any) string {
	s := sides{live: merge.Some(from), local: merge.Some(to)}
	if v := s.shown(); !v.long {
		return ""
	}
	return difference(s.live, s.local, mostParts)
}
