package merge

import "maps"

// Accounting states how Account explains a result, and which side wins where local and live
// disagree.
type Accounting struct {
	Type    *Type // nil is Unknown
	Policy  Policy
	Explain bool // fill Plan.Because
}

// Account makes the plan of a merge whose result another strategy has computed. Every
// difference between live and wanted is the strategy's write. For each, Account
// finds the cause and whether local and live disagree about it. The user's rules and the
// policy settle the disagreements as in Three; in Plan.Result live keeps the values that
// they give to live. Under the policy "apply" and without rules, Result is wanted,
// unchanged.
//
// wanted is the merged object, in which local has won everything; t holds the sides it was
// made of. Nothing is modified.
//
// Rules: docs/semantics.md#which-side-wins.
func Account(t Triple, wanted any, a Accounting) Plan {
	m := newMerger(t, a.Type, a.Policy, a.Explain)
	m.sides[ofWanted] = root(func() any { return wanted })
	root := cursor{field: Field{Type: a.Type}}
	sides := four{o: Some(t.Original), l: some(t.Local), v: Some(t.Live), want: Some(wanted)}
	result, changed := m.account(&root, sides, CauseReplaced)
	return m.planned(t.Live, result.Value, changed, a.Type)
}

// four holds the three sides of a value, and what the strategy made of them.
type four struct{ o, l, v, want Opt }

// account settles one value. alone is the cause of its removal if only live has it. It
// returns live's own value and false where nothing changes.
func (m *merger) account(s *cursor, x four, alone Cause) (Opt, bool) {
	raw := x.v
	x.o, x.v = some(x.o.Value), some(x.v.Value)
	switch {
	case x.l.Set && m.unstored(s):
		m.because(s, because{x.v, LiveSide, CauseUnstored, x.o, x.l, x.v})
		return m.absentOr(raw, x.v)
	case !x.v.Set && (!x.want.Set || raw.Set && x.want.Value == nil):
		if x.l.Set {
			m.because(s, because{Opt{}, LocalSide, absence(x.l), x.o, x.l, Opt{}})
		}
		if m.withheld(s) {
			return m.absentOr(raw, Opt{})
		}
		return x.want, raw.Set != x.want.Set
	case !x.v.Set:
		return m.accountAdded(s, x, raw)
	case !x.want.Set:
		return m.accountRemoved(s, x, alone)
	case !m.explain && shared(x.v.Value, x.want.Value):
		return x.v, false
	}
	t := s.field.Type
	switch v := x.v.Value.(type) {
	case map[string]any:
		if w, ok := x.want.Value.(map[string]any); ok && (t == nil || !t.Atomic && !isList(t)) && len(v)+len(w) > 0 {
			return m.accountMap(s, x, CauseReplaced)
		}
	case []any:
		if w, ok := x.want.Value.([]any); ok && isList(t) && len(v)+len(w) > 0 {
			return m.accountList(s, x, CauseReplaced)
		}
	}
	return m.accountValue(s, x)
}

// absence returns the cause by which a value that local names is absent.
func absence(l Opt) Cause {
	if l.Value == nil {
		return CauseNull
	}
	return CauseStrategy
}

// accountMap settles a map key by key. A nil wanted map removes all keys.
func (m *merger) accountMap(s *cursor, x four, alone Cause) (Opt, bool) {
	o, l := At[map[string]any](x.o.Value), At[map[string]any](x.l.Value)
	v, want := At[map[string]any](x.v.Value), At[map[string]any](x.want.Value)
	res := edited{fields: v}
	var settled map[string]bool
	if t := s.field.Type; t != nil && len(t.OneOf) > 0 {
		excluded := without(v, want)
		if m.policy.choice(Both) != TakeLocal {
			excluded = v // a policy or rule may let live keep a variant that the strategy leaves beside local's
		}
		settled = m.oneOf(s, objects{o, l, excluded}, res.put)
	}
	names := m.names(v, want, l)
	defer m.forget(names)
	for _, name := range names {
		if settled[name] {
			continue
		}
		r, changed := m.account(m.member(s, name, objects{o, l, v}), four{key(o, name), key(l, name), key(v, name), key(want, name)}, alone)
		if m.leave(); changed {
			res.put(name, r)
		}
	}
	return Some(res.fields), res.changed
}

