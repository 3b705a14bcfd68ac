package merge

// unknown: a blanked original has the value's place, not the value.
func (m *merger) unknown(s *spot, o Opt) bool {
	if !m.blanked || !o.Set {
		return false
	}
	t := s.field.Type
	return o.Value == "" || t != nil && t.Atomic && blank(o.Value)
}

// blank: a value of which only the keys are left.
func blank(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if !blank(e) {
				return false
			}
		}
		return true
	case []any:
		for _, e := range v {
			if !blank(e) {
				return false
			}
		}
		return true
	}
	return v == ""
}

// foreign is the newest manager other than the applier that owns the path, by name:
// what nobody has recorded may be anybody's, the applier's and the server's too.
func (m *merger) foreign(p Path) *Owner {
	for _, o := range m.owners.At(p) {
		if !m.appliers[o.Manager] && o.Manager != Unrecorded {
			return &o
		}
	}
	return nil
}

// unrecorded is the entry for what was there before managers were recorded, if it has
// the path.
func (m *merger) unrecorded(p Path) *Owner {
	for _, o := range m.owners.At(p) {
		if o.Manager == Unrecorded {
			return &o
		}
	}
	return nil
}

// moved: live's value differs from original's, and somebody other than the
// applier owns it. Where managers were not recorded the values decide.
func (m *merger) moved(s *spot, o, v Opt) (bool, *Owner) {
	if m.unknown(s, o) {
		if m.owners == nil {
			return false, nil
		}
	} else if equalOpt(o, v, s.field) {
		return false, nil
	}
	if m.owners == nil {
		return true, nil
	}
	p := s.path()
	owner := m.foreign(p)
	if owner == nil && !m.unknown(s, o) {
		owner = m.unrecorded(p)
	}
	return owner != nil, owner
}

