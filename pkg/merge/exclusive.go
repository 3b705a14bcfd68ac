package merge

import "slices"

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
	in := func(list []any, e any) bool { return slices.Contains(list, e) }
	at := slices.IndexFunc(l, func(e any) bool { return t.excludes(e) })
	if at < 0 {
		return out
	}
	for j, e := range v {
		if !t.excludes(e) || in(l, e) || in(o, e) {
			continue
		}
		d := Disagreement{Kind: Both, Live: Some(e), By: s.path().Child(StepOf(t, l[at], 0))}
		if in(o, l[at]) {
			d.Kind = Drift
		}
		c := m.below(s, hop{list: t, entry: e}, Field{Type: t.Elem}, true)
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