func key(m map[string]any, name string) Opt {
	v, ok := m[name]
	return Opt{v, ok}
}

// without returns v without the keys of other.
func without(v, other map[string]any) map[string]any {
	out := maps.Clone(v)
	maps.DeleteFunc(out, func(k string, _ any) bool { return key(other, k).Set })
	return out
}

// accountList settles a list entry by entry. A nil wanted list removes all entries.
func (m *merger) accountList(s *cursor, x four, alone Cause) (Opt, bool) {
	t := s.field.Type
	o, l := At[[]any](x.o.Value), At[[]any](x.l.Value)
	v, want := At[[]any](x.v.Value), At[[]any](x.want.Value)
	p, stated := pairUp(t, o, want, v), pairUp(t, nil, want, l)
	changed := false
	account := func(here hop, e four) Opt {
		c := m.below(s, here)
		if p.repeats(Identity(t, here.entry)) {
			c.twin = twin(e.o, e.l, func() Opt { return e.want })
		}
		r, ch := m.account(c, e, alone)
		m.leave()
		changed = changed || ch
		return r
	}
	merged, stays := make([]Opt, len(want)), make([]Opt, len(v))
	for i, e := range want {
		here := hop{list: t, entry: e, nth: p.l.nth(i)}
		merged[i] = account(here, four{pick(o, p.original[i]), pick(l, stated.live[i]), pick(v, p.live[i]), Some(e)})
	}
	for j, e := range v {
		if !p.taken[j] {
			here := hop{list: t, entry: e, nth: p.v.nth(j)}
			stays[j] = account(here, four{o: pick(o, p.dropped[j]), l: pick(l, stated.spare(p.v.ids[j])), v: Some(e)})
		}
	}
	order := m.order(s, p, want, merged, stays)
	if !changed && p.follows(order) {
		return x.v, false
	}
	return Some(inOrderOf(order, merged, stays)), true
}

// spare returns the place of an entry of live with that identity that has no partner, or -1.
func (p *pairing) spare(id string) int {
	for _, j := range p.v.all(id) {
		if !p.taken[j] {
			return j
		}
	}
	return -1
}

// accountValue settles a value that is not split, present in live and wanted.
func (m *merger) accountValue(s *cursor, x four) (Opt, bool) {
	if Equal(x.v.Value, x.want.Value, s.field.Type) {
		m.unchanged(s, x)
		return x.v, false
	}
	if !x.l.Set {
		return m.droppedParts(s, because{x.want, LocalSide, CauseStrategy, x.o, Opt{}, x.v})
	}
	l := x.l
	if l.Value == nil {
		l = x.want // the strategy reads a null as a value
	}
	stated := Opt{stripNulls(l.Value, s.field.Type), true}
	alike := equalOpt(stated, x.v, s.field) || m.filled(ofWanted, s, stated, x.v)
	if alike && m.filled(ofWanted, s, x.want, x.v) {
		m.unchanged(s, x)
		return x.v, false
	}
	if s.field.Allocated && isZero(x.want.Value, s.field.Type) {
		alike = false // the server would overwrite what it allocated, though "" asks for no value
	}
	if r, changed, ok := m.mergeText(s, x.o, x.l, x.v); ok && !alike {
		return r, changed
	}
	moved, owner := m.moved(s, x.o, x.v)
	if !moved && isList(s.field.Type) {
		moved, owner = m.movedInside(s, x.o, x.v)
	}
	if !m.withheld(s) && (alike || !moved) {
		cause := CauseLocal
		if alike {
			cause = CauseSame
		}
		m.because(s, because{x.want, LocalSide, cause, x.o, x.l, x.v})
		return x.want, true
	}
	d := Disagreement{Kind: m.kind(s, x.o, stated), Original: x.o, Local: l, Live: x.v, Owner: owner}
	if !moved {
		d.Kind = Update
	}
	return m.settleAs(s, d, x.want)
}

