package merge

import "maps"

// dropped merges what original had and local no longer has, and live still does.
//
// A scalar, an atomic value and an entry of a map or list are removed as a whole. Of a map,
// set or keyed list, the entries of original are removed, and those that only live has
// stay. Of a declared object the same holds for the maps and lists inside it. Everything
// else in it is removed, server defaults too.
//
// Where the policy drops by key, every object is treated as a map.
//
// Unlike kubectl: it sends null for the branch and so removes the entries of all managers.
func (m *merger) dropped(s *cursor, o, v, raw Opt) (Opt, bool) {
	t := s.field.Type
	if s.isDefaultKey(v) {
		return raw, false
	}
	// Others' entries of a list stay by themselves, whatever the server would fill in.
	if cause := m.comesBack(s, Opt{}, v); cause != 0 && !(cause == CauseServer && isList(t) && m.foreign(s.path()) != nil) {
		m.because(s, because{v, LiveSide, cause, o, Opt{}, v})
		return raw, false
	}
	if m.withheldEmpty(s, v) {
		return m.droppedUnit(s, o, v, Opt{})
	}
	switch vv := v.Value.(type) {
	case map[string]any:
		switch {
		case m.policy.ByKey && s.here.list == nil && (t == nil || !t.Atomic):
			return m.droppedEntries(s, At[map[string]any](o.Value), vv)
		case s.entry || t != nil && (t.Atomic || t.Kind != Unknown && t.Kind != Object && t.Kind != Map):
		case t != nil && t.Kind == Object:
			return m.droppedUnit(s, o, v, m.ruled(s, v, leftOf(t, o.Value, vv)))
		default:
			return m.droppedEntries(s, At[map[string]any](o.Value), vv)
		}
	case []any:
		if !s.entry && isList(t) {
			r, changed := m.list(s, At[[]any](o.Value), nil, v)
			return emptied(r, changed || len(vv) == 0)
		}
	}
	return m.droppedUnit(s, o, v, Opt{})
}

// isDefaultKey reports whether the value is the default of a key of the list entry that
// contains it. Omitting it and writing it give the same identity.
func (s *cursor) isDefaultKey(v Opt) bool {
	if s.up == nil || s.up.here.list == nil {
		return false
	}
	for _, k := range s.up.here.list.Keys {
		if k.Name == s.here.name && k.Default != nil {
			return Equal(v.Value, k.Default, s.field.Type)
		}
	}
	return false
}

// droppedUnit removes v as one value, except for left.
func (m *merger) droppedUnit(s *cursor, o, v, left Opt) (Opt, bool) {
	if left.Set {
		return m.droppedParts(s, because{left, LocalSide, CauseDropped, o, Opt{}, v})
	}
	return m.removed(s, CauseDropped, Disagreement{Original: o, Live: v})
}

// removed removes live's value as one. If live has changed it since, that is a disagreement.
func (m *merger) removed(s *cursor, cause Cause, d Disagreement) (Opt, bool) {
	moved, owner := m.movedInside(s, d.Original, d.Live)
	switch {
	case moved:
		d.Kind, d.Owner = Dropped, owner
	case m.withheld(s):
		d.Kind, d.Owner = Update, m.foreign(s.path())
	default:
		m.reportRemoved(s, cause, d.Original, d.Live)
		return Opt{}, true
	}
	return m.settle(s, d)
}

// ruled adds to what is left of a declared object those of its fields that a user's rule
// gives to live.
func (m *merger) ruled(s *cursor, live, left Opt) Opt {
	v, isMap := live.Value.(map[string]any)
	t := s.field.Type
	if len(m.policy.Rules) == 0 || s.keepsLive() || !isMap || t == nil || t.Kind != Object || t.Atomic {
		return left
	}
	kept, _ := left.Value.(map[string]any)
	for _, name := range sortedKeys(v) {
		if _, declared := t.Fields[name]; !declared || v[name] == nil {
			continue
		}
		part := key(kept, name)
		c := m.below(s, hop{name: name})
		if c.keepsLive() {
			part = Some(v[name])
		} else {
			part = m.ruled(c, Some(v[name]), part)
		}
		if m.leave(); part.Set {
			kept = With(kept, part.Value, name)
		}
	}
	return Opt{Value: kept, Set: len(kept) > 0}
}

