package merge

import (
	"maps"
	"slices"
)

// oneOf settles the groups of fields that exclude each other, where local states another
// variant than live has. It returns the fields it has settled; put changes the result.
//
// Unlike kubectl: it knows such groups only where the Go type carries retainKeys,
// and sends two variants of the others, which the server refuses.
func (m *merger) oneOf(s *cursor, x objects, put func(string, Opt)) (done map[string]bool) {
	for _, g := range s.field.Type.OneOf {
		x := m.withoutInherited(s.field.Type, g, x)
		out := displaced(s.field.Type, g, x)
		if len(out) == 0 {
			continue
		}
		if done == nil {
			done = map[string]bool{}
		}
		held, by := false, s.excluder(g, x.l)
		for _, name := range out {
			c := m.below(s, hop{name: name})
			kind := Both
			if unchanged(s.field.Type, g, x.o, x.l) {
				kind = Drift
			}
			r, goes := m.displace(c, Disagreement{Kind: kind, Original: some(x.o[name]), Live: Some(x.v[name]), By: by})
			if m.leave(); goes {
				put(name, r)
			} else {
				held = true
			}
			done[name] = true
		}
		if held { // live's variant stays, so local's must not come beside it
			for _, name := range g.Fields {
				done[name] = true
			}
			done[g.Discriminator] = true
		}
	}
	return done
}

// withoutInherited returns the sides of an undo that restores another discriminator than live's: local
// does not have the fields of the group that it has from live alone, and that the discriminator excludes.
// Where the server's answer is known, its defaults are among the changes to undo.
func (m *merger) withoutInherited(t *Type, g OneOf, x objects) objects {
	d := g.Discriminator
	if !m.triple.Unanswered || d == "" || equalOpt(some(x.l[d]), some(x.v[d]), t.Fields[d]) {
		return x
	}
	keep, _ := chosen(t, g, x.o, x.l)
	x.l = maps.Clone(x.l)
	maps.DeleteFunc(x.l, func(name string, v any) bool {
		return slices.Contains(g.Fields, name) && !keep[name] && equalOpt(some(v), some(x.v[name]), t.Fields[name])
	})
	return x
}

// excluder returns the path of what local states of the group.
func (s *cursor) excluder(g OneOf, l map[string]any) Path {
	for _, name := range append(g.Fields[:len(g.Fields):len(g.Fields)], g.Discriminator) {
		if l[name] != nil {
			return s.path().Child(Named(name))
		}
	}
	return nil
}

// displace removes live's variant. It is a disagreement where another manager set it;
// without managedFields the values decide.
func (m *merger) displace(s *cursor, d Disagreement) (Opt, bool) {
	moved, owner := m.movedInside(s, d.Original, d.Live)
	if m.owners == nil && !d.Original.Set {
		moved = true
	}
	if !moved && m.withheld(s) {
		moved, d.Kind = true, Update
	}
	if moved {
		d.Owner = owner
		return m.settle(s, d)
	}
	m.because(s, because{Opt{}, LocalSide, CauseDisplaced, d.Original, Opt{}, d.Live})
	_, stated := Lookup(m.triple.Local, s.path(), m.typ)
	m.addRemoved(s, d.Original, Removal{Value: d.Live.Value, Cause: CauseDisplaced, By: d.By, Own: m.triple.Reverts && !stated})
	return Opt{}, true
}

// unchanged reports whether local asks for the variant that original asked for, in the same
// words.
func unchanged(t *Type, g OneOf, o, l map[string]any) bool {
	if !states(g, o) && o[g.Discriminator] == nil {
		return false
	}
	return !slices.ContainsFunc(append(g.Fields[:len(g.Fields):len(g.Fields)], g.Discriminator), func(name string) bool {
		return !equalOpt(Opt{o[name], o[name] != nil}, Opt{l[name], l[name] != nil}, t.Fields[name])
	})
}

// displaced lists the fields of the group that live has and that local's variant
// excludes, in the group's order.
func displaced(t *Type, g OneOf, x objects) (out []string) {
	lacks := func(name string) bool { return x.v[name] != nil && x.l[name] == nil }
	if !slices.ContainsFunc(g.Fields, lacks) && !lacks(g.Discriminator) {
		return nil // mostly so: the rest is skipped
	}
	keep, decided := chosen(t, g, x.o, x.l)
	if !decided {
		return nil
	}
	out = slices.DeleteFunc(slices.Clone(g.Fields), func(name string) bool { return !lacks(name) || keep[name] })
	d := g.Discriminator
	if text, ok := x.v[d].(string); ok && d != "" && lacks(d) && len(keep) > 0 && !keep[g.Selects[text]] {
		out = append(out, d)
	}
	return out
}

