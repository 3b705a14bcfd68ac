package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

// lost are the changes of one side alone that are neither in the result nor in a conflict:
// of values, each known by its path without the places in lists, and of comments.
func lost(c triple, got merged) []string {
	var out []string
	for _, read := range []func(string) (map[string]int, bool){facts, comments} {
		base, ok0 := read(string(c.base))
		ours, ok1 := read(string(c.ours))
		theirs, ok2 := read(string(c.theirs))
		oursView, ok3 := read(got.ours)
		theirsView, ok4 := read(got.theirs)
		if got.clean && !(ok3 && ok4) {
			return []string{"the result is not YAML"}
		}
		if !ok0 || !ok1 || !ok2 || !ok3 || !ok4 {
			continue // the sides of a conflict need not be YAML
		}
		out = append(out, changesLost(base, theirs, ours, theirsView)...)
		out = append(out, changesLost(base, ours, theirs, oursView)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// changesLost are what one side has added or taken out, and the other has as it was, and
// which a view does not have as that side has it.
func changesLost(base, side, other, view map[string]int) []string {
	var out []string
	for f := range union(base, side) {
		if side[f] != base[f] && other[f] == base[f] && view[f] != side[f] {
			out = append(out, fmt.Sprintf("%s: %d times, was %d, is %d", f, side[f], base[f], view[f]))
		}
	}
	return out
}

func union(a, b map[string]int) map[string]bool {
	out := map[string]bool{}
	for f := range a {
		out[f] = true
	}
	for f := range b {
		out[f] = true
	}
	return out
}

// facts are the scalars of a text with their paths, counted. A null is an absent field.
func facts(text string) (map[string]int, bool) {
	f, err := yamldoc.Parse([]byte(text))
	if err != nil {
		return nil, false
	}
	out := map[string]int{}
	for _, d := range f.Documents() {
		if !d.Empty() {
			gather(d.Value(), "", out)
		}
	}
	return out, true
}

func gather(v any, at string, out map[string]int) {
	switch v := v.(type) {
	case nil:
		return
	case map[string]any:
		for k, e := range v {
			gather(e, at+"."+k, out)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		for _, e := range v {
			gather(e, at+"[]", out)
		}
		if len(v) > 0 {
			return
		}
	case string:
		if strings.Contains(v, "\n") { // lines are merged
			for line := range strings.Lines(v) {
				out[at+" | "+strings.TrimSpace(line)]++
			}
			return
		}
		if len(v) > 80 { // it stands on several lines, maybe
			for _, word := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
				out[at+" | "+word]++
			}
			return
		}
	}
	data, _ := json.Marshal(v)
	out[at+" = "+string(data)]++
}

// comments are the comments of a text, counted; a # that a string holds is read as one too.
func comments(text string) (map[string]int, bool) {
	out := map[string]int{}
	for line := range strings.Lines(text) {
		line = " " + strings.TrimSpace(line)
		if _, c, ok := strings.Cut(line, " #"); ok && strings.TrimSpace(c) != "" {
			out["#"+c]++
		}
	}
	return out, true
}
