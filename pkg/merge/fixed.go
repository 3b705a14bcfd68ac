package merge

import (
	"slices"
	"strings"
)

// Fixed states that a value may not be changed once the object exists or runs.
type Fixed struct {
	// Path leads to the value, from a value of the type that has the row, by names. 0
	// is the first entry of a list.
	Path []string

	// Except lists what may be changed in it, by paths from there. "*" stands for every
	// entry of a list.
	Except [][]string

	// Grows: entries may be added to the list or map. Shrinks: entries may be removed.
	Grows, Shrinks bool

	// Was holds the conditions that live has to meet, If those that live and the result have to.
	Was, If []Condition
}

// String returns the path as messages print it.
func (f Fixed) String() string {
	return strings.ReplaceAll(strings.Join(f.Path, "."), ".0", "[0]")
}

// Forbids reports whether the API refuses to turn live into the result. Both are values of the
// type t, which has the row.
func (f Fixed) Forbids(t *Type, live, result map[string]any) bool {
	unmet := func(in map[string]any) func(Condition) bool {
		return func(c Condition) bool { return !c.holds(t, in, in) }
	}
	if slices.ContainsFunc(f.Was, unmet(live)) || slices.ContainsFunc(f.If, unmet(live)) || slices.ContainsFunc(f.If, unmet(result)) {
		return false
	}
	if f.Grows { // admission may add to it first
		result, _ = Complete(result, t, true).(map[string]any)
	}
	was, is := stripped(At[any](live, f.Path...), f.Except), stripped(At[any](result, f.Path...), f.Except)
	switch {
	case f.Grows:
		return !includes(is, was)
	case f.Shrinks:
		return !includes(was, is)
	}
	return !Identical(was, is)
}

// includes reports whether the list or map has each entry of the other.
func includes(list, other any) bool {
	if few, isMap := other.(map[string]any); isMap {
		for k, v := range few {
			if !Identical(At[map[string]any](list)[k], v) {
				return false
			}
		}
		return true
	}
	return !slices.ContainsFunc(At[[]any](other), func(e any) bool {
		return !slices.ContainsFunc(At[[]any](list), func(f any) bool { return Identical(e, f) })
	})
}

// stripped returns v without the values at the paths. v is not modified.
func stripped(v any, paths [][]string) any {
	if slices.ContainsFunc(paths, func(p []string) bool { return len(p) == 0 }) {
		return nil
	}
	below := func(name string) (rest [][]string) {
		for _, p := range paths {
			if p[0] == name {
				rest = append(rest, p[1:])
			}
		}
		return rest
	}
	switch v := v.(type) {
	case map[string]any:
		out := cloneMap(v)
		for name, e := range v {
			if rest := below(name); rest != nil {
				out[name] = stripped(e, rest)
			}
			if m, isMap := out[name].(map[string]any); out[name] == nil || isMap && len(m) == 0 {
				delete(out, name)
			}
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i, rest := 0, below("*"); rest != nil && i < len(out); i++ {
			out[i] = stripped(out[i], rest)
		}
		return out
	}
	return v
}

// additions: the value can no longer be changed (Type.Fixed), local states what was applied,
// and live has all of that and more. The rest is from a queue or from admission, which may
// add to it while the object does not run yet (KEP-2926); taking it out would be refused. A null in local
// asks for a removal, so local is taken as it was written. Server-side apply does not record
// what was applied to a value that others have changed: there it counts that they have.
func (m *merger) additions(s *cursor, o, l, v Opt) bool {
	if m.triple.Applied && m.foreign(s.path()) == nil || !m.triple.Applied && !(o.Set && equalOpt(o, l, s.field)) {
		return false
	}
	return s.fixed(false) && adds(s.field.Type, l.Value, v.Value)
}

// consumed: nothing can be added any more (Fixed.Shrinks), and local states what was applied, which live
// lacks: a controller has removed it, such as the scheduling gate of a Pod (KEP-3521).
func (m *merger) consumed(s *cursor, o, l Opt) bool {
	return o.Set && !m.triple.Applied && equalOpt(o, l, s.field) && s.fixed(true)
}

// fixed reports whether a path of a type around the value leads to it, or to what contains it; shrinks: one
// to what may only shrink.
func (s *cursor) fixed(shrinks bool) bool {
	return s.below(func(at *cursor, names []string) bool {
		t := at.up.field.Type
		return t != nil && slices.ContainsFunc(t.Fixed, func(f Fixed) bool {
			return (f.Shrinks || !shrinks) && ends(names, f.Path) && !slices.ContainsFunc(f.Except, func(rest []string) bool { return ends(names, slices.Concat(f.Path, rest)) })
		})
	})
}

// ends reports whether names, which lead up, end with the path, which leads down.
func ends(names, path []string) bool {
	for i, name := range path {
		if at := len(names) - 1 - i; at < 0 || names[at] != name {
			return false
		}
	}
	return true
}

// adds reports whether the map or list v has all that a has, in a's order, and more, also inside an entry.
func adds(t *Type, a, v any) bool {
	switch a := a.(type) {
	case map[string]any:
		m, isMap := v.(map[string]any)
		for k, e := range a {
			f, is := t.Field(k), some(m[k])
			if !equalOpt(Some(e), is, f) && !adds(f.Type, e, is.Value) {
				return false
			}
		}
		return isMap
	case []any:
		is, _ := v.([]any)
		for _, e := range is {
			if elem := t.EntryType(); len(a) > 0 && (Equal(a[0], e, elem) || adds(elem, a[0], e)) {
				a = a[1:]
			}
		}
		return len(a) == 0 && len(is) > 0
	}
	return false
}