// chosen returns the variant that local asks for: the one that its discriminator selects,
// else the fields of the group that it states. decided is false where local asks for none.
func chosen(t *Type, g OneOf, o, l map[string]any) (keep map[string]bool, decided bool) {
	keep = map[string]bool{}
	if d := g.Discriminator; d != "" {
		value, ok := l[d].(string)
		if !ok && o[d] != nil && !states(g, l) {
			value, ok = g.Fallback, true
		}
		if ok && (value != "" || !t.Fields[d].ZeroIsAbsent) {
			if sel := g.Selects[value]; sel != "" {
				keep[sel] = true
			}
			return keep, true
		}
	}
	if g.Discriminator != "" && !g.Displaces {
		return nil, false
	}
	empty := map[string]bool{}
	for _, name := range g.Fields {
		switch e := l[name]; {
		case e == nil:
		case t.Fields[name].ZeroIsAbsent && isZero(e, t.Fields[name].Type):
			empty[name] = true
		default:
			keep[name] = true
		}
	}
	if len(keep) == 0 {
		keep = empty
	}
	return keep, len(keep) > 0
}

func states(g OneOf, l map[string]any) bool {
	return slices.ContainsFunc(g.Fields, func(name string) bool { return l[name] != nil })
}

// excluded reports whether live has a variant of a one-of that excludes the field of that
// name. Local and original have that field, and it is reported separately. held reports
// that a discriminator of local's excludes it, and live's stays.
func (m *merger) excluded(s *cursor, name string, x objects) (excluded, held bool) {
	t := s.field.Type
	for _, g := range t.OneOf {
		if !slices.Contains(g.Fields, name) {
			continue
		}
		if len(displaced(t, g, x)) > 0 {
			return true, false
		}
		d, f := g.Discriminator, t.Fields[g.Discriminator]
		text, ok := x.v[d].(string)
		if !ok || x.l[d] == nil || g.Selects[text] == name || equalOpt(some(x.l[d]), Some(text), f) {
			continue
		}
		kind := Both
		if equalOpt(some(x.o[d]), some(x.l[d]), f) {
			kind = Drift
		}
		c := m.below(s, hop{name: d})
		moved, _ := m.moved(c, some(x.o[d]), Some(text))
		if !moved {
			kind = Update
		}
		held = (moved || m.withheld(c)) && m.choice(c, kind) != TakeLocal
		m.leave()
		return true, held
	}
	return false, false
}

// members holds the outcome for the members of a set that exclude each other (Type.Exclusive).
type members struct {
	stays   map[int]Opt // entries of live that one of local's excludes
	stated  bool        // local states one of them, which excludes what live has
	held    bool        // live's stays, so that local's must not come beside it
	changed bool
}

// exclusive settles the members that only live has beside one of local's that excludes
// them. The API refuses them together, whichever manager states them.
//
// Unlike kubectl: server-side apply joins both, which no server stores.
func (m *merger) exclusive(s *cursor, o, l, v []any) members {
	t, out := s.field.Type, members{stays: map[int]Opt{}}
	at := slices.IndexFunc(l, t.excludes)
	if at < 0 {
		return out
	}
	for j, e := range v {
		if !t.excludes(e) || slices.Contains(l, e) || slices.Contains(o, e) {
			continue
		}
		d := Disagreement{Kind: Both, Live: Some(e), By: s.path().Child(StepOf(t, l[at], 0))}
		if slices.Contains(o, l[at]) {
			d.Kind = Drift
		}
		c := m.below(s, hop{list: t, entry: e})
		r, removed := m.displace(c, d)
		m.leave()
		out.stays[j], out.stated = r, true
		out.held, out.changed = out.held || !removed, out.changed || removed
	}
	return out
}

// excludes reports whether the member is one of those that exclude each other.
func (t *Type) excludes(e any) bool {
	text, ok := e.(string)
	return ok && slices.Contains(t.Exclusive, text)
}