// droppedParts removes all of live's value except what is left of it, the result. Each part
// is reported separately. Where another manager has changed or claims a part, and the policy
// does not give it to local, all of it stays.
func (m *merger) droppedParts(s *cursor, b because) (Opt, bool) {
	o, v := b.original, b.liv
	parts := entryByEntry(Diff(v.Value, b.result.Value, s.field.Type), s.field.Type)
	var moved []Disagreement
	var quiet []Removal
	base, original := s.path(), NewFinder(o.Value, s.field.Type)
	for _, c := range parts {
		full := append(base[:len(base):len(base)], c.Path...)
		owner := m.foreign(full)
		was, had := original.Lookup(c.Path)
		t := s.field.Type.At(c.Path)
		if m.claimed(s, c.Path) == nil && (had && Equal(was, c.Old.Value, t) || m.owners != nil && owner == nil || m.owners == nil && !had) {
			cause := b.cause
			if !had && cause == CauseDropped {
				cause = CauseInside
			}
			quiet = append(quiet, m.removal(full, had && stillThere(was, c.Old.Value, t), Removal{Value: c.Old.Value, Cause: cause}))
			continue
		}
		d := Disagreement{Kind: Dropped, Path: full, Original: m.recorded(Opt{was, had}), Live: c.Old, Owner: owner, Winner: LocalSide}
		if s.rule != nil {
			d.Rule = s.rule.Name
		}
		moved = append(moved, d)
	}
	if len(moved) > 0 && m.choice(s, Dropped) != TakeLocal {
		return m.settle(s, Disagreement{Kind: Dropped, Original: o, Live: v, Owner: moved[0].Owner})
	}
	if len(quiet) > 0 && m.withholds(s) {
		return m.settle(s, Disagreement{Kind: Update, Original: o, Live: v, Owner: quiet[0].Owner})
	}
	m.plan.Settled = append(m.plan.Settled, moved...)
	m.plan.Removed = append(m.plan.Removed, quiet...)
	m.because(s, b)
	return b.result, true
}

// entryByEntry splits changes to lists with repeated keys, which a diff gives as a whole,
// into the entries that are removed.
func entryByEntry(parts []Change, t *Type) (out []Change) {
	for _, c := range parts {
		is, ok := c.New.Value.([]any)
		at := t.At(c.Path)
		if c.Op != OpSet || !ok || !isList(at) {
			out = append(out, c)
			continue
		}
		steps, entries := Spare(at, At[[]any](c.Old.Value), is)
		for i, s := range steps {
			out = append(out, Change{Op: OpRemove, Path: c.Path.Child(s), Old: Some(entries[i])})
		}
	}
	return out
}

// droppedEntries removes the keys that original had, each reported separately.
func (m *merger) droppedEntries(s *cursor, o, v map[string]any) (Opt, bool) {
	out := edited{fields: v}
	names := m.names(nil, o, v)
	defer m.forget(names)
	for _, name := range names {
		c := m.below(s, hop{name: name})
		c.entry = true
		was, is := key(o, name), key(v, name)
		r, ch := m.mergeValue(c, was, Opt{}, is)
		if null := (Opt{Set: true}); was == null && is == null { // merged, it counts as absent
			r, ch = Opt{}, true
		}
		if m.leave(); ch {
			out.put(name, r)
		}
	}
	return emptied(Some(out.fields), out.changed || len(v) == 0)
}

// withheldEmpty reports whether the map or list is withheld, without entries for the policy to decide about.
func (m *merger) withheldEmpty(s *cursor, v Opt) bool {
	return equalOpt(v, Opt{}, Field{ZeroIsAbsent: true}) && m.withheld(s)
}

// emptied removes a map or list of which nothing is left.
func emptied(r Opt, changed bool) (Opt, bool) {
	if changed && isZero(r.Value, nil) {
		return Opt{}, true
	}
	return r, changed
}

// leftOf returns what is left of v when the value o in it is dropped: entries of maps, sets
// and keyed lists that o does not have. Nothing is left of an object that would lack a required field.
func leftOf(t *Type, o, v any) Opt {
	switch v := v.(type) {
	case map[string]any:
		if t != nil && (t.Atomic || isList(t)) {
			return Opt{}
		}
		om, out, defaults := At[map[string]any](o), map[string]any{}, map[string]any{}
		for name, vv := range v {
			ov := om[name]
			f, entry := childOf(t, name)
			if entry {
				if ov == nil && vv != nil {
					out[name] = vv
				}
				continue
			}
			if left := leftOf(f.Type, ov, vv); left.Set {
				out[name] = left.Value
			} else if f.Default != nil && Equal(vv, Complete(f.Default, f.Type, true), f.Type) {
				defaults[name] = vv
			} else if f.Required && f.Default == nil {
				return Opt{}
			}
		}
		if len(out) > 0 { // the server would fill them in again
			maps.Copy(out, defaults)
		}
		return Opt{Value: out, Set: len(out) > 0}
	case []any:
		if !isList(t) {
			return Opt{}
		}
		p := pairUp(t, At[[]any](o), nil, v)
		var out []any
		for j, e := range v {
			if p.dropped[j] < 0 {
				out = append(out, e)
			}
		}
		return Opt{Value: out, Set: len(out) > 0}
	}
	return Opt{}
}

// disputed reports whether local states null, original had no value either, and the policy does not let
// local win then. This applies only to files: in a cluster null always asks for the default.
//
// Rules: docs/files.md.
func (m *merger) disputed(s *cursor, was Opt) bool {
	return m.policy.Literal && !m.policy.ClearNulls && was.Value == nil && m.choice(s, nullKind(was)) != TakeLocal
}

// nullKind returns the kind of a disagreement over null; where original had null too, local has changed nothing.
func nullKind(was Opt) DisagreementKind {
	if was.Set {
		return Drift
	}
	return Both
}

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
	t := s.field.Type
	entries := s.entry || t != nil && t.Kind == Map && !t.Atomic && s.field.Default == nil // each of them is asked about
	switch null := l.Set && l.Value == nil; {
	case l.Set != null || entries && !null:
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
