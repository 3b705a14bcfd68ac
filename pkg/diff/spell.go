package diff

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/linediff"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
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
		text := strconv.Quote(s) // what is invisible, or looks like a space, is escaped
		if utf8.RuneCountInString(text) > n {
			return cut(text, n-1) + `"`
		}
		return text
	}
	return cut(compact(v), n)
}

// compact returns a value as JSON on one line.
func compact(v any) string {
	text, err := merge.WriteJSON(v, false)
	if err != nil {
		return "?"
	}
	return escape.Line(strings.TrimSuffix(string(text), "\n"))
}

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
		return len(s) <= 4*n && utf8.RuneCountInString(strconv.Quote(s)) <= n
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
func common(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return start(a, n)
}

// escapedText returns a text as it is printed between quotes.
func escapedText(s string) string {
	q := strconv.Quote(s)
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
	return "[" + strings.Join(suggest.AtMost(entryTexts(list), most), ", ") + "]"
}

// shown holds the values of one place in the form in which they are printed side by side.
type shown struct {
	sides
	texts sideTexts

	// long: a list, map or text of several lines has no room in the line; its differences
	// are named instead.
	long bool
}

func (s sides) shown() shown { return s.shownIn(shownAt) }

// shownIn returns the form of values that may be n characters long.
func (s sides) shownIn(n int) shown {
	v := shown{sides: s}
	texts := beside(n, s.original, s.live, s.local)
	v.texts = sideTexts{texts[0], texts[1], texts[2]}
	for _, o := range []merge.Opt{s.original, s.local, s.live} {
		v.long = v.long || !fits(o, n) && (!merge.IsScalar(o.Value) || manyLines(merge.At[string](o.Value)))
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

// sideTexts holds the values of one place, spelled for output below each other, or in a
// line with their names.
type sideTexts struct{ original, live, local string }

// apart spells the sides in about n characters each, so that two different ones never read
// alike. A list, a map or a text of several lines that is too long is described by its
// difference from original or, where that is unknown, from live. What the server fills in,
// which stored has (nil: unknown), is not a difference.
func (s sides) apart(n int, stored *sides) sideTexts {
	v := s.shownIn(n)
	original, known := orAbsent(s.original, v.texts.original, absent), s.original.Set && !unknown(s.original)
	if unknown(s.original) {
		original = "not recorded"
	}
	if v.long && stored != nil {
		s = *stored
	}
	switch {
	case !v.long:
		return sideTexts{original, orAbsent(s.live, v.texts.live, absent), orAbsent(s.local, v.texts.local, absent)}
	case known:
		return sideTexts{summary(s.original, n), against("original", s.original, s.live, n), against("original", s.original, s.local, n)}
	case s.live.Set:
		return sideTexts{original, summary(s.live, n), against("live", s.live, s.local, n)}
	}
	return sideTexts{original, absent, summary(s.local, n)}
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
func against(name string, base, o merge.Opt, n int) string {
	switch {
	case !o.Set || fits(o, n):
		return summary(o, n)
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

// names lists the fields by which people identify an entry of a list; the first that it has
// counts. A namespace is put before the name, an effect after the key.
var names = []string{"name", "key", "path", "host", "ip", "port", "type", "id"}

// scopes lists the fields that identify a role's rule: what it is about, and not what it allows.
var scopes = []string{"apiGroups", "resources", "resourceNames", "nonResourceURLs"}

// ruleName names a rule of a role by its scopes; "" for other entries.
func ruleName(m map[string]any) string {
	if m["verbs"] == nil {
		return ""
	}
	var parts []string
	for _, field := range scopes {
		if text := plainList(merge.At[[]any](m, field)); text != "" {
			parts = append(parts, field+"="+cut(text, longestName))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// plainList returns the scalars of a list, separated by commas.
func plainList(list []any) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = plain(v)
	}
	return strings.Join(texts, ",")
}

// entryName names an entry of a list; "" where no field identifies it.
func entryName(v any) string {
	m, _ := v.(map[string]any)
	if name := ruleName(m); name != "" {
		return name
	}
	for _, field := range names {
		if m[field] == nil || !merge.IsScalar(m[field]) {
			continue
		}
		name := plain(m[field])
		if ns := m["namespace"]; ns != nil && merge.IsScalar(ns) {
			name = plain(ns) + "/" + name
		}
		if effect, ok := m["effect"].(string); ok {
			name += ":" + escape.Line(effect)
		}
		if kind, ok := m["kind"].(string); ok {
			return escape.Line(kind) + " " + name
		}
		if more := variantNames(m, field); len(more) > 0 {
			return "[" + strings.Join(append([]string{field + "=" + name}, more...), ",") + "]"
		}
		return field + "=" + name
	}
	return ""
}

// variantNames returns the names in the field that the type of an entry selects, since many
// entries have one type. Those of the metric "type: Resource" are in its field resource.
func variantNames(entry map[string]any, field string) []string {
	variant, _ := entry["type"].(string)
	if field != "type" || variant == "" {
		return nil
	}
	first, size := utf8.DecodeRuneInString(variant)
	at := string(unicode.ToLower(first)) + variant[size:]
	return namesIn(entry[at], escape.Line(at), 1)
}

// namesIn returns the names in a value, and below it down to that depth.
func namesIn(v any, at string, depth int) (out []string) {
	m, _ := v.(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(m)) {
		place := at + "." + escape.Line(field)
		switch e := m[field]; {
		case merge.IsScalar(e) && (field == "name" || field == "container"):
			out = append(out, place+"="+plain(e))
		case depth > 0:
			out = append(out, namesIn(e, place, depth-1)...)
		}
	}
	return out
}

// longestName is the maximum length of a name; those of Kubernetes are shorter.
const longestName = 300

// plain returns a scalar in the form used in a name.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return cut(escape.Line(s), longestName)
	}
	return short(v, shownAt)
}
