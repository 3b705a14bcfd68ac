package merge

// gone settles a null in local. The whole value is removed, whichever manager set it.
func (m *merger) gone(s *cursor, o, l, raw Opt) (Opt, bool) {
	v := some(raw.Value)
	if !v.Set {
		m.because(s, because{Opt{}, LocalSide, CauseNull, o, l, v})
		return m.absentOr(raw, v)
	}
	if cause := m.comesBack(s, l, v); cause != 0 {
		m.because(s, because{v, LiveSide, cause, o, l, v})
		return raw, false
	}
	if left := m.ruled(s, v, Opt{}); left.Set {
		return m.droppedParts(s, because{left, LocalSide, CauseNull, o, Opt{}, v})
	}
	if m.policy.ClearNulls {
		m.reportRemoved(s, CauseNull, o, v)
		return Opt{}, true
	}
	return m.removed(s, CauseNull, Disagreement{Original: o, Local: l, Live: v})
}

// comesBack returns the cause by which removing the value would change nothing: the server would
// fill it in again, or stores it like absence. It is 0 where the removal has an effect. l is what
// local states: nothing, or null, which asks for the default or for absence.
func (m *merger) comesBack(s *cursor, l, v Opt) Cause {
	switch null := l.Set && l.Value == nil; {
	case l.Set != null || s.entry && !null:
		return 0
	case s.field.Allocated && m.completes() && m.sides[ofWanted].valueAt(m.typ).Set && stays(m.sides[ofWanted].find, m.live, s.path()):
		return CauseServer
	case m.filled(ofWanted, s, Opt{}, v) || null && m.filled(ofLocal, s, Opt{}, v):
		return CauseServer
	case m.completes() && (null && s.field.Allocated || equalOpt(Opt{}, v, s.field)):
		return CauseSame
	}
	return 0
}

func (m *merger) reportRemoved(s *cursor, cause Cause, o, v Opt) {
	m.because(s, because{Opt{}, LocalSide, cause, o, Opt{}, v})
	m.addRemoved(s, o, Removal{Value: v.Value, Cause: cause})
}

// addRemoved adds a removal to the plan; o is what original has. The applier may
// release what the server has made and no manager has set.
func (m *merger) addRemoved(s *cursor, o Opt, r Removal) {
	v := Some(r.Value)
	made := !o.Set && m.owners != nil && m.filled(ofOriginal, s, o, v)
	applied := o.Set && (m.triple.Blanked || stillThere(o.Value, v.Value, s.field.Type)) // perhaps with more filled in
	r = m.removal(s.path(), made || applied, r)
	r.Own = r.Own || made && r.Owner == nil
	m.plan.Removed = append(m.plan.Removed, r)
}

// stillThere reports whether live's v is what the server has made of original's o.
func stillThere(o, v any, t *Type) bool {
	switch o := o.(type) {
	case map[string]any:
		vm, ok := v.(map[string]any)
		for name, e := range o {
			f := t.Field(name)
			ok = ok && (e == nil || f.unset(e) || stillThere(e, vm[name], f.Type)) // what is unset may be stored as absent, or filled in
		}
		return ok
	case []any:
		vl, ok := v.([]any)
		ok = ok && len(o) == len(vl)
		for i := range o {
			ok = ok && stillThere(o[i], vl[i], t.EntryType())
		}
		return ok || Equal(o, v, t)
	}
	return Equal(o, v, t)
}

// removal adds the owner to a removal of the value at p; applied says that it is what
// original has.
func (m *merger) removal(p Path, applied bool, r Removal) Removal {
	r.Path = p
	if owners := m.ownersAt(p); len(owners) > 0 {
		r.Owner = &owners[0]
		r.Own = r.Own || applied && m.foreign(p) == nil
	}
	return r
}
