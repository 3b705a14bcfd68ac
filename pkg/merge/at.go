package merge

import (
	"maps"
	"slices"
)

// At returns the value below v by the names of its fields, of which 0 is the first entry of a list;
// the zero value where there is none of that type.
func At[T any](v any, names ...string) T {
	for _, name := range names {
		if list, _ := v.([]any); name == "0" && len(list) > 0 {
			v = list[0]
			continue
		}
		m, _ := v.(map[string]any)
		v = m[name]
	}
	t, _ := v.(T)
	return t
}

// Any reports whether is holds for v, or for a value at any depth in it.
func Any(v any, is func(any) bool) bool {
	if is(v) {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if Any(e, is) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return Any(e, is) })
	}
	return false
}

// First returns the path of the first value, in the order of names, that is holds for: v itself, or
// one at any depth in it. s is the step that leads to the value.
func First(v any, is func(s Step, v any) bool) (Path, bool) { return first(Step{}, v, is) }

func first(s Step, v any, is func(s Step, v any) bool) (at Path, ok bool) {
	if is(s, v) {
		return nil, true
	}
	switch v := v.(type) {
	case map[string]any: // is not sorted: nearly always, there is none
		for k, e := range v {
			if ok && at[0].Name < k {
				continue
			}
			if below, found := first(Named(k), e, is); found {
				at, ok = append(Path{Named(k)}, below...), true
			}
		}
	case []any:
		for i, e := range v {
			s := Step{Kind: IndexStep, Index: i}
			if below, found := first(s, e, is); found {
				return append(Path{s}, below...), true
			}
		}
	}
	return at, ok
}

// Texts returns the text of each.
func Texts[T interface{ String() string }](all []T) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = s.String()
	}
	return out
}

// AllAt returns the entries of that type in the list that At finds.
func AllAt[T any](v any, names ...string) []T {
	var out []T
	for _, e := range At[[]any](v, names...) {
		if t, is := e.(T); is {
			out = append(out, t)
		}
	}
	return out
}

// MapsAt is AllAt for maps.
func MapsAt(v any, names ...string) []map[string]any { return AllAt[map[string]any](v, names...) }

// Without returns a copy of m without the field below it; m itself where it has none. The maps
// around the field stay.
func Without(m map[string]any, names ...string) map[string]any {
	if len(names) == 0 {
		return m
	}
	last := len(names) - 1
	less := At[map[string]any](m, names[:last]...)
	if _, there := less[names[last]]; !there {
		return m
	}
	less = maps.Clone(less)
	delete(less, names[last])
	if last == 0 {
		return less
	}
	return With(m, less, names[:last]...)
}

// With returns a copy of m, which may be nil, with the value below it set; the copy alone where no
// name is given. The maps on the way are copied, and made where they are missing.
func With(m map[string]any, v any, names ...string) map[string]any {
	if len(names) > 1 {
		v = With(At[map[string]any](m[names[0]]), v, names[1:]...)
	}
	if m = maps.Clone(m); m == nil {
		m = map[string]any{}
	}
	if len(names) > 0 {
		m[names[0]] = v
	}
	return m
}
