package merge

import "slices"

// additions: the value can no longer be changed (Type.Fixed), local states what was applied,
// and live has all of that and more. The rest is from a queue or from admission, which may
// add to it while the object does not run yet (KEP-2926); taking it out would be refused. A null in local
// asks for a removal, so local is taken as it was written. Server-side apply does not record
// what was applied to a value that others have changed: there it counts that somebody has.
func (m *merger) additions(s *spot, o, l, v Opt) bool {
	switch {
	case m.triple.Applied && m.foreign(s.path()) == nil, !m.triple.Applied && !(o.Set && equalOpt(o, l, s.field)):
		return false
	}
	return s.fixed() && adds(s.field.Type, l.Value, v.Value)
}

// fixed reports whether a path of a type around the value leads to it, or to what contains it.
func (s *spot) fixed() bool {
	var names []string // from here up to the type that has the path
	for at := s; at.up != nil; at = at.up {
		name := at.here.name
		if at.here.list != nil {
			name = "*"
		}
		names = append(names, name)
		if t := at.up.field.Type; t != nil && slices.ContainsFunc(t.Fixed, func(path []string) bool { return ends(names, path) }) {
			return true
		}
	}
	return false
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
	was, ok := a.([]any)
	if !ok {
		_, isMap := a.(map[string]any)
		return isMap && within(t, a, v)
	}
	is, _ := v.([]any)
	for _, e := range is {
		if len(was) > 0 && within(t.EntryType(), was[0], e) {
			was = was[1:]
		}
	}
	return len(was) == 0 && len(is) > 0
}
