package diff

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/linediff"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// The maximum number of differences inside one value that are named; the rest is counted.
// What a write has replaced cannot be looked up any more.
const (
	mostParts   = 8
	mostWritten = 500
)

// mostLines is the maximum number of differing lines that are named one by one; of more, their number and the first.
const mostLines = 3

// longestLine is the maximum length of a line of a note, with "note: " or "warning: " before it.
const longestLine = 400

// difference names the changes from one value to another on one line, removals first: the
// entries of lists, the fields of maps and the lines of texts that differ. It names at most
// most of them.
func difference(from, to merge.Opt, most int) string {
	var d differences
	d.addValue("", from, to)
	parts := slices.Concat(d.removed, d.changed, d.added)
	return strings.Join(suggest.AtMost(parts, most), "; ")
}

// differences collects what differs by kind of change.
type differences struct{ removed, changed, added []string }

func (d *differences) addValue(at string, from, to merge.Opt) {
	a, aMap := from.Value.(map[string]any)
	b, bMap := to.Value.(map[string]any)
	l, lList := from.Value.([]any)
	m, mList := to.Value.([]any)
	s, sText := from.Value.(string)
	t, tText := to.Value.(string)
	switch {
	case aMap && bMap:
		d.maps(at, a, b)
	case lList && mList:
		d.lists(at, l, m)
	case sText && tText && (manyLines(s) || manyLines(t)):
		d.lines(at, s, t)
	default:
		text := beside(shownAt, from, to)
		d.changed = append(d.changed, labelled(at, text[0]+" → "+text[1]))
	}
}

// labelled puts the path before a text.
func labelled(at, text string) string {
	if at == "" {
		return text
	}
	return at + ": " + text
}

func (d *differences) maps(at string, a, b map[string]any) {
	for _, c := range merge.Diff(a, b, nil) {
		place := c.Path.String()
		if at != "" && !strings.HasPrefix(place, "[") {
			place = "." + place
		}
		switch place = escape.Line(at + place); {
		case !c.New.Set:
			d.removed = append(d.removed, place+": "+short(c.Old.Value, shownAt)+" removed")
		case !c.Old.Set:
			d.added = append(d.added, place+": "+short(c.New.Value, shownAt)+" added")
		default:
			d.addValue(place, c.Old, c.New)
		}
	}
}

// lists pairs the entries that differ by their names, and those without a name by a field that has
// not changed, or if they are the only ones.
func (d *differences) lists(at string, a, b []any) {
	old, added := onlyIn(a, b), onlyIn(b, a)
	if len(old) == 0 && len(added) == 0 {
		d.changed = append(d.changed, labelled(at, "the order of the entries"))
		return
	}
	partners := map[string][]int{} // of added, by what names them
	for i, w := range added {
		if _, isMap := w.(map[string]any); isMap {
			partners[entryName(w)] = append(partners[entryName(w)], i)
		}
	}
	var removed, rest []any
	taken := map[int]bool{}
	for _, v := range old {
		name := entryName(v)
		j := partner(v, added, partners[name], len(a) == 1 && len(b) == 1)
		if j < 0 {
			removed = append(removed, v)
			continue
		}
		places := partners[name]
		i := places[j]
		copy(places[1:j+1], places[:j])
		taken[i], partners[name] = true, places[1:]
		if name == "" && len(a) > 1 && len(a) <= mostPartners {
			name = fmt.Sprintf("entry %d", 1+slices.IndexFunc(a, func(e any) bool { return merge.Identical(e, v) }))
		}
		d.addValue(strings.TrimSpace(at+" "+name), merge.Some(v), merge.Some(added[i]))
	}
	for i, w := range added {
		if !taken[i] {
			rest = append(rest, w)
		}
	}
	for i, text := range entryTexts(slices.Concat(removed, rest)) {
		if i < len(removed) {
			d.removed = append(d.removed, labelled(at, text+" removed"))
		} else {
			d.added = append(d.added, labelled(at, text+" added"))
		}
	}
}

