package merge

import (
	"maps"
	"slices"
)

// Three merges three ways. What local states wins, what original had and local no longer
// has is removed, and what only live has stays. Where local and live disagree, the policy
// decides. typ says how values are split; nil is RFC 7386 applied three ways. With explain
// set, Plan.Because is filled.
//
// Rules: docs/semantics.md#the-rules and #which-side-wins; the Kubectl Book's page on
// field merge semantics. No input is modified; the order of map keys
// never shows in the plan.
func Three(t Triple, typ *Type, policy Policy, explain bool) Plan {
	m := newMerger(t, typ, policy, explain)
	root := cursor{field: Field{Type: typ}}
	result, changed := m.mergeValue(&root, Some(t.Original), some(t.Local), Some(t.Live))
	return m.planned(t.Live, result.Value, changed, typ)
}

func newMerger(t Triple, typ *Type, policy Policy, explain bool) *merger {
	m := &merger{triple: t, typ: typ, live: NewFinder(t.Live, typ), owners: t.Owners, policy: policy, explain: explain}
	m.sides = [3]completed{
		ofWanted: root(func() any {
			return m.localWins(cursor{field: Field{Type: typ}}, Some(t.Original), some(t.Local), Some(t.Live)).Value
		}),
		ofLocal:    root(func() any { return t.Local }),
		ofOriginal: root(func() any { return t.Original }),
	}
	return m
}

// planned makes the plan of the result; changed says whether it may differ from live.
func (m *merger) planned(live, result any, changed bool, typ *Type) Plan {
	m.plan.Result = result
	if changed {
		m.plan.Changes = Diff(live, result, typ)
	}
	m.sortReported()
	return m.plan
}

type merger struct {
	triple  Triple
	typ     *Type
	owners  Owners
	policy  Policy
	explain bool
	local   bool // local always wins, and nothing is completed
	plan    Plan

	live      *Finder
	notStored map[string]bool // the paths of triple.Unstored

	sides [3]completed // what the server makes of each: see made

	spots
	pending []string // reused memory: the names of the keys of each spot that are still to be visited
}

// spots is reused memory: the cursors from the top down to the current place.
type spots struct {
	all   []*cursor
	depth int
}

// below steps down to a field, key or entry, until leave is called.
func (p *spots) below(s *cursor, here hop) *cursor {
	if p.depth == len(p.all) {
		p.all = append(p.all, new(cursor))
	}
	c := p.all[p.depth]
	p.depth++
	*c = s.to(here)
	return c
}

// to returns the place one level below.
func (s *cursor) to(here hop) cursor {
	f, entry := Field{Type: here.list.EntryType()}, true
	if here.list == nil {
		f, entry = childOf(s.field.Type, here.name)
	}
	return cursor{up: s, here: here, field: f, entry: entry, rule: s.rule}
}

// leave steps up again.
func (p *spots) leave() { p.depth-- }

// cursor is where the merge stands: its path, what is known of the value, and which rule
// holds. Paths are spelled out only when something is reported.
type cursor struct {
	up    *cursor
	here  hop
	field Field
	entry bool // an entry of a map or list: removed as a whole when dropped

	// Live lacks the value because it has another variant of a one-of; held: that
	// variant stays.
	excluded, held bool

	rule *Rule // the user's rule that holds here

	twin *[3]completed // an entry that shares its identity with others
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
	return StepOf(h.list, h.entry, h.nth)
}

