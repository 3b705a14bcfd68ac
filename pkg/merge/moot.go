package merge

import "slices"

// moot removes from the result of an object what only live has and what the rest of the result
// makes obsolete (Default.Moot). An example are the node ports of a Service that no longer has a
// type with node ports. The server removes it for every manager, or refuses the object for it.
// So it is reported, and is not a disagreement. v is live and l is local at this place.
//
// Unlike kubectl: it leaves such fields to the server, and reports none of them.
func (m *merger) moot(s *spot, l, v map[string]any, res *edited) {
	t := s.field.Type
	if t == nil || !res.changed || !m.completes() {
		return
	}
	for i := range t.Defaults {
		d := &t.Defaults[i]
		if !d.Moot || !d.comesTrue(t, v, res.fields) {
			continue
		}
		var by Path
		if len(d.If) > 0 && At[any](l, d.If[0].Path...) != nil {
			by = s.path()
			for _, name := range d.If[0].Path {
				by = by.Child(Named(name))
			}
		}
		if r, changed := m.mootIn(s, mootAt{d.Path, by}, l, res.fields); changed {
			res.put(d.Path[0], r)
		}
	}
}

// comesTrue reports whether an update triggers the rule: its conditions hold for the object after, and did not before.
func (d *Default) comesTrue(t *Type, before, after map[string]any) bool {
	return d.met(t, after, Complete(after, t, true).(map[string]any)) && !d.met(t, before, Complete(before, t, true).(map[string]any))
}

// mootAt describes an obsolete field: the path to it from here, and what local states that
// excludes it.
type mootAt struct {
	path []string
	by   Path
}

// mootIn removes the field from an object of the result, and returns the new value of its first step.
func (m *merger) mootIn(s *spot, at mootAt, l, r map[string]any) (Opt, bool) {
	name := at.path[0]
	if r[name] == nil || len(at.path) == 1 && l[name] != nil {
		return Opt{}, false
	}
	f, entry := childOf(s.field.Type, name)
	c := m.below(s, hop{name: name}, f, entry)
	defer m.leave()
	list, isList := r[name].([]any)
	switch {
	case len(at.path) == 1:
		m.unexplain(c)
		m.because(c, because{Opt{}, LocalSide, CauseDisplaced, Opt{}, Opt{}, Some(r[name])})
		m.addRemoved(c, Opt{}, Removal{Value: r[name], Cause: CauseDisplaced, By: at.by})
		return Opt{}, true
	case isList && f.Type != nil && len(at.path) > 2:
		return m.mootEntries(c, mootAt{at.path[2:], at.by}, l[name], list)
	}
	return Opt{}, false
}

// mootEntries applies mootIn to every entry of a list.
func (m *merger) mootEntries(s *spot, at mootAt, local any, list []any) (Opt, bool) {
	t := s.field.Type
	entries, _ := local.([]any)
	out := list
	for i, e := range list {
		r, isMap := e.(map[string]any)
		if !isMap {
			continue
		}
		var l map[string]any
		if j := EntryAt(entries, StepOf(t, e, 0), t); j >= 0 {
			l, _ = entries[j].(map[string]any)
		}
		c := m.below(s, hop{list: t, entry: e}, Field{Type: t.EntryType()}, true)
		if now, changed := m.mootIn(c, at, l, r); changed {
			next := edited{fields: r}
			next.put(at.path[0], now)
			if shared(out, list) {
				out = slices.Clone(list)
			}
			out[i] = next.fields
		}
		m.leave()
	}
	return Some(out), !shared(out, list)
}

// unexplain drops the explanation of a value that is now removed from the result.
func (m *merger) unexplain(s *spot) {
	if m.explain {
		p := s.path().String()
		m.plan.Because = slices.DeleteFunc(m.plan.Because, func(b Because) bool { return b.Path.String() == p })
	}
}