// movedInside is moved for a value with parts: any part will do. What only live
// has counts where somebody other than the applier owns it; without managedFields
// it cannot be told from a server default, and does not.
func (m *merger) movedInside(s *spot, o, v Opt) (bool, *Owner) {
	t := s.field.Type
	if m.owners == nil && !o.Set {
		return false, nil
	}
	switch vv := v.Value.(type) {
	case map[string]any:
		if t != nil && t.Atomic || m.unknown(s, o) || len(vv) == 0 && !o.Set {
			break
		}
		om, isMap := o.Value.(map[string]any)
		if o.Set && !isMap {
			break
		}
		for _, name := range sortedKeys(vv) {
			f, entry := childOf(t, name)
			c := spot{up: s, here: hop{name: name}, field: f, entry: entry}
			ov, ok := om[name]
			if moved, owner := m.movedInside(&c, denull(Opt{ov, ok}), denull(Some(vv[name]))); moved {
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
	if !o.Set {
		owner := m.foreign(s.path())
		return owner != nil, owner
	}
	return m.moved(s, o, v)
}

func (m *merger) movedEntries(s *spot, o, v []any) (bool, *Owner) {
	t := s.field.Type
	had := make(map[string][]any, len(o))
	for _, e := range o {
		id := identity(t, e)
		had[id] = append(had[id], e)
	}
	for _, e := range v {
		id := identity(t, e)
		var ov Opt
		if h := had[id]; len(h) > 0 {
			ov, had[id] = Some(h[0]), h[1:]
		}
		c := spot{up: s, here: hop{list: t, entry: e}, field: Field{Type: t.Elem}, entry: true}
		if moved, owner := m.movedInside(&c, ov, Some(e)); moved {
			return true, owner
		}
	}
	return false, nil
}

// serverMade: live's value is what the server made of local's, by defaults inside
// it, entries that admission appended, or spelling; not a difference (SEMANTICS:
// equality (b) and (c)).
//
// Unlike kubectl: it sends such a value anew on every run and says "configured".
func (m *merger) serverMade(s *spot, o, l, v Opt) bool {
	same := o.Set && (m.unknown(s, o) || equalOpt(o, l, s.field))
	if text, ok := l.Value.(string); ok && text == "" {
		// "" asks for the default, which the server then filled in.
		return same && s.field.ZeroIsAbsent && m.ownersOnly(s, m.appliers)
	}
	if isScalar(l.Value) || m.unknown(s, o) {
		// What a blanked original had in it nobody knows: a part that local dropped would
		// pass for the server's addition.
		return false
	}
	exact := m.owners == nil || !m.ownersOnly(s, m.appliers)
	if exact && m.owners != nil && !m.createdOnly(s) {
		return false
	}
	if !exact && !same {
		exact = true
	}
	return covers(s.field.Type, l.Value, o, v.Value, exact)
}

// takesOut: inside one value, local says null where live has something, and did not
// say so when it was applied last (what is there since is the server's).
func takesOut(l, o, v any) bool {
	switch l := l.(type) {
	case map[string]any:
		om, _ := o.(map[string]any)
		vm, _ := v.(map[string]any)
		for k, lv := range l {
			ov, had := om[k]
			if lv == nil && vm[k] != nil && !(had && ov == nil) || takesOut(lv, ov, vm[k]) {
				return true
			}
		}
	case []any:
		ol, _ := o.([]any)
		vl, _ := v.([]any)
		for i := 0; i < len(l) && i < len(vl); i++ {
			var oe any
			if len(ol) == len(l) {
				oe = ol[i]
			}
			if takesOut(l[i], oe, vl[i]) {
				return true
			}
		}
	}
	return false
}

// ownersOnly: somebody owns the value, and nobody but those.
func (m *merger) ownersOnly(s *spot, names map[string]bool) bool {
	owners := m.owners.At(s.path())
	for _, o := range owners {
		if !names[o.Manager] {
			return false
		}
	}
	return len(owners) > 0
}

// createdOnly: nobody but the object's creator and the applier own the value.
func (m *merger) createdOnly(s *spot) bool {
	owners := m.owners.At(s.path())
	for _, o := range owners {
		if !m.appliers[o.Manager] && o.Manager != m.owners.Creator() {
			return false
		}
	}
	return len(owners) > 0
}

// covers: every value that l states equals v's at the same place, and v has
// nothing that o had and l dropped. Lists have one length where exact is set;
// otherwise v's may go on where l's ends.
func covers(t *Type, l any, o Opt, v any, exact bool) bool {
	switch l := l.(type) {
	case map[string]any:
		vm, ok := v.(map[string]any)
		if !ok {
			return false
		}
		om, _ := o.Value.(map[string]any)
		for k, lv := range l {
			ov, ook := om[k]
			vv, vok := vm[k]
			f := t.Field(k)
			if !coversField(f, Opt{lv, true}, Opt{ov, ook}, Opt{vv, vok}, exact) {
				return false
			}
		}
		for k, ov := range om {
			if _, stated := l[k]; !stated && ov != nil && vm[k] != nil {
				return false
			}
		}
		return true
	case []any:
		vl, ok := v.([]any)
		if !ok || len(l) > len(vl) || exact && len(l) != len(vl) {
			return false
		}
		ol, _ := o.Value.([]any)
		for i := range l {
			var oe Opt
			if len(ol) == len(l) {
				oe = Some(ol[i])
			}
			if !covers(t.EntryType(), l[i], oe, vl[i], exact) {
				return false
			}
		}
		return true
	}
	return Equal(l, v, t)
}

func coversField(f Field, l, o, v Opt, exact bool) bool {
	if equalOpt(l, v, f) {
		return true
	}
	l, o = denull(l), denull(o)
	if !l.Set || !v.Set {
		return !l.Set && !o.Set || f.ZeroIsAbsent && l.Set && isZero(l.Value, f.Type)
	}
	if f.ZeroIsAbsent && isScalar(l.Value) && isZero(l.Value, f.Type) {
		_, text := l.Value.(string)
		return text // "" asks for the default
	}
	return covers(f.Type, l.Value, o, v.Value, exact)
}