func (s *cursor) path() Path {
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

// below is that of spots, with the rule that holds there.
func (m *merger) below(s *cursor, here hop) *cursor {
	c := m.spots.below(s, here)
	if c.rule == nil && len(m.policy.Rules) > 0 {
		p := c.path()
		if i := slices.IndexFunc(m.policy.Rules, func(r Rule) bool { return r.Match(p) }); i >= 0 {
			c.rule = &m.policy.Rules[i]
		}
	}
	return c
}

// mergeValue merges one value. It returns live's own value and false where nothing
// changes.
func (m *merger) mergeValue(s *cursor, o, l, v Opt) (Opt, bool) {
	raw, was := v, o
	o, v = some(o.Value), some(v.Value)
	if s.field.Allocated && !m.triple.Blanked && isZero(o.Value, s.field.Type) {
		o = Opt{} // original left it to the server then, and it never was the applier's
	}
	switch {
	case l.Set && m.unstored(s):
		m.because(s, because{v, LiveSide, CauseUnstored, o, l, v})
		return m.absentOr(raw, v)
	case l.Set && l.Value == nil && v.Set && m.disputed(s, was):
		return m.settle(s, Disagreement{Kind: nullKind(was), Original: was, Local: l, Live: v})
	case l.Set && l.Value == nil:
		return m.gone(s, o, l, raw)
	case !l.Set && (!o.Set || !v.Set):
		m.liveOnly(s, v)
		return m.absentOr(raw, v)
	case !l.Set:
		return m.dropped(s, o, v, raw)
	case !v.Set:
		return m.added(s, o, l, raw)
	}
	if vm, lm, ok := bothMaps(s.field.Type, v, l); ok {
		r, changed := m.mergeObject(s, At[map[string]any](o.Value), lm, vm)
		return Some(r), changed
	}
	ll, ok := l.Value.([]any)
	if _, both := v.Value.([]any); ok && both && isList(s.field.Type) {
		if m.madeOfNothing(s, o, v) {
			o = v
		}
		return m.list(s, At[[]any](o.Value), ll, v)
	}
	return m.leaf(s, o, l, v)
}

// madeOfNothing reports whether original left out the list, the server has filled it in as a whole, and no
// other manager has written it: its entries are then as applied as the whole. Server-side apply, which records
// no owner of them, keeps them.
func (m *merger) madeOfNothing(s *cursor, o, v Opt) bool {
	return !o.Set && m.triple.Original != nil && !m.triple.Applied && m.filled(ofOriginal, s, o, v) && m.foreign(s.path()) == nil
}

// isList reports whether a list is merged entry by entry.
func isList(t *Type) bool { return t != nil && (t.Kind == Keyed || t.Kind == Set) }

// absentOr returns live's value where no other side states one. A null stays as the server
// gave it, unless nulls are to be cleared.
func (m *merger) absentOr(raw, v Opt) (Opt, bool) {
	if v.Set || !raw.Set || !m.policy.ClearNulls {
		return raw, false
	}
	return Opt{}, true
}

// mergeObject merges an object's fields or a map's keys.
func (m *merger) mergeObject(s *cursor, o, l, v map[string]any) (map[string]any, bool) {
	t := s.field.Type
	res := edited{fields: v}
	if t != nil && t.Mirrored != nil {
		o, l = mirrored(t, o, v), mirrored(t, l, v)
	}
	var settled map[string]bool
	if t != nil && len(t.OneOf) > 0 {
		settled = m.oneOf(s, objects{o, l, v}, res.put)
	}
	names := m.names(o, l, v)
	defer m.forget(names)
	for _, name := range names {
		if settled[name] {
			continue
		}
		r, ch := m.mergeValue(m.member(s, name, objects{o, l, v}), key(o, name), key(l, name), key(v, name))
		if m.leave(); ch {
			res.put(name, r)
		}
	}
	m.obsolete(s, objects{o, l, v}, &res)
	return res.fields, res.changed
}

// member steps down to a field or key of an object, until leave is called.
func (m *merger) member(s *cursor, name string, x objects) *cursor {
	c := m.below(s, hop{name: name})
	if t := s.field.Type; t != nil && len(t.OneOf) > 0 && x.o[name] != nil && x.l[name] != nil && x.v[name] == nil {
		c.excluded, c.held = m.excluded(s, name, x)
	}
	return c
}

// objects holds an object's or a map's original, local and live form.
type objects struct{ o, l, v map[string]any }

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

// names lists the keys to visit: local's and original's, and live's only where everything
// is to be explained or nulls cleared. forget releases their memory.
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

// forget releases the memory of the names that were last asked for.
func (m *merger) forget(names []string) { m.pending = m.pending[:len(m.pending)-len(names)] }

// childOf returns what is known of a key, and whether it is an entry of a map rather than a
// declared field.
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

// bothMaps returns two values of type t that are merged key by key.
func bothMaps(t *Type, o, l Opt) (om, lm map[string]any, ok bool) {
	if t != nil && (t.Atomic || t.Kind != Object && t.Kind != Map && t.Kind != Unknown) {
		return nil, nil, false
	}
	om, isMap := o.Value.(map[string]any)
	lm, ok = l.Value.(map[string]any)
	return om, lm, ok && isMap
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