// onlyIn returns the entries of a list that the other one lacks, each counted.
func onlyIn(list, other []any) (out []any) {
	there := map[string]int{}
	for _, w := range other {
		there[literally(w)]++
	}
	for _, v := range list {
		text := literally(v)
		if there[text]--; there[text] < 0 {
			out = append(out, v)
		}
	}
	return out
}

// literally is one text for all values that are merge.Identical.
func literally(v any) string {
	text, _ := json.Marshal(v) // "" for what is not JSON
	return string(text)
}

// mostPartners is how many entries without a name are tried as the changed form of another.
const mostPartners = 50

// partner returns which of places, in added, has the changed form of v: an entry of the same name
// or, without names, one with a field that has not changed; -1 for none. Entries that are alone in
// their lists need only have the field.
func partner(v any, added []any, places []int, alone bool) int {
	m, isMap := v.(map[string]any)
	if isMap && len(places) > 0 && entryName(v) != "" {
		return 0
	}
	for j, place := range places[:min(len(places), mostPartners)] {
		for k, e := range m {
			if other, has := merge.At[map[string]any](added[place])[k]; has && (alone || merge.Identical(e, other)) {
				return j
			}
		}
	}
	return -1
}

// longestText is the maximum length of a value that a part of it does not distinguish from others.
const longestText = 4000

// entryTexts returns the texts of entries; two different ones never read alike.
func entryTexts(all []any) []string {
	texts := make([]string, len(all))
	alike := map[string][]int{}
	for i, v := range all {
		if texts[i] = entryName(v); texts[i] == "" || fits(merge.Some(v), shownAt) {
			texts[i] = short(v, 2*shownAt) // as much of it as a line has room for
		}
		alike[texts[i]] = append(alike[texts[i]], i)
	}
	for _, group := range alike {
		switch {
		case len(group) == 1:
		case len(group) > mostParts:
			for _, i := range group {
				texts[i] = short(all[i], longestText)
			}
		default:
			values := make([]merge.Opt, len(group))
			for i, at := range group {
				values[i] = merge.Some(all[at])
			}
			for i, text := range beside(2*shownAt, values...) {
				texts[group[i]] = text
			}
		}
	}
	return texts
}

// lines names the lines of a text that differ, with their numbers in from.
func (d *differences) lines(at, from, to string) {
	old, now := linediff.Lines(from), linediff.Lines(to)
	all := linediff.Between(old, now)
	n := 0
	for _, c := range all {
		n += max(c.OldEnd-c.Old, c.NewEnd-c.New)
	}
	if n <= mostLines {
		for _, c := range all {
			d.eachLine(at, c.Old, old[c.Old:c.OldEnd], now[c.New:c.NewEnd])
		}
		return
	}
	c := all[0]
	var first differences
	first.eachLine("", c.Old, old[c.Old:min(c.OldEnd, c.Old+1)], now[c.New:min(c.NewEnd, c.New+1)])
	text := slices.Concat(first.changed, first.removed, first.added)[0]
	d.changed = append(d.changed, labelled(at, fmt.Sprintf("%d lines differ, the first is %s", n, text)))
}

// eachLine names lines that are replaced by others; the first has the number after nr.
func (d *differences) eachLine(at string, nr int, old, now []string) {
	for i := range max(len(old), len(now)) {
		place := labelled(at, fmt.Sprintf("line %d", nr+i+1))
		switch {
		case i >= len(now):
			d.removed = append(d.removed, place+": "+lineText(old[i])+" removed")
		case i >= len(old):
			d.added = append(d.added, place+": "+lineText(now[i])+" added")
		default:
			text := beside(shownAt, merge.Some(old[i]), merge.Some(now[i]))
			if strings.HasSuffix(old[i], "\n") == strings.HasSuffix(now[i], "\n") {
				text = beside(shownAt, merge.Some(chomp(old[i])), merge.Some(chomp(now[i])))
			}
			d.changed = append(d.changed, place+": "+text[0]+" → "+text[1])
		}
	}
}

func lineText(line string) string { return short(chomp(line), shownAt) }

func chomp(line string) string { return strings.TrimSuffix(line, "\n") }

func manyLines(s string) bool { return strings.Contains(chomp(s), "\n") }
