package merge

import "slices"

// stays: the server keeps what live has at the path though the update, as the server
// completes it, leaves it out there (Default.Stays). typ is the type of both.
//
// Source: patchAllocatedValues of pkg/registry/core/service, and the PrepareForUpdate
// functions of other kinds.
func stays(update, live any, p Path, typ *Type) bool {
	for n := len(p) - 1; n >= 0; n-- {
		t := typ.At(p[:n])
		if t == nil || t.Kind != Object {
			continue
		}
		for i := range t.Defaults {
			if d := &t.Defaults[i]; d.Stays && leads(d.Path, p[n:]) && d.metAt(update, p[:n], typ) {
				return !slices.Contains(d.Path, "*") || known(update, live, p, typ)
			}
		}
	}
	return false
}

// leads: the path of a rule has that place.
func leads(rule []string, p Path) bool {
	return slices.EqualFunc(rule, p, func(name string, s Step) bool {
		return name == "*" && s.Kind != FieldStep || s.Kind == FieldStep && s.Name == name
	})
}

func (d *Default) metAt(update any, p Path, typ *Type) bool {
	v, _ := Lookup(update, p, typ)
	now, ok := v.(map[string]any)
	return ok && d.met(typ.At(p), now, now)
}

// known: the entry that holds the field is the one of live by its unique value too, and no
// other entry of the update asks for what it had.
func known(update, live any, p Path, typ *Type) bool {
	last := len(p) - 1
	entry, list, name := p[:last], p[:last-1], p[last].Name
	was, _ := Lookup(live, entry, typ)
	is, _ := Lookup(update, entry, typ)
	before, _ := was.(map[string]any)
	after, _ := is.(map[string]any)
	t := typ.At(list)
	for _, row := range t.Unique {
		for _, k := range row {
			if !sameKey(keyValue(t, k, before), keyValue(t, k, after)) {
				return false
			}
		}
	}
	all, _ := Lookup(update, list, typ)
	others, _ := all.([]any)
	return before != nil && after != nil && !slices.ContainsFunc(others, func(e any) bool {
		m, _ := e.(map[string]any)
		return m[name] != nil && Equal(m[name], before[name], nil)
	})
}
