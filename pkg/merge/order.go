package merge

// place says where an entry of the result comes from.
type place struct {
	local bool
	i     int
}

// keepsOrder reports whether live's order stays. Order is drift too: where the policy
// leaves drift to live, it stays, unless local has reordered what original had.
func (m *merger) keepsOrder(p *pairing) bool {
	if m.policy.Drift != TakeLive {
		return false
	}
	if m.policy.Update != TakeLocal {
		return true
	}
	last := -1
	for i := range p.original {
		if o := p.original[i]; o >= 0 && p.live[i] >= 0 {
			if o < last {
				return false
			}
			last = o
		}
	}
	return true
}

// inLocalOrder puts local's entries in local's order, and live's own after the entry they
// followed.
func (p *pairing) inLocalOrder(merged, stays []Opt) []place {
	localOf := p.localOf()
	order := make([]place, 0, len(merged)+len(stays))
	var follow map[int][]int // live-only entries behind an entry of local; -1: at the front
	anchor := -1
	for j := range p.v.ids {
		switch {
		case localOf[j] >= 0:
			if merged[localOf[j]].Set {
				anchor = localOf[j]
			}
		case stays[j].Set:
			if follow == nil {
				follow = map[int][]int{}
			}
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
