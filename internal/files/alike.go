package files

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// alike: two values are one by the rules of the merge. The order in a list whose entries
// are known by keys or values is that of the text, unless the policy defines it.
func (m *merger) alike(a, b any, t *merge.Type) bool {
	if merge.Identical(a, b) {
		return true
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && m.alikeMaps(a, b, t)
	case []any:
		b, ok := b.([]any)
		return ok && len(a) == len(b) && m.alikeLists(a, b, t)
	}
	return merge.Equal(a, b, nil) // 1.0 is 1
}

// alikeMaps compares field by field. A null is no
// field, unless the policy clears it.
func (m *merger) alikeMaps(a, b map[string]any, t *merge.Type) bool {
	for k, v := range a {
		w, ok := b[k]
		if !ok && m.nothing(v) || v == nil && m.nothing(w) {
			continue
		}
		if !ok || !m.alike(v, w, t.Field(k).Type) {
			return false
		}
	}
	for k, w := range b {
		if _, ok := a[k]; !ok && !m.nothing(w) {
			return false
		}
	}
	return true
}

// nothing: a value is null, or a mapping of nothing but nulls.
func (m *merger) nothing(v any) bool {
	fields, ok := v.(map[string]any)
	for _, e := range fields {
		if !m.nothing(e) {
			return false
		}
	}
	return !m.Policy.ClearNulls && (v == nil || ok && len(fields) > 0)
}

func (m *merger) alikeLists(a, b []any, t *merge.Type) bool {
	free := t != nil && (t.Kind == merge.Keyed || t.Kind == merge.Set) && !m.Policy.Prepend
	at := map[string][]int{}
	for i, e := range b {
		if free {
			name := merge.Identity(t, e)
			at[name] = append(at[name], i)
		}
	}
	for i, x := range a {
		y := b[i]
		if free {
			name := merge.Identity(t, x)
			if len(at[name]) == 0 {
				return false
			}
			y, at[name] = b[at[name][0]], at[name][1:]
			x, y = withKeys(x, y, t), withKeys(y, x, t) // a default key may be left out
		}
		if !m.alike(x, y, t.EntryType()) {
			return false
		}
	}
	return true
}

// bothChanged: all three sides have the value, and dest and updated have changed it in
// different ways.
func bothChanged(d merge.Disagreement) bool {
	return d.Kind == merge.Both && d.Original.Set && d.Local.Set && d.Live.Set
}

// mayMergeByLines: the value is a list on both sides, or a text of several lines. A mapping that is one
// value, such as a selector, is not mixed from two sides.
func mayMergeByLines(d merge.Disagreement) bool {
	_, ours := d.Live.Value.([]any)
	_, theirs := d.Local.Value.([]any)
	_, _, isText := byLines(d)
	return isText || ours && theirs && bothChanged(d)
}

// textsByLine is a plan in which texts of several lines that both sides have changed are
// merged line by line: what has changed in different places is not a disagreement. Where
// updated wins, it wins the lines that both have changed.
func textsByLine(plan merge.Plan) merge.Plan {
	var changes []merge.Change
	settles := func(d merge.Disagreement) bool {
		merged, clean, ok := byLines(d)
		ruled := d.Rule != "" && d.Winner != merge.Nobody
		if ok && (clean || d.Winner == merge.LocalSide) && !ruled {
			changes = append(changes, merge.Change{Op: merge.OpSet, Path: d.Path, New: merge.Some(merged)})
		}
		return ok && clean && !ruled
	}
	plan.Conflicts = slices.DeleteFunc(slices.Clone(plan.Conflicts), settles)
	plan.Settled = slices.DeleteFunc(slices.Clone(plan.Settled), settles)
	if result, err := merge.Replay(plan.Result, changes); err == nil {
		plan.Result = result
	}
	return plan
}

// byLines merges a disagreement about a text that has several lines on both sides, or about a value of which nothing but
// such a text differs; ok is false for any other. Lines that both sides have changed are updated's.
func byLines(d merge.Disagreement) (merged any, clean, ok bool) {
	if !bothChanged(d) {
		return nil, false, false
	}
	return mergedText([4]merge.Opt{d.Original, d.Live, d.Local, d.Local})
}

