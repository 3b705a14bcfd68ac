package merge

import "slices"

// unstored reports whether the server does not store what local states here.
func (m *merger) unstored(s *cursor) bool {
	if len(m.triple.Unstored) == 0 {
		return false
	}
	if m.notStored == nil {
		m.notStored = map[string]bool{}
		for _, p := range m.triple.Unstored {
			m.notStored[p.String()] = true
		}
	}
	return m.notStored[s.path().String()]
}

// doubt records a value that is sent again though it was applied, and that no other manager
// has written since. KEP-555: managers are recorded before an admission plugin or the kind
// drops a value, and a removal ends each record of it.
func (m *merger) doubt(s *cursor, o, l, v Opt) {
	was := o.Set && m.kind(s, o, l) == Drift
	switch { // what was applied is read off live, which lacks what is not stored
	case m.triple.Applied && v.Set:
		was = adds(s.field.Type, v.Value, l.Value)
	case m.triple.Applied:
		was = !o.Set
	}
	if was && m.appliersAlone(s) {
		m.plan.Doubtful = append(m.plan.Doubtful, Doubt{Path: s.path(), Recorded: !v.Set})
	}
}

// appliersAlone reports whether the value is recorded as the appliers', and as no other manager's.
func (m *merger) appliersAlone(s *cursor) bool {
	if r, ok := m.owners.(Partial); m.owners == nil || ok && r.Partial() {
		return false
	}
	owners := m.ownersAt(s.path())
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(o Owner) bool { return !m.appliersOwn(o) })
}
