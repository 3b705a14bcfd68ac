package merge

import "sort"

// Three merges three ways: what local states wins, what original had and local
// has no more goes, what only live has stays, and where local and live disagree
// the policy decides. typ says how values are split; nil is RFC 7386 applied
// three ways. With explain set, Plan.Because is filled.
//
// Rules: SEMANTICS "The rules", "Removing a whole branch", "One-of" and "Who
// wins"; seed 004's merge tables. No input is modified; the order of map keys
// never shows in the plan.
func Three(t Triple, typ *Type, policy Policy, explain bool) Plan {
	m := newMerger(t, typ, policy, explain)
	root := spot{field: Field{Type: typ}}
	result, changed := m.value(&root, Some(t.Original), presence(t.Local), Some(t.Live))
	return m.planned(t.Live, result.Value, changed, typ)
}

func newMerger(t Triple, typ *Type, policy Policy, explain bool) *merger {
	m := &merger{triple: t, typ: typ, owners: t.Owners, blanked: t.Blanked, policy: policy, explain: explain}
	m.wanted = &completed{side: m.localWins}
	m.asked = &completed{side: func() any { return t.Local }}
	m.applied = &completed{side: func() any { return t.Original }}
	m.appliers = make(map[string]bool, len(t.Appliers))
	for _, a := range t.Appliers {
		m.appliers[a] = true
	}
	return m
}

// planned is the plan of the result; changed says whether it may differ from live.
func (m *merger) planned(live, result any, changed bool, typ *Type) Plan {
	m.plan.Result = result
	if changed {
		m.plan.Changes = Diff(live, result, typ)
	}
	m.sortTold()
	return m.plan
}

// presence: no local at all is no wish to remove the object.
func presence(local any) Opt { return Opt{Value: local, Set: local != nil} }

type merger struct {
	triple   Triple
	typ      *Type
	owners   Owners
	appliers map[string]bool
	blanked  bool
	policy   Policy
	explain  bool
	local    bool // local wins always, and nothing is completed
	plan     Plan

	// What the server makes of local beside what only live has, of local alone, and of
	// original.
	wanted, asked, applied *completed

	// Room that is used again and again: the spots from the top down to here, and
	// the names of the keys of each that are still to be looked at.
	spots   []*spot
	depth   int
	pending []string
}

// spot is where the merge stands: how it got there, what is known of the value,
// and which rule holds. Paths are spelled out only when something is told.
type spot struct {
	up    *spot
	here  hop
	field Field
	entry bool // an entry of a map or list: goes whole when dropped

	// Live lacks the value because it has another variant of a one-of; held: that
	// variant stays.
	excluded, held bool

	rule *Rule // the user's rule that holds here
}

// hop is one level down; it becomes a Step only when a path is spelled out.
type hop struct {
	name  string // a field or key
	list  *Type  // else: an entry of this list
	entry any
	nth   int
}

func (h hop) step() Step {
	if h.list == nil {
		return Named(h.name)
	}
	return stepOf(h.list, h.entry, h.nth)
}

func (s *spot) path() Path {
	n := 0
	for a := s; a.up != nil; a = a.up {
		n++
	}
	p := make(Path, n)
	for a := s; a.up != nil; a = a.up {
		n--
		p[n] = a.here.step()
	}
	return p
}

// below steps down to a field, key or entry, until leave is called.
func (m *merger) below(s *spot, here hop, f Field, entry bool) *spot {
	if m.depth == len(m.spots) {
		m.spots = append(m.spots, new(spot))
	}
	c := m.spots[m.depth]
	m.depth++
	*c = spot{up: s, here: here, field: f, entry: entry, rule: s.rule}
	if c.rule == nil && len(m.policy.Rules) > 0 {
		p := c.path()
		for i := range m.policy.Rules {
			if m.policy.Rules[i].Match(p) {
				c.rule = &m.policy.Rules[i]
				break
			}
		}
	}
	return c
}

