package merge

import "slices"

// leaf merges a value that is not split, present in local and live.
//
// Unlike kubectl: an atomic map is such a value (kubectl mixes two managers' selectors),
// and a value that the server stores alike is no change.
func (m *merger) leaf(s *cursor, o, l, v Opt) (Opt, bool) {
	stated := l
	if !m.policy.Literal {
		l.Value = stripNulls(l.Value, s.field.Type) // a map against something else is one value too
	}
	if equalOpt(l, v, s.field) || s.field.Allocated && isZero(l.Value, s.field.Type) {
		m.because(s, because{v, LiveSide, CauseSame, o, l, v})
		return v, false
	}
	if m.filled(ofWanted, s, l, v) {
		m.because(s, because{v, LiveSide, CauseServer, o, l, v})
		return v, false
	}
	if !m.policy.Literal && !IsScalar(l.Value) {
		o.Value, l.Value = Respelled(s.field, o.Value, v.Value), Respelled(s.field, l.Value, v.Value)
	}
	if r, changed, ok := m.mergeText(s, o, l, v); ok {
		return r, changed
	}
	if m.additions(s, o, stated, v) {
		m.because(s, because{v, LiveSide, CauseFixed, o, l, v})
		return v, false
	}
	kind := m.kind(s, o, l)
	moved, owner := m.moved(s, o, v)
	if recorded := !m.unknown(s, o) || len(m.ownersAt(s.path())) > 0; !moved && recorded { // what was applied, or its writer
		if !m.withheld(s) {
			m.doubt(s, o, l, v)
			if kind == Drift && !m.triple.Applied && m.appliersAlone(s) { // admission has made it of what was applied
				made := Disagreement{Kind: kind, Path: s.path(), Original: m.recorded(o), Local: l, Live: v, Winner: LocalSide}
				made.Owner = m.owner(made.Path, m.appliersOwn)
				m.plan.Settled = append(m.plan.Settled, made)
			}
			if len(m.triple.Writers) > 0 {
				m.overwritten(Disagreement{Kind: Update, Path: s.path(), Original: m.recorded(o), Local: l, Live: v, Winner: LocalSide})
			}
			m.because(s, because{l, LocalSide, CauseLocal, o, l, v})
			return l, true
		}
		kind = Update
	}
	return m.settle(s, Disagreement{Kind: kind, Original: o, Local: l, Live: v, Owner: owner})
}

// Respelled returns a map or list with the scalars that live has in another spelling, such as quantities, as live
// has them: they are no change. Entries of lists are compared in order, from the start and then from the end.
func Respelled(f Field, v, live any) any {
	switch is := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(is))
		for name, e := range is {
			out[name] = Respelled(f.Type.Field(name), e, At[map[string]any](live)[name])
		}
		return out
	case []any:
		stored, _ := live.([]any)
		out, moved, entry := slices.Clone(is), 0, Field{Type: f.Type.EntryType()}
		for i, e := range is {
			if i == len(stored) || i < len(stored) && moved == 0 && !Equal(e, stored[i], entry.Type) {
				moved = len(stored) - len(is)
			}
			if j := i + moved; j >= 0 && j < len(stored) {
				out[i] = Respelled(entry, e, stored[j])
			}
		}
		return out
	}
	if v != nil && live != nil && equalOpt(Some(v), Some(live), f) {
		return live
	}
	return v
}

// kind returns the kind of a disagreement on a value that local states.
func (m *merger) kind(s *cursor, o, l Opt) DisagreementKind {
	if o.Set && !m.unknown(s, o) && equalOpt(o, l, s.field) {
		return Drift
	}
	return Both
}

// withheld reports whether a rule of the user or the policy holds back a change that only
// local has made. An object that is created is local's as a whole.
func (m *merger) withheld(s *cursor) bool { return s.keepsLive() || m.withholds(s) }

// withholds reports whether it is the policy that does so, where no rule holds.
func (m *merger) withholds(s *cursor) bool {
	return s.rule == nil && s.up != nil && m.policy.Update != TakeLocal
}

// keepsLive reports whether a rule of the user gives the value to live, whatever local states.
func (s *cursor) keepsLive() bool { return s.rule != nil && s.rule.Always && s.rule.Choice == TakeLive }

// choice returns what rule or policy decide about a kind of disagreement.
func (m *merger) choice(s *cursor, k DisagreementKind) Choice {
	if s.rule != nil {
		return s.rule.Choice
	}
	return m.policy.choice(k)
}

