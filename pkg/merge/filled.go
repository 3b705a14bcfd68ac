package merge

// completed is a side as the server completes it, worked out when it is first asked for.
type completed struct {
	side func() any
	done bool
	v    any
}

func (c *completed) value(t *Type) any {
	if !c.done {
		c.v, c.done = Complete(c.side(), t, true), true
	}
	return c.v
}

// completes: a server has filled live in, and what it fills in is known.
func (m *merger) completes() bool {
	return !m.local && m.typ != nil && !m.policy.Literal && !m.policy.ClearNulls
}

// localWins is the result of a merge in which local always wins: what the server would
// be asked to store, before it fills anything in.
func (m *merger) localWins() any {
	t := m.triple
	t.Owners, t.Appliers = nil, nil
	plain := &merger{triple: t, typ: m.typ, blanked: t.Blanked, policy: Policies[0], local: true}
	result, _ := plain.value(&spot{field: Field{Type: m.typ}}, Some(t.Original), presence(t.Local), Some(t.Live))
	return result.Value
}

// filled: live's value is what the server makes of a, the value at this place of the side
// that was completed. It is computed, and nothing else is an argument that a difference
// is the server's: not who owns the value, nor that live says more, nor any time.
//
// Unlike kubectl: it sends such a value anew on every run and says "configured".
func (m *merger) filled(from *completed, s *spot, a, v Opt) bool {
	if !m.completes() || !v.Set || !s.fillable(a) {
		return false
	}
	c, found, unique := s.in(from.value(m.typ))
	switch {
	case unique:
	case a.Set: // which entry it is nobody can tell, so that it is completed by itself
		c, found = Complete(stripNulls(a.Value, s.field.Type), s.field.Type, true), true
	default:
		return false
	}
	return found && between(s.field, a, Some(c), v)
}

// in is what a side has at this place; unique is false where an entry on the way there
// shares its identity with others.
func (s *spot) in(side any) (v any, found, unique bool) {
	if s.up == nil {
		return side, true, true
	}
	above, found, unique := s.up.in(side)
	if !found || !unique {
		return nil, false, unique
	}
	list, isList := above.([]any)
	if s.here.list == nil || !isList {
		m, _ := above.(map[string]any)
		v, found = m[s.here.name]
		return v, found, true
	}
	id, n := identity(s.here.list, s.here.entry), 0
	for _, e := range list {
		if identity(s.here.list, e) == id {
			v, n = e, n+1
		}
	}
	return v, n > 0, n <= 1
}

// fillable: something may be filled into a value of this place. It is not into one that
// is stated and has no parts, nor where neither the field nor a type around it has a
// default.
func (s *spot) fillable(a Opt) bool {
	if a.Set && isScalar(a.Value) {
		return a.Value == nil || s.field.ZeroIsAbsent && isZero(a.Value, s.field.Type)
	}
	if a.Set || s.field.Default != nil || s.field.ZeroIsAbsent && s.field.Type != nil && s.field.Type.Kind == Object {
		return true
	}
	for up := s.up; up != nil; up = up.up {
		if t := up.field.Type; t != nil && len(t.Defaults) > 0 {
			return true
		}
	}
	return false
}

// between: each part of v is a's or, where a leaves it out, what a completed has; a server
// that does not know a default yet leaves it out as well.
func between(f Field, a, completed, v Opt) bool {
	if equalOpt(completed, v, f) || equalOpt(a, v, f) {
		return true
	}
	switch vv := v.Value.(type) {
	case map[string]any:
		am, aok := a.Value.(map[string]any)
		cm, cok := completed.Value.(map[string]any)
		return cok && (aok || !denull(a).Set) && betweenMaps(f.Type, am, cm, vv)
	case []any:
		al, aok := a.Value.([]any)
		cl, cok := completed.Value.([]any)
		if !cok || !aok || len(cl) != len(vv) || len(al) > len(vv) {
			return false
		}
		for i := range vv {
			if !between(Field{Type: f.Type.EntryType()}, pick(al, until(i, len(al))), Some(cl[i]), Some(vv[i])) {
				return false
			}
		}
		return true
	}
	return false
}

// until is i, or -1 where there are not so many.
func until(i, n int) int {
	if i < n {
		return i
	}
	return -1
}

func betweenMaps(t *Type, a, c, v map[string]any) bool {
	for _, side := range []map[string]any{c, v} {
		for name := range side {
			av, aok := a[name]
			cv, cok := c[name]
			vv, vok := v[name]
			if !between(t.Field(name), Opt{av, aok}, Opt{cv, cok}, Opt{vv, vok}) {
				return false
			}
		}
	}
	return true
}
