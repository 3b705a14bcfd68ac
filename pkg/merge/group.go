package merge

import (
	"cmp"
	"math"
	"slices"
)

// group holds the entries of the three sides that share an identity, by their places.
type group struct{ o, l, v side }

// settled pairs local's entries with live's in order where local equals original and live
// has all of it. Nothing has to change then, whatever other pairing is possible. It reports
// whether it did.
func (p *pairing) settled(t *Type, o, l, v []any) bool {
	if len(o) != len(l) {
		return false
	}
	at := make([]int, len(l))
	j := 0
	for i, e := range l {
		if !Equal(e, o[i], t.Elem) {
			return false
		}
		for j < len(v) && !(p.l.ids[i] == p.v.ids[j] && fits(t.Elem, e, v[j])) {
			j++
		}
		if j == len(v) {
			return false
		}
		at[i] = j
		j++
	}
	for i, j := range at {
		p.original[i], p.live[i], p.taken[j] = i, j, true
	}
	return true
}

// fits reports whether live's entry has all that local's states, so that merging them changes nothing.
func fits(t *Type, e, v any) bool {
	quiet := merger{policy: Policies[0], owners: unmanaged{}} // without owners, no value passes for the server's
	_, changed := quiet.mergeValue(&cursor{field: Field{Type: t}, entry: true}, Some(e), Some(e), Some(v))
	return !changed
}

// unmanaged implements Owners for a live object that no manager owns.
type unmanaged struct{}

func (unmanaged) At(Path) []Owner { return nil }

// pairLimit bounds the comparisons inside one group (entries times entries). Above it
// entries pair by equality and then in order, so that a hostile list costs linear time.
const pairLimit = 1 << 16

// group pairs entries that their keys do not distinguish. It pairs local with original,
// original with live, and local with live through original. What is left of local and live
// is paired directly. In each step entries pair first where the one that states less is
// part of the other. Then the number of shared fields counts, then the order
// (docs/semantics.md#how-an-object-is-split, "Keys that repeat").
func (p *pairing) group(t *Type, g group) {
	lo := match(t, g.l, g.o)
	ov := match(t, g.o, g.v)
	for a, b := range lo {
		if b < 0 {
			continue
		}
		p.original[g.l.at[a]] = g.o.at[b]
		if c := ov[b]; c >= 0 {
			p.pair(g.l.at[a], g.v.at[c])
		}
	}
	for b, c := range ov {
		if c >= 0 && !p.taken[g.v.at[c]] {
			p.dropped[g.v.at[c]] = g.o.at[b]
		}
	}
	restL := slices.DeleteFunc(slices.Clone(g.l.at), func(i int) bool { return p.live[i] >= 0 || p.original[i] >= 0 })
	restV := slices.DeleteFunc(slices.Clone(g.v.at), func(j int) bool { return p.taken[j] || p.dropped[j] >= 0 })
	for a, c := range match(t, side{g.l.list, restL}, side{g.v.list, restV}) {
		if c >= 0 {
			p.pair(restL[a], restV[c])
		}
	}
}

func (p *pairing) pair(i, j int) { p.live[i], p.taken[j] = j, true }

// straighten exchanges partners for their twins in live where local's order asks for it.
// Only their place distinguishes such entries. Where live's order differs, those of original follow it.
func (p *pairing) straighten(t *Type, o, v []any) {
	if p.v.more == nil {
		return
	}
	key := func(j int) string { return p.v.ids[j] + alike(t, v[j]) }
	twins := map[string][]int{} // places in live of entries that are the same
	for _, js := range p.v.more {
		for _, j := range js {
			twins[key(j)] = append(twins[key(j)], j)
		}
	}
	p.ascending(t, p.live, p.v, v, cmp.Compare)
	of := p.localOf()
	last := -1
	for i, j := range p.live {
		if j >= 0 && j < last && p.v.more[p.v.ids[j]] != nil {
			same := twins[key(j)]
			if n, _ := slices.BinarySearch(same, last+1); n < len(same) {
				j = same[n]
			}
			if q, was := p.dropped[j], p.original[i]; q >= 0 && was >= 0 && alike(t, o[q]) == alike(t, o[was]) {
				p.original[i], p.dropped[j] = q, was
			}
			p.exchange(of, i, j)
		}
		last = max(last, j)
	}
	if !rising(p.original, p.live) {
		p.ascending(t, p.original, p.o, o, func(a, b int) int { return cmp.Compare(p.live[a], p.live[b]) })
	}
}

// ascending: partners on the side s of list that are the same go to local's entries in order.
func (p *pairing) ascending(t *Type, partners []int, s index, list []any, order func(a, b int) int) {
	same := map[string][]int{}
	for i, j := range partners {
		if j >= 0 && p.live[i] >= 0 && s.more[s.ids[j]] != nil {
			key := s.ids[j] + alike(t, list[j])
			same[key] = append(same[key], i)
		}
	}
	for _, is := range same {
		slices.SortFunc(is, order)
		inOrder(is, partners)
	}
}

