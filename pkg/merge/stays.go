package merge

import "slices"

// stays: the server keeps what live has at the path though the update, as the server
// completes it, leaves it out there (Default.Stays).
//
// Source: patchAllocatedValues of pkg/registry/core/service, and the PrepareForUpdate
// functions of other kinds.
func stays(update, live *Finder, p Path) bool {
	for n := len(p) - 1; n >= 0; n-- {
		t := live.typ.At(p[:n])
		if t == nil || t.Kind != Object {
			continue
		}
		for i := range t.Defaults {
			if d := &t.Defaults[i]; d.Stays && leads(d.Path, p[n:]) && d.metAt(update, p[:n]) {
				return !slices.Contains(d.Path, "*") || known(update, live, p)
			}
		}
	}
	return false
}

// leads reports whether the path of a rule leads to that place.
func leads(rule []string, p Path) bool {
	return slices.EqualFunc(rule, p, func(name string, s Step) bool {
		return name == "*" && s.Kind != FieldStep || s.Kind == FieldStep && s.Name == name
	})
}

func (d *Default) metAt(update *Finder, p Path) bool {
	v, _ := update.Lookup(p)
	m, ok := v.(map[string]any)
	t := update.typ.At(p)
	now := completer(true).byRules(m, t, func(d *Default) bool { return !slices.Contains(d.Path, "*") })
	return ok && d.met(t, now, now)
}

// known: the entry that holds the field is the one of live by its unique value too, and no
// other entry of the update asks for what it had.
func known(update, live *Finder, p Path) bool {
	last := len(p) - 1
	entry, list, name := p[:last], p[:last-1], p[last].Name
	was, _ := live.Lookup(entry)
	is, _ := update.Lookup(entry)
	before, _ := was.(map[string]any)
	after, _ := is.(map[string]any)
	t := live.typ.At(list)
	differs := func(k Key) bool { return !sameKey(keyValue(t, k, before), keyValue(t, k, after)) }
	if before == nil || after == nil || slices.ContainsFunc(slices.Concat(t.Unique...), differs) {
		return false
	}
	all, _ := update.Lookup(list)
	others, _ := all.([]any)
	return !slices.ContainsFunc(update.entries(others, t).by([]string{name})["\x00"+roughly(before[name])], func(i int) bool {
		m, _ := others[i].(map[string]any)
		return m[name] != nil && !shared(m, after) && Equal(m[name], before[name], nil)
	})
}
