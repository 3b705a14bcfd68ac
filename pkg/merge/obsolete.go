package merge

import "slices"

// obsolete removes from the result of an object what only live has and what the rest of the result
// makes obsolete (Default.Moot). An example are the node ports of a Service that no longer has a
// type with node ports. The server removes it for every manager, or refuses the object for it.
// So it is reported, and is not a disagreement. v is live and l is local at this place.
//
// Unlike kubectl: it leaves such fields to the server, and reports none of them.
func (m *merger) obsolete(s *cursor, l, v map[string]any, res *edited) {
	t := s.field.Type
	if t == nil || !res.changed || !m.completes() {
		return
	}
	for i := range t.Defaults {
		d := &t.Defaults[i]
		if !d.Moot || !d.holdsFor(t, res.fields) {
			continue
		}
		held := d.holdsFor(t, v)
		if held && !m.triple.Reverts {
			continue
		}
		var by Path
		if len(d.If) > 0 && At[any](l, d.If[0].Path...) != nil {
			by = s.path()
			for _, name := range d.If[0].Path {
				by = by.Child(Named(name))
			}
		}
		if r, changed := m.obsoleteIn(s, obsoleteAt{d.Path, by, held}, l, res.fields); changed {
			res.put(d.Path[0], r)
		}
	}
}

// holdsFor reports whether the rule's conditions hold for an object as the server completes it.
func (d *Default) holdsFor(t *Type, v map[string]any) bool {
	return d.met(t, v, Complete(v, t, true).(map[string]any))
}

// obsoleteAt describes an obsolete field: the path to it from here, and what local states that
// excludes it.
type obsoleteAt struct {
	path []string
	by   Path
	held bool // live meets the conditions, too
}

// obsoleteIn removes the field from an object of the result, and returns the new value of its first step.
func (m *merger) obsoleteIn(s *cursor, at obsoleteAt, l, r map[string]any) (Opt, bool) {
	name := at.path[0]
	if r[name] == nil || len(at.path) == 1 && l[name] != nil && !m.triple.Reverts {
		return Opt{}, false
	}
	c := m.below(s, hop{name: name})
	defer m.leave()
	list, isList := r[name].([]any)
	switch {
	case len(at.path) == 1 && m.triple.Reverts && m.restored(c, r[name]) != at.held:
	case len(at.path) == 1:
		m.withdraw(c.path().String())
		m.because(c, because{Opt{}, LocalSide, CauseDisplaced, Opt{}, Opt{}, Some(r[name])})
		m.addRemoved(c, Opt{}, Removal{Value: r[name], Cause: CauseDisplaced, By: at.by})
		return Opt{}, true
	case isList && c.field.Type != nil && len(at.path) > 2:
		return m.obsoleteEntries(c, obsoleteAt{at.path[2:], at.by, at.held}, l[name], list)
	}
	return Opt{}, false
}

// restored reports whether the result has a former value here. It is obsolete if live excludes it, and
// not if what excludes it is a former value, too: both were there.
func (m *merger) restored(s *cursor, r any) bool {
	is, has := m.live.Lookup(s.path())
	return !has || !Equal(is, r, nil)
}

// obsoleteEntries applies obsoleteIn to every entry of a list.
func (m *merger) obsoleteEntries(s *cursor, at obsoleteAt, local any, list []any) (Opt, bool) {
	t := s.field.Type
	entries, _ := local.([]any)
	out := Rebuilt(list, func(e any) any {
		r, isMap := e.(map[string]any)
		if !isMap {
			return e
		}
		l := At[map[string]any](pick(entries, EntryAt(entries, StepOf(t, e, 0), t)).Value)
		c := m.below(s, hop{list: t, entry: e})
		defer m.leave()
		next := edited{fields: r}
		if now, changed := m.obsoleteIn(c, at, l, r); changed {
			next.put(at.path[0], now)
		}
		return next.fields
	})
	return Some(out), !shared(out, list)
}

// withdraw drops what the plan says of a value that is now removed from the result: no side keeps it.
func (m *merger) withdraw(p string) {
	settled := func(d Disagreement) bool { return d.Path.String() == p }
	m.plan.Settled, m.plan.Conflicts = slices.DeleteFunc(m.plan.Settled, settled), slices.DeleteFunc(m.plan.Conflicts, settled)
	m.plan.Because = slices.DeleteFunc(m.plan.Because, func(b Because) bool { return b.Path.String() == p })
}