// leave steps up again.
func (m *merger) leave() { m.depth-- }

// value merges one value. It returns live's own value and false where nothing
// changes.
func (m *merger) value(s *spot, o, l, v Opt) (Opt, bool) {
	raw, was := v, o
	o, v = denull(o), denull(v)
	if s.field.Allocated && !m.blanked && isZero(o.Value, s.field.Type) {
		o = Opt{} // it was left to the server then, and never ours
	}
	switch {
	case l.Set && l.Value == nil && v.Set && m.disputed(s, was):
		return m.settle(s, Disagreement{Kind: nullKind(was), Original: was, Local: l, Live: v})
	case l.Set && l.Value == nil:
		return m.gone(s, o, l, v, raw)
	case !l.Set && !o.Set:
		m.liveOnly(s, v)
		return m.absentOr(raw, v)
	case !l.Set && !v.Set:
		return m.absentOr(raw, v)
	case !l.Set:
		return m.dropped(s, o, v, raw)
	case !v.Set:
		return m.added(s, o, l, raw)
	}
	t := s.field.Type
	if t == nil || !t.Atomic && t.Kind != List && t.Kind != Scalar {
		switch lv := l.Value.(type) {
		case map[string]any:
			if vv, ok := v.Value.(map[string]any); ok && !isList(t) {
				om, _ := o.Value.(map[string]any)
				r, changed := m.object(s, om, lv, vv)
				return Some(r), changed
			}
		case []any:
			if vv, ok := v.Value.([]any); ok && isList(t) {
				ol, _ := o.Value.([]any)
				return m.list(s, ol, lv, vv, v)
			}
		}
	}
	return m.leaf(s, o, l, v)
}

// isList: a list that is merged entry by entry.
func isList(t *Type) bool { return t != nil && (t.Kind == Keyed || t.Kind == Set) }

// absentOr is live where nobody else says anything. A null stays as the server
// gave it, unless nulls are to be cleared.
func (m *merger) absentOr(raw, v Opt) (Opt, bool) {
	if v.Set || !raw.Set {
		return raw, false
	}
	if m.policy.ClearNulls {
		return Opt{}, true
	}
	return raw, false
}

// object merges an object's fields or a map's keys.
func (m *merger) object(s *spot, o, l, v map[string]any) (map[string]any, bool) {
	t := s.field.Type
	res := edited{fields: v}
	if t != nil && t.Mirrored != nil {
		o, l = mirrored(t, o, v), mirrored(t, l, v)
	}
	var settled map[string]bool
	if t != nil && len(t.OneOf) > 0 {
		settled = m.oneOf(s, o, l, v, res.put)
	}
	names := m.names(o, l, v)
	defer m.forget(names)
	for _, name := range names {
		if settled[name] {
			continue
		}
		lv, lok := l[name]
		ov, ook := o[name]
		vv, vok := v[name]
		r, ch := m.value(m.member(s, name, o, l, v), Opt{ov, ook}, Opt{lv, lok}, Opt{vv, vok})
		if m.leave(); ch {
			res.put(name, r)
		}
	}
	return res.fields, res.changed
}

// member steps down to a field or key of an object, until leave is called.
func (m *merger) member(s *spot, name string, o, l, v map[string]any) *spot {
	t := s.field.Type
	f, entry := childOf(t, name)
	c := m.below(s, hop{name: name}, f, entry)
	if t != nil && len(t.OneOf) > 0 && o[name] != nil && l[name] != nil && v[name] == nil {
		c.excluded, c.held = m.excluded(s, name, o, l, v)
	}
	return c
}

// edited is a map that is copied before its first change.
type edited struct {
	fields  map[string]any
	changed bool
}

func (e *edited) put(name string, v Opt) {
	if !e.changed {
		e.fields, e.changed = cloneMap(e.fields), true
	}
	if v.Set {
		e.fields[name] = v.Value
	} else {
		delete(e.fields, name)
	}
}