func mergedText(of [4]merge.Opt) (merged any, clean, ok bool) {
	base, isText := of[0].Value.(string)
	ours, isOurs := of[1].Value.(string)
	theirs, isTheirs := of[2].Value.(string)
	if isText && isOurs && isTheirs && strings.Contains(ours, "\n") && strings.Contains(theirs, "\n") {
		merged, _, clean = linemerge.Sides(base, ours, theirs)
		return merged, clean, true
	}
	if parts, sure := partsOf(of); sure && len(parts) == 1 {
		for at, part := range parts {
			path, err := merge.ParsePath(at)
			text, clean, ok := mergedText(part)
			return with(of[2].Value, path, merge.Some(text)), clean, ok && err == nil
		}
	}
	return nil, false, false
}

// mixed: the last is no merge of the three before it, base and both sides. It lacks what one side alone has changed;
// or it is a list with an entry that one side alone has taken out or changed, or without one that it has added, as lines
// may come to where both sides have moved it. Where in each place of a list there is one entry, what both sides have
// changed of it is merged likewise, and a text of several lines by lines.
func mixed(of [4]merge.Opt) bool {
	base, ours, theirs, got := of[0], of[1], of[2], of[3]
	switch {
	case sameOpt(base, ours):
		return !sameOpt(theirs, got)
	case sameOpt(base, theirs), sameOpt(ours, theirs):
		return !sameOpt(ours, got)
	}
	if parts, sure := partsOf(of); sure && !slices.ContainsFunc(slices.Collect(maps.Values(parts)), mixed) {
		return false
	}
	if text, clean, _ := mergedText(of); clean && merge.Identical(text, got.Value) {
		return false
	}
	was, our, their, is := entryCounts(base.Value), entryCounts(ours.Value), entryCounts(theirs.Value), entryCounts(got.Value)
	_, isList := got.Value.([]any)
	return !isList || len(lost(was, our, their, is))+len(lost(was, their, our, is)) > 0
}

func sameOpt(a, b merge.Opt) bool { return a.Set == b.Set && merge.Identical(a.Value, b.Value) }

// partsOf are the fields of four mappings, or the entries of four lists by their places, in which they differ; sure is false
// for other values, and where it is not sure that in one place there is one entry. The only one that differs is one, whatever
// the sides have made of it.
func partsOf(of [4]merge.Opt) (parts map[string][4]merge.Opt, sure bool) {
	parts = map[string][4]merge.Opt{}
	add := func(i int, step merge.Step, v any) {
		at := step.String()
		part := parts[at]
		part[i] = merge.Some(v)
		parts[at] = part
	}
	mappings, places := 0, 0
	for i, o := range of {
		switch v := o.Value.(type) {
		case map[string]any:
			mappings++
			for name, e := range v {
				add(i, merge.Named(name), e)
			}
		case []any:
			places += len(v)
			for n, e := range v {
				add(i, merge.Step{Kind: merge.IndexStep, Index: n}, e)
			}
		}
	}
	aligned := places > 0 && places == len(of)*len(parts)
	maps.DeleteFunc(parts, func(_ string, part [4]merge.Opt) bool {
		return !slices.ContainsFunc(part[1:], func(o merge.Opt) bool { return !sameOpt(o, part[0]) })
	})
	if aligned && len(parts) > 1 {
		was := object.Each(of[0].Value.([]any), yamldoc.Facts)
		aligned = !slices.ContainsFunc(slices.Collect(maps.Values(parts)), func(part [4]merge.Opt) bool { return moved(part, was) })
	}
	return parts, mappings == len(of) || aligned
}

// moved: both sides have changed what a list has in one place, and one of them to what is more like another of the entries
// that it had.
func moved(part [4]merge.Opt, was []map[string]int) bool {
	own := yamldoc.Facts(part[0].Value)
	return !sameOpt(part[0], part[1]) && !sameOpt(part[0], part[2]) && slices.ContainsFunc(part[1:3], func(o merge.Opt) bool {
		is := yamldoc.Facts(o.Value)
		return slices.ContainsFunc(was, func(e map[string]int) bool { return share(e, is) > share(own, is) })
	})
}

// entryCounts is how often a list has each entry; empty for a text.
func entryCounts(v any) map[string]int {
	out := map[string]int{}
	for _, e := range entries([]any{v}) {
		text, _ := json.Marshal(e) // "1" and 1 are two
		out[string(text)]++
	}
	return out
}
