package gen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Sides are the values at one place, and how they came to be so.
type Sides struct {
	Name                  string
	Original, Local, Live merge.Opt
}

// Sides lists what a merge has to bear at a place, by its type.
func (p Place) Sides() []Sides {
	t := p.Field.Type
	var all []Sides
	switch {
	case t.Kind == merge.Keyed:
		all = keyedSides(t)
	case t.Kind == merge.Set:
		all = setSides(t)
	case t.Atomic || t.Kind == merge.List:
		all = atomicSides(t)
	case t.Kind == merge.Map:
		all = mapSides(t)
	}
	if t.Kind == merge.Object && !t.Atomic {
		all = append(all, oneOfSides(t)...)
	}
	return all
}

func list(entries ...any) merge.Opt {
	return merge.Some(slices.Clip(append([]any{}, entries...)))
}

var none merge.Opt

func setSides(t *merge.Type) []Sides {
	of := spellings[kindOf(t.Elem)]
	return SetSides(nth(of[0], 0), nth(of[0], 1), nth(of[0], 2), nth(of[0], 3))
}

// SetSides are the edits of a set: a and b were applied, c is local's, x another
// manager's.
func SetSides(a, b, c, x any) []Sides {
	ab := list(a, b)
	return []Sides{
		{"created", none, ab, none},
		{"unchanged", ab, ab, ab},
		{"added", ab, list(a, b, c), ab},
		{"added first", ab, list(c, a, b), ab},
		{"removed", ab, list(a), ab},
		{"reordered", ab, list(b, a), ab},
		{"reordered by others", ab, ab, list(b, a)},
		{"others' member", ab, ab, list(x, a, b)},
		{"added and removed beside others' member", ab, list(a, c), list(a, b, x)},
		{"removed by others", ab, ab, list(b)},
		{"given up", ab, none, ab},
		{"given up beside others' member", ab, none, list(a, x, b)},
		{"emptied beside others' member", ab, list(), list(a, x, b)},
		{"null beside others' member", ab, merge.Opt{Set: true}, list(a, x, b)},
		{"never applied, others have it", none, list(a), list(b, x)},
		{"live's alone", none, none, list(a, x)},
		{"repeated in local", ab, list(a, b, a), ab},
		{"repeated by others", ab, ab, list(a, a, b)},
		{"repetition cleaned up", list(a, b, a), ab, list(a, b, a)},
	}
}

func mapSides(t *merge.Type) []Sides {
	v := sample(t.Elem)
	m := func(keys ...string) merge.Opt {
		out := map[string]any{}
		for _, k := range keys {
			out[k] = v
		}
		return merge.Some(out)
	}
	changed := func(o merge.Opt, key string, v any) merge.Opt {
		out, _ := o.Value.(map[string]any)
		return merge.Some(with(out, key, v))
	}
	ab, w := m("a", "b"), otherValue(t.Elem, v)
	return []Sides{
		{"created", none, ab, none},
		{"created with null", none, changed(ab, "c", nil), none},
		{"unchanged", ab, ab, ab},
		{"added", ab, m("a", "b", "c"), ab},
		{"changed", ab, changed(ab, "a", w), ab},
		{"changed by others", ab, ab, changed(ab, "a", w)},
		{"removed", ab, m("a"), ab},
		{"removed after others changed it", ab, m("a"), changed(ab, "b", w)},
		{"null", ab, changed(ab, "b", nil), ab},
		{"null for others' key", ab, changed(ab, "x", nil), m("a", "b", "x")},
		{"others' key", ab, ab, m("a", "b", "x")},
		{"removed beside others' key", ab, m("a"), m("a", "b", "x")},
		{"removed by others", ab, ab, m("a")},
		{"all removed by others", ab, ab, none},
		{"given up", ab, none, ab},
		{"given up beside others' key", ab, none, m("a", "b", "x")},
		{"emptied beside others' key", ab, m(), m("a", "b", "x")},
		{"whole map null", ab, merge.Opt{Set: true}, m("a", "b", "x")},
		{"never applied, others have it", none, m("a"), m("b", "x")},
		{"live's alone", none, none, m("a")},
	}
}

