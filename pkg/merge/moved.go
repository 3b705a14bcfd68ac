package merge

import (
	"cmp"
	"slices"
)

// unknown reports whether a blanked original has the value's place, but not the value.
func (m *merger) unknown(s *cursor, o Opt) bool {
	if !m.triple.Blanked || !o.Set {
		return false
	}
	t := s.field.Type
	return o.Value == "" || t != nil && t.Atomic && !Any(o.Value, isRecorded)
}

// recorded returns original's value for what is reported: nil where a blanked original lacks it, or a part of it.
func (m *merger) recorded(o Opt) Opt {
	if m.triple.Blanked && o.Set && Any(o.Value, func(v any) bool { return v == "" }) {
		o.Value = nil
	}
	return o
}

// isRecorded reports whether v is a scalar that was not blanked.
func isRecorded(v any) bool { return IsScalar(v) && v != "" }

// ownersAt lists the owners of the value at the path, newest first; nil if no owner is known.
func (m *merger) ownersAt(p Path) []Owner {
	if m.owners == nil {
		return nil
	}
	return m.owners.At(p)
}

// foreign returns the newest manager other than the applier that owns the path, by name. An
// unrecorded value may belong to any manager, to the applier and to the server too.
func (m *merger) foreign(p Path) *Owner {
	return m.owner(p, func(o Owner) bool { return !m.appliersOwn(o) && o.Manager != Unrecorded })
}

// claimed returns the manager that claims the value at the path below s; nil where none does.
func (m *merger) claimed(s *cursor, below Path) *Owner {
	if m.triple.Claims == nil {
		return nil
	}
	return m.owner(append(s.path(), below...), m.triple.Claims)
}

// owner returns the newest such owner of the path; nil where there is none.
func (m *merger) owner(p Path, is func(Owner) bool) *Owner {
	owners := m.ownersAt(p)
	if i := slices.IndexFunc(owners, is); i >= 0 {
		return &owners[i]
	}
	return nil
}

// appliersOwn reports whether the owner is the applier.
func (m *merger) appliersOwn(o Owner) bool {
	return slices.Contains(m.triple.Appliers, o.Manager) && (!m.triple.Applied || o.Operation == "Apply" && o.Subresource == "")
}

// overwritten records that local changes a value of a manager that has written original, and is no applier.
func (m *merger) overwritten(d Disagreement) {
	d.Owner = m.owner(d.Path, func(o Owner) bool { return slices.Contains(m.triple.Writers, o.Manager) })
	if d.Owner != nil && m.policy.Update == TakeLocal {
		m.plan.Settled = append(m.plan.Settled, d)
	}
}

// moved reports whether live's value differs from original's, and from what the server
// makes of that, and the applier did not write it. Another manager owns it, or no manager
// does, as where the server filled in a default for a deleted value. Without managedFields
// the values decide. An equal value is moved where another manager claims it.
func (m *merger) moved(s *cursor, o, v Opt) (bool, *Owner) {
	if m.unknown(s, o) {
		owner := m.foreign(s.path())
		return owner != nil, owner
	}
	if equalOpt(o, v, s.field) || o.Set && m.filled(ofOriginal, s, o, v) {
		owner := m.claimed(s, nil)
		return owner != nil, owner
	}
	if m.owners == nil {
		return true, nil
	}
	p := s.path()
	owner := cmp.Or(m.foreign(p), m.owner(p, func(o Owner) bool { return o.Manager == Unrecorded }))
	return owner != nil || m.unclaimed(s, o, v), owner
}

// unclaimed reports whether managers are recorded, but none for this value, and the server
// neither fills it in nor allocates it: the record of its writer was removed. A value that
// equals its absence, like a container's resources that the server prints as {}, was set by
// no manager, and the owner of a list is recorded with its entries.
func (m *merger) unclaimed(s *cursor, o, v Opt) bool {
	if len(m.ownersAt(s.path())) > 0 || !o.Set && isList(s.field.Type) && isZero(v.Value, nil) {
		return false
	}
	if r, ok := m.owners.(Partial); ok && r.Partial() {
		return o.Set
	}
	return o.Set || !s.field.Allocated && !equalOpt(o, v, s.field) && !m.filled(ofOriginal, s, o, v) && !m.refilled(s, v)
}

// refilled reports whether the server fills in the value that live has, if it is removed there.
func (m *merger) refilled(s *cursor, v Opt) bool {
	if !m.completes() || !s.fillable(Opt{}) {
		return false
	}
	is := m.live.completed(s.path(), Opt{})
	return is.Set && equalOpt(is, v, s.field)
}

// movedInside is moved for a value with parts: any part will do. What only live has counts where the
// server does not fill it in by itself, and a manager other than the applier owns it, or managers are
// unknown; in a file it counts always.
func (m *merger) movedInside(s *cursor, o, v Opt) (bool, *Owner) {
	t := s.field.Type
	if m.owners == nil && !o.Set && !m.policy.Literal && (!m.completes() || s.field.Allocated) {
		return false, nil
	}
	switch vv := v.Value.(type) {
	case map[string]any:
		om, isMap := o.Value.(map[string]any)
		if t != nil && t.Atomic || o.Set && !isMap || m.unknown(s, o) || len(vv) == 0 && !o.Set {
			break
		}
		for _, name := range sortedKeys(vv) {
			c := s.to(hop{name: name})
			if moved, owner := m.movedInside(&c, some(om[name]), some(vv[name])); moved {
				return true, owner
			}
		}
		return false, nil
	case []any:
		ol, isL := o.Value.([]any)
		if !isList(t) || o.Set && !isL || m.unknown(s, o) || len(vv) == 0 && !o.Set {
			break
		}
		return m.movedEntries(s, ol, vv)
	case nil:
		return false, nil
	}
	if o.Set {
		return m.moved(s, o, v)
	}
	if filled := m.filled(ofOriginal, s, o, v); filled || m.owners == nil || equalOpt(o, v, s.field) {
		return m.owners == nil && !filled, nil
	}
	owner := m.foreign(s.path())
	return owner != nil || m.unclaimed(s, o, v), owner
}

func (m *merger) movedEntries(s *cursor, o, v []any) (bool, *Owner) {
	t := s.field.Type
	was, is := indexOf(t, o), indexOf(t, v)
	for i, e := range v {
		id := is.ids[i]
		var ov Opt
		if all, nth := was.all(id), max(is.nth(i), 1); nth <= len(all) {
			ov = Some(o[all[nth-1]])
		}
		c := s.to(hop{list: t, entry: e})
		if is.more[id] != nil || was.more[id] != nil {
			c.twin = twin(ov, Opt{}, func() Opt { return Opt{} })
		}
		if moved, owner := m.movedInside(&c, ov, Some(e)); moved {
			return true, owner
		}
	}
	return false, nil
}

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

// doubt records a value that is sent again though it was applied, or may have been, and that no other
// manager has written since. KEP-555: managers are recorded before an admission plugin or the kind
// drops a value, and a removal ends each record of it.
func (m *merger) doubt(s *cursor, o, l, v Opt) {
	was := o.Set && (m.unknown(s, o) || m.kind(s, o, l) == Drift)
	if m.triple.Applied { // what was applied is read off live, which has what is stored of it
		was = v.Set || !o.Set
	}
	if was && m.appliersAlone(s) {
		edited := v.Set && (m.unknown(s, o) || m.triple.Applied && !adds(s.field.Type, v.Value, l.Value))
		m.plan.Doubtful = append(m.plan.Doubtful, Doubt{Path: s.path(), Recorded: !v.Set, Edited: edited})
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