// inOrder sorts the partners of those entries.
func inOrder(entries, partners []int) {
	js := make([]int, len(entries))
	for n, i := range entries {
		js[n] = partners[i]
	}
	slices.Sort(js)
	for n, i := range entries {
		partners[i] = js[n]
	}
}

// exchange makes entry k of live the partner of local's entry i; the entry that
// had it gets i's. of is localOf, kept up to date.
func (p *pairing) exchange(of []int, i, k int) {
	j := p.live[i]
	p.live[i] = k
	if other := of[k]; other >= 0 {
		p.live[other] = j
	}
	of[j], of[k] = of[k], of[j]
	p.taken[j], p.taken[k] = p.taken[k], p.taken[j]
	p.dropped[j], p.dropped[k] = p.dropped[k], p.dropped[j]
}

// alike returns a text that two entries share if the server would store them alike (except
// for spellings of scalars).
func alike(t *Type, e any) string { return canonical(Normal(t.Elem, e)) }

// Normal returns v, a value of type t, without the fields that equal their absence.
func Normal(t *Type, v any) any {
	m, isMap := v.(map[string]any)
	if !isMap {
		return Rebuilt(v, func(e any) any { return Normal(t.EntryType(), e) })
	}
	out := make(map[string]any, len(m))
	for k, e := range m {
		f := t.Field(k)
		if e != nil && !(f.ZeroIsAbsent && isZero(e, f.Type)) {
			out[k] = Normal(f.Type, e)
		}
	}
	return out
}

// side holds some entries of a list.
type side struct {
	list []any
	at   []int
}

// match pairs the entries of a with those of b, the best pairs first. Those that the server
// would store alike come first, then those of which the one that states less is part of the
// other. Then come those that share the most fields beyond the keys, then any; among equals
// in order. It returns for each entry of a the place in b.at, or -1. Above pairLimit only
// alike and order count.
func match(t *Type, a, b side) []int {
	to, used := none(len(a.at)), make([]bool, len(b.at))
	take := func(i, j int) { to[i], used[j] = j, true }
	equal := map[string][]int{}
	for j, at := range b.at {
		key := alike(t, b.list[at])
		equal[key] = append(equal[key], j)
	}
	same := map[string][]int{}
	for i, at := range a.at {
		key := alike(t, a.list[at])
		same[key] = append(same[key], i)
		if js := equal[key]; len(js) > 0 {
			take(i, js[0])
			equal[key] = js[1:]
		}
	}
	for _, p := range resembling(t, a, b, func(i, j int) bool { return to[i] < 0 && !used[j] }) {
		if to[p.i] < 0 && !used[p.j] {
			take(p.i, p.j)
		}
	}
	j := 0
	for i := range a.at {
		for j < len(b.at) && used[j] {
			j++
		}
		if to[i] < 0 && j < len(b.at) {
			take(i, j)
		}
	}
	for _, is := range same { // which of them has which partner only affects the order
		inOrder(slices.DeleteFunc(is, func(i int) bool { return to[i] < 0 }), to)
	}
	return to
}

type scored struct{ i, j, score int }

// resembling lists the pairs of free entries that have something beyond their keys in
// common, the best first, and among equals in order; nil above pairLimit.
func resembling(t *Type, a, b side, free func(i, j int) bool) (pairs []scored) {
	if len(a.at)*len(b.at) > pairLimit {
		return nil
	}
	for i, at := range a.at {
		for j, bt := range b.at {
			if !free(i, j) {
				continue
			}
			score := sharedFields(t, a.list[at], b.list[bt])
			if partOf(t.Elem, a.list[at], b.list[bt]) {
				score = math.MaxInt
			}
			if score > 0 {
				pairs = append(pairs, scored{i, j, score})
			}
		}
	}
	slices.SortStableFunc(pairs, func(p, q scored) int { return cmp.Compare(q.score, p.score) })
	return pairs
}

// partOf reports whether every field of the entry that states less is equal in the other.
func partOf(t *Type, a, b any) bool { return within(t, a, b) || within(t, b, a) }

// within reports whether b states everything that a states.
func within(t *Type, a, b any) bool {
	am, ok := a.(map[string]any)
	if !ok {
		return Equal(a, b, t)
	}
	bm, ok := b.(map[string]any)
	if !ok {
		return false
	}
	for k, av := range am {
		f := t.Field(k)
		bv, ok := bm[k]
		if !equalOpt(Opt{av, true}, Opt{bv, ok}, f) && !(ok && within(f.Type, av, bv)) {
			return false
		}
	}
	return true
}

func sharedFields(t *Type, a, b any) int {
	bm, n := At[map[string]any](b), 0
	for k, av := range At[map[string]any](a) {
		if bv, ok := bm[k]; ok && !isKey(t, k) && partOf(t.Elem.Field(k).Type, av, bv) {
			n++
		}
	}
	return n
}

func isKey(t *Type, name string) bool {
	return slices.ContainsFunc(t.Keys, func(k Key) bool { return k.Name == name })
}