// settle lets rule and policy decide a disagreement on one value.
func (m *merger) settle(s *cursor, d Disagreement) (Opt, bool) {
	return m.settleAs(s, d, some(d.Local.Value))
}

// settleAs is settle where a winning local value is written as won, for example without its nulls.
func (m *merger) settleAs(s *cursor, d Disagreement, won Opt) (Opt, bool) {
	r, winner := m.decide(s, d, won)
	m.because(s, because{r, winner, CausePolicy, d.Original, d.Local, d.Live})
	return r, winner == LocalSide || winner == OriginalSide
}

// decide lets rule and policy choose a side, and records the choice. Live's value stays
// where no side wins.
func (m *merger) decide(s *cursor, d Disagreement, won Opt) (r Opt, winner Side) {
	choice := m.choice(s, d.Kind)
	if s.rule != nil {
		d.Rule = s.rule.Name
	}
	if d.Original = m.recorded(d.Original); m.triple.Blanked && choice == TakeOriginal && d.Original.Set && d.Original.Value == nil {
		choice = LeaveConflict
	}
	d.Path = s.path()
	r = d.Live
	switch choice {
	case TakeLocal:
		d.Winner, r = LocalSide, won
	case TakeLive:
		d.Winner = LiveSide
	case TakeOriginal:
		d.Winner, r = OriginalSide, d.Original
	}
	if d.Winner == Nobody {
		m.plan.Conflicts = append(m.plan.Conflicts, d)
	} else {
		m.plan.Settled = append(m.plan.Settled, d)
	}
	return r, d.Winner
}

// added merges what local states and live lacks. Where original had it, it was deleted
// since, which is a disagreement like any other.
//
// Unlike kubectl: it puts the value back and reports nothing.
func (m *merger) added(s *cursor, o, l, raw Opt) (Opt, bool) {
	clean := Some(stripNulls(l.Value, s.field.Type))
	if (s.field.ZeroIsAbsent || s.field.Allocated) && isZero(clean.Value, s.field.Type) {
		m.because(s, because{raw, LiveSide, CauseSame, o, l, Opt{}})
		return m.absentOr(raw, Opt{})
	}
	switch {
	case m.consumed(s, o, l):
		m.because(s, because{raw, LiveSide, CauseFixed, o, l, Opt{}})
		return m.absentOr(raw, Opt{})
	case s.held:
		return m.absentOr(raw, Opt{})
	case !m.deleted(s, o) && m.withholds(s):
		return m.readded(s, Disagreement{Kind: Update, Original: o, Local: clean}, clean, raw)
	case !m.deleted(s, o):
		m.doubt(s, o, l, Opt{})
		m.localOnly(s, o, l, clean)
		return clean, true
	}
	kind := m.kind(s, o, l)
	if kind == Both && m.splits(s, Drift) {
		if om, lm, ok := bothMaps(s.field.Type, o, l); ok {
			r, _ := m.mergeObject(s, om, lm, keysOnly(s, lm))
			return Some(r), true
		}
	}
	return m.readded(s, Disagreement{Kind: kind, Original: o, Local: clean}, clean, raw)
}

// deleted reports whether a manager has removed what original had. None has where the
// server does not store the value: a field that its schema lacks, an empty value, or one
// that is still recorded as the applier's. The losing variant of a one-of is reported where
// live's variant is.
func (m *merger) deleted(s *cursor, o Opt) bool {
	if !o.Set || s.excluded {
		return false
	}
	if m.policy.Literal || m.policy.ClearNulls {
		return true
	}
	if up := s.up; up != nil && s.here.list == nil && s.entry {
		if t := up.field.Type; t != nil && t.Kind == Object && !t.Open {
			return false
		}
	}
	return !equalOpt(Some(stripNulls(o.Value, s.field.Type)), Opt{}, s.field) && (!m.appliersAlone(s) || m.emptied(s, o))
}

// emptied reports whether a map that live lacks is recorded, and none of the entries that original had is: they
// were removed, and what is left of the map is no configuration (the last-applied annotation).
func (m *merger) emptied(s *cursor, o Opt) bool {
	was, isMap := o.Value.(map[string]any)
	if t := s.field.Type; t == nil || t.Kind != Map || t.Atomic {
		return false // recorded as one value, whatever was in it
	}
	for name := range was {
		if c := s.to(hop{name: name}); len(m.ownersAt(c.path())) > 0 {
			return false
		}
	}
	return isMap && len(was) > 0
}

