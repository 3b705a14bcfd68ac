package merge

// group is the entries of the three sides that share an identity, by their places.
type group struct{ o, l, v []int }

// pairLimit bounds the comparisons inside one group (entries times entries);
// above it entries pair by equality and then in order, so that a hostile list
// costs linear time.
const pairLimit = 1 << 16

// group pairs entries whose keys do not tell them apart: first local with
// original and original with live, and local with live through original; what is
// left of local and live is paired directly. In each step those pair first of
// which the one that says less is part of the other, then those that share the
// most fields, then in order (SEMANTICS: keys that do not identify).
func (p *pairing) group(t *Type, g group, o, l, v []any) {
	lo := match(t, side{l, g.l}, side{o, g.o})
	ov := match(t, side{o, g.o}, side{v, g.v})
	for a, b := range lo {
		if b < 0 {
			continue
		}
		p.original[g.l[a]] = g.o[b]
		if c := ov[b]; c >= 0 {
			p.pair(g.l[a], g.v[c])
		}
	}
	for b, c := range ov {
		if c >= 0 && !p.taken[g.v[c]] {
			p.dropped[g.v[c]] = g.o[b]
		}
	}
	var restL, restV []int
	for _, i := range g.l {
		if p.live[i] < 0 && p.original[i] < 0 {
			restL = append(restL, i)
		}
	}
	for _, j := range g.v {
		if !p.taken[j] && p.dropped[j] < 0 {
			restV = append(restV, j)
		}
	}
	for a, c := range match(t, side{l, restL}, side{v, restV}) {
		if c >= 0 {
			p.pair(restL[a], restV[c])
		}
	}
}

func (p *pairing) pair(i, j int) { p.live[i], p.taken[j] = j, true }

// side is some entries of a list.
type side struct {
	list []any
	at   []int
}

// match pairs the entries of a with those of b; for each of a the place in b.at,
// or -1.
func match(t *Type, a, b side) []int {
	to, used := none(len(a.at)), make([]bool, len(b.at))
	take := func(i, j int) { to[i], used[j] = j, true }
	equal := map[string][]int{}
	for j, at := range b.at {
		key := canonical(b.list[at])
		equal[key] = append(equal[key], j)
	}
	for i, at := range a.at {
		key := canonical(a.list[at])
		if js := equal[key]; len(js) > 0 {
			take(i, js[0])
			equal[key] = js[1:]
		}
	}
	if len(a.at)*len(b.at) <= pairLimit {
		for i, at := range a.at {
			for j := 0; j < len(b.at) && to[i] < 0; j++ {
				if !used[j] && partOf(t.Elem, a.list[at], b.list[b.at[j]]) {
					take(i, j)
				}
			}
		}
		for best := bestPair(t, a, b, to, used); best.score > 0; best = bestPair(t, a, b, to, used) {
			take(best.i, best.j)
		}
	}
	j := 0
	for i := range a.at {
		if to[i] >= 0 {
			continue
		}
		for j < len(b.at) && used[j] {
			j++
		}
		if j < len(b.at) {
			take(i, j)
		}
	}
	return to
}

// partOf: every field of the entry that says less is equal in the other.
func partOf(t *Type, a, b any) bool {
	am, ok := a.(map[string]any)
	if !ok {
		return false
	}
	bm, ok := b.(map[string]any)
	if !ok {
		return false
	}
	if len(am) > len(bm) {
		am, bm = bm, am
	}
	for k, av := range am {
		bv, ok := bm[k]
		if !equalOpt(Opt{av, true}, Opt{bv, ok}, fieldOf(t, k)) {
			return false
		}
	}
	return true
}

type scored struct{ i, j, score int }

// bestPair is the free pair that shares the most fields beyond the keys, the
// first of equals; score 0 where none shares any.
func bestPair(t *Type, a, b side, to []int, used []bool) scored {
	var best scored
	for i, at := range a.at {
		if to[i] >= 0 {
			continue
		}
		for j, bt := range b.at {
			if used[j] {
				continue
			}
			if n := sharedFields(t, a.list[at], b.list[bt]); n > best.score {
				best = scored{i, j, n}
			}
		}
	}
	return best
}

func sharedFields(t *Type, a, b any) int {
	am, _ := a.(map[string]any)
	bm, _ := b.(map[string]any)
	n := 0
	for k, av := range am {
		if bv, ok := bm[k]; ok && !isKey(t, k) && Equal(av, bv, fieldOf(t.Elem, k).Type) {
			n++
		}
	}
	return n
}

func isKey(t *Type, name string) bool {
	for _, k := range t.Keys {
		if k.Name == name {
			return true
		}
	}
	return false
}
