package merge

import "slices"

// list merges a keyed list or set entry by entry. A nil l means that the whole list was
// dropped. live holds a list, and is returned where nothing changes.
//
// Unlike kubectl: entries are identified by all of the list's keys, defaults included.
// Entries that share an identity are a group in which nothing is lost.
func (m *merger) list(s *cursor, o, l []any, live Opt) (Opt, bool) {
	t := s.field.Type
	v, _ := live.Value.([]any)
	p := pairUp(t, o, l, v)
	if t.Kind == Keyed && m.choice(s, Drift) == TakeLive && m.choice(s, Both) == LeaveConflict && p.bothReordered() {
		return m.settle(s, Disagreement{Kind: Both, Original: Some(o), Local: Some(l), Live: live})
	}
	if m.triple.Applied {
		p.findTwins(t, l, v)
	}
	x := m.exclusive(s, o, l, v)
	changed := x.changed
	merged := make([]Opt, len(l))
	for i := range l {
		at, lv := hop{list: t, entry: l[i], nth: p.l.nth(i)}, Some(l[i])
		ov, vv := pick(o, p.original[i]), pick(v, p.live[i])
		if j := p.live[i]; p.changed[j] { // reported where live has it
			at, lv, ov = hop{list: t, entry: v[j]}, keyed(t, lv), keyed(t, ov)
		}
		var ch bool
		c := m.below(s, at)
		if p.repeats(p.l.ids[i]) {
			c.twin = twin(ov, lv, func() Opt { return m.localWins(cursor{field: Field{Type: t.Elem}, entry: true}, ov, lv, vv) })
		}
		if x.stated && t.excludes(l[i]) {
			c.excluded, c.held = true, x.held
		}
		merged[i], ch = m.entry(c, ov, lv, vv)
		if p.changed[p.live[i]] && Identity(t, merged[i].Value) != Identity(t, vv.Value) {
			if m.triple.Applied {
				merged[i] = m.anew(c, lv, merged[i])
			} else if m.completes() {
				merged[i] = remade(t.Elem, merged[i], lv, vv)
			}
		}
		m.leave()
		changed = changed || ch
	}
	stays := make([]Opt, len(v)) // live's entries without a partner in local
	for j := range v {
		if p.taken[j] {
			continue
		}
		if r, settled := x.stays[j]; settled {
			stays[j] = r
			continue
		}
		ov := pick(o, p.dropped[j])
		if p.changed[j] {
			ov = keyed(t, ov)
		}
		if stays[j] = Some(v[j]); !ov.Set && !m.explain && !p.twins[j] {
			continue // nothing to report
		}
		var ch bool
		c := m.below(s, hop{list: t, entry: v[j], nth: p.v.nth(j)})
		if !ov.Set {
			m.besides(c, p, j)
			m.liveOnly(c, stays[j])
		} else {
			if p.repeats(p.v.ids[j]) {
				c.twin = twin(ov, Opt{}, func() Opt { return Opt{} })
			}
			stays[j], ch = m.mergeValue(c, ov, Opt{}, stays[j])
		}
		m.leave()
		changed = changed || ch
	}
	order := m.order(s, p, l, merged, stays)
	if !changed && (t.Kind == Set || p.follows(order)) {
		return live, false
	}
	return Some(inOrderOf(order, merged, stays)), true
}

func inOrderOf(order []place, merged, stays []Opt) []any {
	out := make([]any, 0, len(order))
	for _, at := range order {
		if at.local {
			out = append(out, merged[at.i].Value)
		} else {
			out = append(out, stays[at.i].Value)
		}
	}
	return out
}

// entry merges one entry. An entry that is not a map, or null, is one value.
func (m *merger) entry(c *cursor, o, l, v Opt) (Opt, bool) {
	if l.Value == nil {
		return l, !v.Set // null as an entry is data: nothing distinguishes entries that are null
	}
	return m.mergeValue(c, o, l, v)
}

func pick(list []any, i int) Opt {
	if i < 0 {
		return Opt{}
	}
	return Some(list[i])
}

// pairing records which entries of the three sides are one.
type pairing struct {
	o, l, v  index
	original []int  // for each entry of local, its partner in original, or -1
	live     []int  // for each entry of local, its partner in live, or -1
	taken    []bool // for each entry of live: local has it
	dropped  []int  // for each entry of live that local lacks: its partner in original, or -1

	changed map[int]bool // entries of live whose keys are not their partner's; nil if none
	twins   map[int]bool // entries of live without a partner that differ in one key alone from one of local that live lacks
}

func pairUp(t *Type, o, l, v []any) *pairing {
	p := &pairing{o: indexOf(t, o), l: indexOf(t, l), v: indexOf(t, v)}
	p.original, p.live = none(len(l)), none(len(l))
	p.taken, p.dropped = make([]bool, len(v)), none(len(v))
	if (p.l.more != nil || p.v.more != nil) && p.settled(t, o, l, v) {
		return p
	}
	for i, id := range p.l.ids {
		if p.repeats(id) {
			if p.l.first[id] == i {
				p.group(t, group{side{o, p.o.all(id)}, side{l, p.l.all(id)}, side{v, p.v.all(id)}})
			}
			continue
		}
		if j, ok := p.o.first[id]; ok {
			p.original[i] = j
		}
		if j, ok := p.v.first[id]; ok {
			p.live[i], p.taken[j] = j, true
		}
	}
	for j, id := range p.v.ids {
		if p.taken[j] || p.l.first != nil && has(p.l.first, id) {
			continue
		}
		if p.repeats(id) {
			if p.v.first[id] == j {
				p.group(t, group{side{o, p.o.all(id)}, side{l, nil}, side{v, p.v.all(id)}})
			}
			continue
		}
		if i, ok := p.o.first[id]; ok {
			p.dropped[j] = i
		}
	}
	p.edited(t, o, l, v)
	p.straighten(t, o, v)
	return p
}

// repeats reports whether several entries of a side have that identity.
func (p *pairing) repeats(id string) bool {
	return p.l.more[id] != nil || p.v.more[id] != nil || p.o.more[id] != nil
}

func has(m map[string]int, k string) bool { _, ok := m[k]; return ok }

func none(n int) []int { return slices.Repeat([]int{-1}, n) }