// readded settles the disagreement over a value that live no longer has; see settleAs.
func (m *merger) readded(s *cursor, d Disagreement, won, raw Opt) (Opt, bool) {
	if r, changed := m.settleAs(s, d, won); changed {
		return r, true
	}
	return m.absentOr(raw, Opt{})
}

// splits reports whether the policy decides differently for parts of a value that live
// lacks. Only what changed between original and local is then put back (kustomize merge3:
// "add the delta").
func (m *merger) splits(s *cursor, k DisagreementKind) bool {
	return s.rule == nil && m.policy.choice(k) == TakeLive && m.policy.choice(Both) == TakeLocal
}

// keysOnly returns the keys of an entry of a keyed list, since a delta that becomes an entry needs its identity.
func keysOnly(s *cursor, l map[string]any) map[string]any {
	keys := map[string]any{}
	if s.here.list == nil {
		return keys
	}
	for _, k := range s.here.list.Keys {
		if v, ok := l[k.Name]; ok {
			keys[k.Name] = v
		}
	}
	return keys
}

// localOnly explains values that live does not have.
func (m *merger) localOnly(s *cursor, o, l, clean Opt) {
	if !m.explain {
		return
	}
	t := s.field.Type
	cm, split := clean.Value.(map[string]any)
	if !split || len(cm) == 0 || s.here.list != nil || t != nil && t.Atomic {
		m.because(s, because{clean, LocalSide, CauseLocal, o, l, Opt{}})
		return
	}
	om, lm := At[map[string]any](o.Value), At[map[string]any](l.Value)
	for _, name := range sortedKeys(cm) {
		c := m.below(s, hop{name: name})
		m.localOnly(c, key(om, name), Some(lm[name]), Some(cm[name]))
		m.leave()
	}
}

// liveOnly explains values that neither local nor original has.
func (m *merger) liveOnly(s *cursor, v Opt) {
	if !m.explain || !v.Set {
		return
	}
	t := s.field.Type
	if mv, ok := v.Value.(map[string]any); ok && len(mv) > 0 && !(t != nil && t.Atomic) {
		for _, name := range sortedKeys(mv) {
			c := m.below(s, hop{name: name})
			m.liveOnly(c, some(mv[name]))
			m.leave()
		}
		return
	}
	m.because(s, because{v, LiveSide, CauseLive, Opt{}, Opt{}, v})
}

// mergeText merges two texts by their lines, where the policy has a rule for it and original has
// a text too; ok is false for anything else. Lines that only one side has changed are taken
// from that side, without a disagreement. Policy and rules decide about lines that both
// have changed.
//
// Rules: docs/semantics.md#which-side-wins.
func (m *merger) mergeText(s *cursor, o, l, v Opt) (r Opt, changed, ok bool) {
	if len(m.policy.Texts) == 0 || m.withheld(s) || m.unknown(s, o) {
		return Opt{}, false, false
	}
	base, isText := o.Value.(string)
	local, isLocal := l.Value.(string)
	live, isLive := v.Value.(string)
	rule := m.textRule(s)
	if !isText || !isLocal || !isLive || rule == nil {
		return Opt{}, false, false
	}
	localWins, liveWins, clean := rule.Merge(base, local, live)
	if clean {
		from := LocalSide
		if localWins == live {
			from = LiveSide
		}
		r = Some(localWins)
		m.because(s, because{r, from, CauseLines, o, l, v})
		return r, localWins != live, true
	}
	d := Disagreement{Kind: Both, Original: o, Local: Some(localWins), Live: Some(liveWins), Text: rule.Name}
	_, d.Owner = m.moved(s, o, v)
	r, winner := m.decide(s, d, d.Local)
	if winner == Nobody {
		r = v
	}
	m.because(s, because{r, winner, CausePolicy, o, l, v})
	return r, r.Value != live, true
}

// textRule returns the rule for the text at s; nil where there is none.
func (m *merger) textRule(s *cursor) *TextRule {
	p := s.path()
	if i := slices.IndexFunc(m.policy.Texts, func(r TextRule) bool { return r.Match(p) }); i >= 0 {
		return &m.policy.Texts[i]
	}
	return nil
}