// names lists the keys that need a look: local's and original's, and live's only
// where everything is to be explained or nulls cleared. Their room is given back by
// forget.
func (m *merger) names(o, l, v map[string]any) []string {
	from := len(m.pending)
	for k := range l {
		m.pending = append(m.pending, k)
	}
	for k := range o {
		if _, ok := l[k]; !ok {
			m.pending = append(m.pending, k)
		}
	}
	if m.explain || m.policy.ClearNulls {
		for k := range v {
			_, inL := l[k]
			_, inO := o[k]
			if !inL && !inO {
				m.pending = append(m.pending, k)
			}
		}
	}
	return m.pending[from:]
}

// forget gives the room of the names last asked for back.
func (m *merger) forget(names []string) { m.pending = m.pending[:len(m.pending)-len(names)] }

// childOf is what is known of a key, and whether it is an entry of a map rather
// than a declared field.
func childOf(t *Type, name string) (Field, bool) {
	if t == nil {
		return Field{}, true
	}
	if t.Kind == Object {
		f, declared := t.Fields[name]
		return f, !declared
	}
	return Field{Type: t.Elem}, true
}

// leaf merges what is one value, present in local and live.
//
// Unlike kubectl: an atomic map is such a value (it mixes two people's selectors),
// and a value that the server stores alike is no change.
func (m *merger) leaf(s *spot, o, l, v Opt) (Opt, bool) {
	if !m.policy.Literal {
		l.Value = stripNulls(l.Value, s.field.Type) // a map against something else is one value too
	}
	if equalOpt(l, v, s.field) || s.field.Allocated && isZero(l.Value, s.field.Type) {
		m.because(s, because{v, LiveSide, CauseSame, o, l, v})
		return v, false
	}
	if m.filled(m.wanted, s, l, v) {
		m.because(s, because{v, LiveSide, CauseServer, o, l, v})
		return v, false
	}
	moved, owner := m.moved(s, o, v)
	if !moved && !s.livesOn() {
		m.because(s, because{l, LocalSide, CauseLocal, o, l, v})
		return l, true
	}
	return m.settle(s, Disagreement{Kind: m.kind(s, o, l), Original: o, Local: l, Live: v, Owner: owner})
}

// kind is that of a disagreement on a value that local states.
func (m *merger) kind(s *spot, o, l Opt) DisagreementKind {
	if o.Set && !m.unknown(s, o) && equalOpt(o, l, s.field) {
		return Drift
	}
	return Both
}

// choice is what rule or policy say about a kind of disagreement.
func (m *merger) choice(s *spot, k DisagreementKind) Choice {
	if s.rule != nil {
		return s.rule.Choice
	}
	return m.policy.choice(k)
}

// settle asks rule and policy about a disagreement on one value.
func (m *merger) settle(s *spot, d Disagreement) (Opt, bool) {
	return m.settleAs(s, d, denull(d.Local))
}

// settleAs is settle where local's value comes to win as won: without its nulls, say.
func (m *merger) settleAs(s *spot, d Disagreement, won Opt) (Opt, bool) {
	choice := m.choice(s, d.Kind)
	if s.rule != nil {
		d.Rule = s.rule.Name
	}
	if choice == TakeOriginal && m.unknown(s, d.Original) {
		choice = LeaveConflict // "" is no value, but what was kept of one
	}
	d.Path = s.path()
	r := d.Live
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
	m.because(s, because{r, d.Winner, CausePolicy, d.Original, d.Local, d.Live})
	return r, d.Winner == LocalSide || d.Winner == OriginalSide
}