// atomicSides edits what is one value.
func atomicSides(t *merge.Type) []Sides {
	v, more, w := atomicValues(t)
	some := merge.Some
	return []Sides{
		{"created", none, some(v), none},
		{"unchanged", some(v), some(v), some(v)},
		{"changed", some(v), some(w), some(v)},
		{"others added inside", some(v), some(v), some(more)},
		{"others added inside, changed", some(v), some(w), some(more)},
		{"less than was applied", some(more), some(v), some(more)},
		{"changed by others", some(v), some(v), some(w)},
		{"given up", some(v), none, some(v)},
		{"given up after others added inside", some(v), none, some(more)},
		{"null", some(v), merge.Opt{Set: true}, some(more)},
		{"removed by others", some(v), some(v), none},
		{"never applied", none, some(v), some(w)},
		{"never applied, a part of live's", none, some(v), some(more)},
		{"live's alone", none, none, some(v)},
	}
}

// atomicValues are one value, the same with something added, and another one.
func atomicValues(t *merge.Type) (v, more, w any) {
	switch {
	case t.Kind == merge.List:
		e := sample(t.Elem)
		f := otherValue(t.Elem, e)
		return []any{e}, []any{e, f}, []any{f}
	case t.Kind == merge.Map:
		e := sample(t.Elem)
		return map[string]any{"a": e}, map[string]any{"a": e, "x": e}, map[string]any{"b": e}
	}
	names := sortedFields(t)
	if len(names) == 0 {
		return map[string]any{"a": "1"}, map[string]any{"a": "1", "x": "1"}, map[string]any{"b": "1"}
	}
	first, last := names[0], names[len(names)-1]
	e := sample(t.Fields[first].Type)
	v1 := map[string]any{first: e}
	return v1, with(v1, last, sample(t.Fields[last].Type)), map[string]any{first: otherValue(t.Fields[first].Type, e)}
}

func with(m map[string]any, name string, v any) map[string]any {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]any{}
	}
	out[name] = v
	return out
}

func without(m map[string]any, name string) map[string]any {
	out := maps.Clone(m)
	delete(out, name)
	return out
}

// sample is a small value of a type that is not empty.
func sample(t *merge.Type) any { return sampled(t, 4) }

func sampled(t *merge.Type, depth int) any {
	switch {
	case t == nil || t.Kind == merge.Unknown:
		return map[string]any{"a": "1"}
	case t.Kind == merge.Scalar:
		return nonZero(spellings[kindOf(t)])
	case t.Kind == merge.Keyed:
		return []any{identified(t, nil, 0)}
	case t.Kind == merge.List || t.Kind == merge.Set:
		return []any{sampled(t.Elem, depth-1)}
	case t.Kind == merge.Map:
		return map[string]any{"a": sampled(t.Elem, depth-1)}
	}
	out := map[string]any{}
	names := sortedFields(t)
	if len(names) > 0 && depth > 0 {
		out[names[0]] = sampled(t.Fields[names[0]].Type, depth-1)
	}
	return out
}

func nonZero(all []any) any {
	for _, v := range all {
		switch v {
		case "", false, json.Number("0"):
		default:
			return v
		}
	}
	return all[0]
}

// otherValue is a value of the type that is not v.
func otherValue(t *merge.Type, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return map[string]any{"other": "1"}
		}
		k := sortedKeys(v)[0]
		return with(v, k, otherValue(t.Field(k).Type, v[k]))
	case []any:
		if len(v) == 0 {
			return []any{"other"}
		}
		return append([]any{otherValue(t.EntryType(), v[0])}, v[1:]...)
	case bool:
		return !v
	}
	return other(t, v)
}

// nth makes values like v that differ.
func nth(v any, n int) any {
	if _, ok := v.(json.Number); ok {
		return json.Number(strconv.Itoa(80 + n))
	}
	if n == 0 {
		return v
	}
	return fmt.Sprintf("%v-%d", v, n)
}