// unchanged explains a value that stays as live has it.
func (m *merger) unchanged(s *cursor, x four) {
	cause := CauseStrategy
	switch {
	case x.l.Set && equalOpt(x.l, x.v, s.field):
		cause = CauseSame
	case !x.l.Set && !x.o.Set:
		cause = CauseLive
	}
	m.because(s, because{x.v, LiveSide, cause, x.o, x.l, x.v})
}

// accountAdded settles a value that live lacks.
func (m *merger) accountAdded(s *cursor, x four, raw Opt) (Opt, bool) {
	if x.l.Value == nil {
		if m.withholds(s) {
			return m.absentOr(raw, Opt{})
		}
		m.because(s, because{x.want, LocalSide, CauseStrategy, x.o, x.l, Opt{}})
		return x.want, true
	}
	switch {
	case s.held:
		return m.absentOr(raw, Opt{})
	case !raw.Set && m.completes() && s.field.ZeroIsAbsent && isZero(x.want.Value, s.field.Type):
		m.because(s, because{raw, LiveSide, CauseSame, x.o, x.l, Opt{}})
		return m.absentOr(raw, Opt{})
	case m.withholds(s) && !m.deleted(s, x.o):
		return m.readded(s, Disagreement{Kind: Update, Original: x.o, Local: x.l}, x.want, raw)
	case !m.deleted(s, x.o) || equalOpt(x.l, Opt{}, s.field):
		m.doubt(s, x.o, x.l, Opt{})
		m.localOnly(s, x.o, x.l, x.want)
		return x.want, true
	}
	return m.readded(s, Disagreement{Kind: m.kind(s, x.o, x.l), Original: x.o, Local: x.l}, x.want, raw)
}

// accountRemoved settles a value that the strategy removes. Maps and lists that local no
// longer states are settled part by part, since another manager may own their entries. An
// entry, a declared object and what local sets to null are one value.
func (m *merger) accountRemoved(s *cursor, x four, alone Cause) (Opt, bool) {
	if cause := m.comesBack(s, x.l, x.v); cause != 0 {
		m.because(s, because{x.v, LiveSide, cause, x.o, x.l, x.v})
		return x.v, false
	}
	why := alone
	switch {
	case x.l.Set:
		why = absence(x.l)
	case x.o.Set:
		why = CauseDropped
	}
	if why == CauseDropped && !s.entry && !s.keepsLive() && !m.withheldEmpty(s, x.v) {
		t := s.field.Type
		switch v := x.v.Value.(type) {
		case map[string]any:
			if t == nil || !t.Atomic && (t.Kind == Unknown || t.Kind == Map) {
				r, changed := m.accountMap(s, x, CauseInside)
				return emptied(r, changed || len(v) == 0)
			}
		case []any:
			if isList(t) {
				r, changed := m.accountList(s, x, CauseInside)
				return emptied(r, changed || len(v) == 0)
			}
		}
	}
	return m.accountUnit(s, x, why)
}

// accountUnit removes a value as one. An entry that only live has counts as another manager's; a
// field does so only where managedFields show an owner, since it may be a default.
func (m *merger) accountUnit(s *cursor, x four, why Cause) (Opt, bool) {
	if left := m.ruled(s, x.v, Opt{}); left.Set {
		return m.droppedParts(s, because{left, LocalSide, why, x.o, Opt{}, x.v})
	}
	d := Disagreement{Kind: Dropped, Original: x.o, Live: x.v}
	if x.l.Value == nil {
		d.Local = x.l
	}
	if m.owners == nil && !x.o.Set && s.entry {
		return m.settle(s, d)
	}
	return m.removed(s, why, d)
}