// added merges what local states and live lacks. Where original had it, somebody has
// deleted it since, which is a disagreement like any other.
//
// Unlike kubectl: it puts the value back and says nothing.
func (m *merger) added(s *spot, o, l, raw Opt) (Opt, bool) {
	clean := Some(stripNulls(l.Value, s.field.Type))
	if (s.field.ZeroIsAbsent || s.field.Allocated) && isZero(clean.Value, s.field.Type) {
		m.because(s, because{raw, LiveSide, CauseSame, o, l, Opt{}})
		return m.absentOr(raw, Opt{})
	}
	switch {
	case s.held:
		return m.absentOr(raw, Opt{})
	case !m.deleted(s, o):
		m.localOnly(s, o, l, clean)
		return clean, true
	case m.kind(s, o, l) == Drift:
		return m.readded(s, Disagreement{Kind: Drift, Original: o, Local: clean}, raw)
	}
	if m.splits(s, Drift) {
		if om, lm, ok := maps(s.field.Type, o, l); ok {
			r, _ := m.object(s, om, lm, keysOnly(s, lm))
			return Some(r), true
		}
	}
	return m.readded(s, Disagreement{Kind: Both, Original: o, Local: clean}, raw)
}

// deleted: somebody has removed what original had. Nobody has where the server does not
// store it: a field that its schema does not have, or a value with nothing in it; and the
// losing variant of a one-of is reported where live's variant is.
func (m *merger) deleted(s *spot, o Opt) bool {
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
	return !equalOpt(Some(stripNulls(o.Value, s.field.Type)), Opt{}, s.field)
}

// readded settles the disagreement over a value that live has no more.
func (m *merger) readded(s *spot, d Disagreement, raw Opt) (Opt, bool) {
	r, changed := m.settle(s, d)
	if !changed {
		return m.absentOr(raw, Opt{})
	}
	return r, true
}

// splits: the policy answers parts of a value that live lacks differently, so
// that only what changed between original and local is put back (seed 001: "add
// the delta").
func (m *merger) splits(s *spot, k DisagreementKind) bool {
	return s.rule == nil && m.policy.choice(k) == TakeLive && m.policy.choice(Both) == TakeLocal
}

func maps(t *Type, o, l Opt) (om, lm map[string]any, ok bool) {
	if t != nil && (t.Atomic || t.Kind != Object && t.Kind != Map && t.Kind != Unknown) {
		return nil, nil, false
	}
	om, ok = o.Value.(map[string]any)
	if !ok {
		return nil, nil, false
	}
	lm, ok = l.Value.(map[string]any)
	return om, lm, ok
}

// keysOnly: a delta that becomes an entry of a keyed list needs its identity.
func keysOnly(s *spot, l map[string]any) map[string]any {
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

// localOnly explains what live does not have.
func (m *merger) localOnly(s *spot, o, l, clean Opt) {
	if !m.explain {
		return
	}
	t := s.field.Type
	cm, split := clean.Value.(map[string]any)
	if !split || len(cm) == 0 || s.here.list != nil || t != nil && t.Atomic {
		m.because(s, because{clean, LocalSide, CauseLocal, o, l, Opt{}})
		return
	}
	om, _ := o.Value.(map[string]any)
	lm, _ := l.Value.(map[string]any)
	for _, name := range sortedKeys(cm) {
		f, entry := childOf(t, name)
		c := m.below(s, hop{name: name}, f, entry)
		ov, had := om[name]
		m.localOnly(c, Opt{ov, had}, Some(lm[name]), Some(cm[name]))
		m.leave()
	}
}

// liveOnly explains what neither local nor original has.
func (m *merger) liveOnly(s *spot, v Opt) {
	if !m.explain || !v.Set {
		return
	}
	t := s.field.Type
	if mv, ok := v.Value.(map[string]any); ok && len(mv) > 0 && !(t != nil && t.Atomic) {
		for _, name := range sortedKeys(mv) {
			f, entry := childOf(t, name)
			c := m.below(s, hop{name: name}, f, entry)
			m.liveOnly(c, denull(Some(mv[name])))
			m.leave()
		}
		return
	}
	m.because(s, because{v, LiveSide, CauseLive, Opt{}, Opt{}, v})
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
