package merge

import "slices"

// obsolete removes from the result of an object what only live has and what the rest of the result
// makes obsolete (Default.Moot). An example are the node ports of a Service that no longer has a
// type with node ports. The server removes it for every manager, or refuses the object for it.
// So it is reported, and is not a disagreement, unless the server only refuses it (Default.Refused).
//
// Unlike kubectl: it leaves such fields to the server, and reports none of them.
func (m *merger) obsolete(s *cursor, x objects, res *edited) {
	t := s.field.Type
	if t == nil || !res.changed || !m.completes() {
		return
	}
	for i := range t.Defaults {
		for _, d := range t.Defaults[i].perKey(res.fields) {
			if !d.Moot || !d.holdsFor(t, res.fields) || !m.triple.Reverts && d.holdsFor(t, x.v) {
				continue
			}
			var by Path
			if len(d.If) > 0 && At[any](x.l, d.If[0].Path...) != nil {
				by = s.path()
				for _, name := range d.If[0].Path {
					by = by.Child(Named(name))
				}
			}
			m.obsoleteIn(s, obsoleteAt{d.Path, by, m.triple.Reverts && d.holdsFor(t, x.v), d.Refused}, x.l, res)
		}
	}
}

// perKey returns the rule, or of one about the keys of two maps one for each that both have.
func (d Default) perKey(v map[string]any) (rules []Default) {
	if !d.Moot || d.Path[len(d.Path)-1] != "*" {
		return []Default{d}
	}
	for _, k := range sortedKeys(At[map[string]any](v, d.Path[0])) {
		if other := d.If[0].Path[0]; At[any](v, other, k) != nil {
			d.Path, d.If = []string{d.Path[0], k}, []Condition{{Kind: IfSet, Path: []string{other, k}}}
			rules = append(rules, d)
		}
	}
	return rules
}

// holdsFor reports whether the rule's conditions hold for an object with what the server fills in beside its fields.
func (d *Default) holdsFor(t *Type, v map[string]any) bool {
	now := completer{admission: true}.byRules(v, t, func(d *Default) bool { return !slices.Contains(d.Path, "*") })
	return d.met(t, now, now)
}

// obsoleteAt is the path from here to an obsolete field, and what local states that excludes it.
type obsoleteAt struct {
	path    []string
	by      Path
	held    bool // live meets the conditions, too
	refused bool // see Default.Refused
}

// obsoleteIn removes the field from an object of the result.
func (m *merger) obsoleteIn(s *cursor, at obsoleteAt, l map[string]any, res *edited) {
	name := at.path[0]
	r := res.fields[name]
	if r == nil || len(at.path) == 1 && l[name] != nil && !m.triple.Reverts {
		return
	}
	c := m.below(s, hop{name: name})
	defer m.leave()
	switch {
	case len(at.path) > 1:
		at.path = at.path[1:]
		if out := m.obsoleteBelow(c, at, l[name], r); !shared(out, r) {
			res.put(name, Some(out))
		}
	case m.triple.Reverts && m.restored(c, r) != at.held:
	case at.refused && !m.triple.Reverts:
		if won, changed := m.displace(c, Disagreement{Kind: Both, Live: Some(r), By: at.by}); changed {
			res.put(name, won)
		}
	default:
		m.withdraw(c.path().String())
		m.because(c, because{Opt{}, LocalSide, CauseDisplaced, Opt{}, Opt{}, Some(r)})
		m.addRemoved(c, Opt{}, Removal{Value: r, Cause: CauseDisplaced, By: at.by})
		res.put(name, Opt{})
	}
}

// restored reports whether the result has a former value here. It is obsolete if live excludes it, and
// not if what excludes it is a former value, too: both were there.
func (m *merger) restored(s *cursor, r any) bool {
	is, has := m.live.Lookup(s.path())
	return !has || !Equal(is, r, nil)
}

// obsoleteBelow applies obsoleteIn to an object, or to every entry of a list.
func (m *merger) obsoleteBelow(s *cursor, at obsoleteAt, local, r any) any {
	t := s.field.Type
	if fields, isMap := r.(map[string]any); isMap {
		out := edited{fields: fields}
		m.obsoleteIn(s, at, At[map[string]any](local), &out)
		return out.fields
	}
	list, isList := r.([]any)
	if !isList || t == nil || len(at.path) == 1 {
		return r
	}
	at.path = at.path[1:] // "*"
	entries, _ := local.([]any)
	return Rebuilt(list, func(e any) any {
		defer m.leave()
		l := pick(entries, EntryAt(entries, StepOf(t, e, 0), t)).Value
		return m.obsoleteBelow(m.below(s, hop{list: t, entry: e}), at, l, e)
	})
}

// withdraw drops what the plan says of a value that is now removed from the result: no side keeps it.
func (m *merger) withdraw(p string) {
	settled := func(d Disagreement) bool { return d.Path.String() == p }
	m.plan.Settled, m.plan.Conflicts = slices.DeleteFunc(m.plan.Settled, settled), slices.DeleteFunc(m.plan.Conflicts, settled)
	m.plan.Because = slices.DeleteFunc(m.plan.Because, func(b Because) bool { return b.Path.String() == p })
}
