package merge

// place says where an entry of the result comes from.
type place struct {
	local bool
	i     int
}

// order returns the order of the result's entries. Order is drift too: where a rule or the policy
// leaves drift to live, live's stays, unless local has reordered what original had. Where others
// have reordered it, and local's is taken, that is reported.
func (m *merger) order(s *cursor, p *pairing, local []any, merged, stays []Opt) []place {
	isLive, isOriginal := rising(p.live, p.original), rising(p.original, p.live)
	keeps, both := m.choice(s, Drift) == TakeLive, p.bothReordered()
	if keeps && (isOriginal || s.rule != nil || m.policy.Update != TakeLocal || both && m.policy.Both == TakeLive) {
		return p.inLiveOrder(merged, stays, m.policy.Prepend)
	}
	if t := s.field.Type; t.Kind == Keyed && (isOriginal && !isLive || both) {
		m.plan.Reordered = append(m.plan.Reordered, p.reordered(s.path(), t, local))
	}
	return p.inLocalOrder(merged, stays)
}

// rising reports whether the places in one side are in the order of local's entries, of those that
// another side has, too.
func rising(places, other []int) bool {
	last := -1
	for i, at := range places {
		if at >= 0 && other[i] >= 0 {
			if at < last {
				return false
			}
			last = at
		}
	}
	return true
}

// bothReordered reports whether local and live have reordered what original had, in different ways.
func (p *pairing) bothReordered() bool {
	if rising(p.live, p.original) || rising(p.original, p.live) {
		return false
	}
	was := p.localOf() // then the places in original of live's entries, of those that all sides have
	for j, i := range was {
		if i >= 0 {
			was[j] = p.original[i]
		}
	}
	return !rising(was, was)
}

// reordered returns the entries that local and live have, in the order of both.
func (p *pairing) reordered(at Path, t *Type, local []any) Reordering {
	r := Reordering{Path: at}
	for _, i := range p.localOf() {
		if i >= 0 {
			r.Live = append(r.Live, StepOf(t, local[i], p.l.nth(i)))
		}
	}
	for i, j := range p.live {
		if j >= 0 {
			r.Local = append(r.Local, StepOf(t, local[i], p.l.nth(i)))
		}
	}
	return r
}

// inLocalOrder puts local's entries in local's order, and live's own after the entry they
// followed.
func (p *pairing) inLocalOrder(merged, stays []Opt) []place {
	localOf := p.localOf()
	order := make([]place, 0, len(merged)+len(stays))
	follow := map[int][]int{} // live-only entries behind an entry of local; -1: at the front
	anchor := -1
	for j := range p.v.ids {
		switch {
		case localOf[j] >= 0 && merged[localOf[j]].Set:
			anchor = localOf[j]
		case stays[j].Set: // never one that local has
			follow[anchor] = append(follow[anchor], j)
		}
	}
	for i := -1; i < len(merged); i++ {
		if i >= 0 && merged[i].Set {
			order = append(order, place{local: true, i: i})
		}
		for _, j := range follow[i] {
			order = append(order, place{i: j})
		}
	}
	return order
}

// inLiveOrder keeps live's entries in live's order. A new entry stands before the entry
// that it precedes in local, and last (or first) where it precedes none.
func (p *pairing) inLiveOrder(merged, stays []Opt, prepend bool) []place {
	localOf := p.localOf()
	before := map[int][]place{} // new entries of local, by the entry of local they precede
	var waiting []place
	for i := range merged {
		switch {
		case !merged[i].Set:
		case p.live[i] < 0:
			waiting = append(waiting, place{local: true, i: i})
		case len(waiting) > 0 && !prepend:
			before[i], waiting = waiting, nil
		}
	}
	order := make([]place, 0, len(merged)+len(stays))
	if prepend {
		order, waiting = append(order, waiting...), nil
	}
	for j := range p.v.ids {
		switch i := localOf[j]; {
		case i < 0 && stays[j].Set:
			order = append(order, place{i: j})
		case i >= 0 && merged[i].Set:
			order = append(append(order, before[i]...), place{local: true, i: i})
		}
	}
	return append(order, waiting...)
}

// localOf returns, for each entry of live, its partner in local, or -1.
func (p *pairing) localOf() []int {
	out := none(len(p.v.ids))
	for i, j := range p.live {
		if j >= 0 {
			out[j] = i
		}
	}
	return out
}

// follows reports whether the order is live's own, with no entry missing or new.
func (p *pairing) follows(order []place) bool {
	if len(order) != len(p.v.ids) {
		return false
	}
	for j, at := range order {
		if at.local && p.live[at.i] != j || !at.local && at.i != j {
			return false
		}
	}
	return true
}
