package merge

import (
	"maps"
	"slices"
)

// edited pairs entries of live whose key was changed in place with the entries they were.
// Only live has such an entry by its keys, and either
//
//   - it shares a value that has to be unique in the list (Type.Unique) with an entry of
//     local that live lacks: the API would refuse both together, or
//   - it has all that an entry of original states, except for one of several keys, and live
//     no longer has that entry. Of one that states keys alone it has nothing beside keys.
//
// Where several entries are possible partners, none is chosen.
//
// Unlike kubectl: it takes the two for different entries, so that every later apply fails
// after the protocol of a port was changed in live.
func (p *pairing) edited(t *Type, o, l, v []any) {
	if len(t.Keys) < 2 && len(t.Unique) == 0 {
		return
	}
	e := editing{pairing: p, t: t, o: o, l: l, v: v}
	e.free = e.liveOnly()
	if len(e.free) == 0 {
		return
	}
	p.changed = map[int]bool{}
	var lost []int // entries of local that live lacks
	for i, id := range p.l.ids {
		if p.live[i] < 0 && !p.repeats(id) && complete(t, l[i]) {
			lost = append(lost, i)
		}
	}
	for i, j := range e.couples(lost, e.became) {
		e.original[i] = e.inOriginal(i)
		e.pair(i, j)
		e.changed[j] = true
	}
	var given []int // entries of original that neither local nor live has
	for k, id := range p.o.ids {
		if !p.repeats(id) && complete(t, o[k]) && !has(p.l.first, id) && !has(p.v.first, id) && !slices.Contains(e.original, k) {
			given = append(given, k)
		}
	}
	for k, j := range e.couples(given, func(k int, v any) likeness { return likenessOf(t, o[k], v) }) {
		e.dropped[j], e.changed[j] = k, true
	}
}

// editing is a search for edited keys.
type editing struct {
	*pairing
	t       *Type
	o, l, v []any
	free    []int // entries of live without a partner
}

func (e *editing) liveOnly() (free []int) {
	for j, id := range e.pairing.v.ids {
		if complete(e.t, e.v[j]) && !e.taken[j] && e.dropped[j] < 0 && e.pairing.v.more[id] == nil && !has(e.pairing.l.first, id) && !has(e.pairing.o.first, id) {
			free = append(free, j)
		}
	}
	return free
}

// mostEdits is how many pairs are compared: more entries with new keys were not edited one by one, and the
// comparison would take time that grows with their square.
const mostEdits = 1 << 18

// couples finds for each of those the free entry of live that it is most like. The likeness
// has to be mutual, and no other entry may be equally like it.
func (e *editing) couples(those []int, like func(int, any) likeness) map[int]int {
	out := map[int]int{}
	if len(those)*len(e.free) > mostEdits {
		return out
	}
	for _, i := range those {
		j := most(e.free, func(j int) likeness {
			if e.taken[j] {
				return unlike
			}
			return like(i, e.v[j])
		})
		if j >= 0 && most(those, func(i int) likeness { return like(i, e.v[j]) }) == i {
			out[i] = j
		}
	}
	return out
}

// most returns the one of those that is most alike, or -1.
func most(those []int, like func(int) likeness) int {
	found, best := -1, unlike
	for _, j := range those {
		switch n := like(j); {
		case n > best:
			found, best = j, n
		case n == best:
			found = -1
		}
	}
	return found
}

// findTwins finds the entries of live that may have been local's before a key was edited. Managed fields
// do not show it: the entry that was applied has no record any more.
func (p *pairing) findTwins(t *Type, l, v []any) {
	var lost []int
	for i := range l {
		if len(t.Keys) > 1 && p.live[i] < 0 && p.original[i] < 0 {
			lost = append(lost, i)
		}
	}
	if len(lost)*len(v) > mostEdits {
		return
	}
	p.twins = map[int]bool{}
	for j := range v {
		p.twins[j] = !p.taken[j] && slices.ContainsFunc(lost, func(i int) bool { return allButOneKey(t, l[i], v[j]) })
	}
}

// besides reports an entry of another manager that stays beside one of local's that is like it.
func (m *merger) besides(c *cursor, p *pairing, j int) {
	if p.twins[j] && m.foreign(c.path()) != nil {
		m.plan.Undecided = append(m.plan.Undecided, m.removal(c.path(), false, Removal{Value: c.here.entry, Cause: CauseLive}))
	}
}

// inOriginal returns the place in original of local's entry i, or -1. It looks by keys
// first, then for the same unique value if local no longer states that key.
func (e *editing) inOriginal(i int) int {
	at := e.original[i]
	for k, id := range e.pairing.o.ids {
		if at < 0 && !has(e.pairing.l.first, id) && !has(e.pairing.v.first, id) && sharesUnique(e.t, e.l[i], e.o[k]) {
			at = k
		}
	}
	return at
}

// likeness says how certain it is that an entry is another with its key changed.
type likeness int

const (
	unlike    likeness = iota
	almost             // all but one key is the same
	certainly          // they cannot stand in one list
)

// became returns how certain it is that local's entry i, which live lacks by its keys, has
// become v. Only original shows that live has lost the entry.
func (e *editing) became(i int, v any) likeness {
	switch {
	case sharesUnique(e.t, e.l[i], v):
		return certainly
	case e.original[i] >= 0:
		return min(almost, likenessOf(e.t, e.o[e.original[i]], v))
	}
	return unlike
}

// Rekeyed reports whether an entry of a keyed list can be another one, was, with a key changed: they share a value
// that has to be unique in the list (Type.Unique), or all that was states, except for one key.
func Rekeyed(t *Type, was, is any) bool { return sharesUnique(t, was, is) || allButOneKey(t, was, is) }

func likenessOf(t *Type, was, is any) likeness {
	switch {
	case sharesUnique(t, was, is):
		return certainly
	case len(t.Keys) > 1 && allButOneKey(t, was, is):
		return almost
	}
	return unlike
}

// complete reports whether the entry has all keys.
func complete(t *Type, e any) bool {
	m, ok := e.(map[string]any)
	return ok && !slices.ContainsFunc(t.Keys, func(k Key) bool { return keyValue(t, k, m) == nil })
}

// sharesUnique reports whether a and b cannot stand in one list.
func sharesUnique(t *Type, a, b any) bool {
	am, isA := a.(map[string]any)
	bm, isB := b.(map[string]any)
	return isA && isB && slices.ContainsFunc(t.Unique, func(row []Key) bool { return t.sameIn(row, am, bm) })
}

// sameIn reports whether a and b have the same values in the fields of a row of Unique, at least one of them set.
func (t *Type) sameIn(row []Key, a, b map[string]any) bool {
	some := false
	for _, k := range row {
		v, w := keyValue(t, k, a), keyValue(t, k, b)
		if (v != nil || w != nil) && !sameKey(v, w) {
			return false
		}
		some = some || v != nil
	}
	return some
}

// allButOneKey reports whether b has all that a states, except for one key.
// They must also share more than what is implied.
func allButOneKey(t *Type, a, b any) bool {
	am, isA := a.(map[string]any)
	bm, isB := b.(map[string]any)
	if !isA || !isB {
		return false
	}
	other, common, same := 0, false, false
	for _, k := range t.Keys {
		switch {
		case !sameKey(keyValue(t, k, am), keyValue(t, k, bm)):
			other++
		case k.Default == nil:
			common = true
		}
	}
	for name, av := range am {
		if isKey(t, name) {
			continue
		}
		f := t.Elem.Field(name)
		bv, ok := bm[name]
		if !equalOpt(Opt{av, true}, Opt{bv, ok}, f) && !(ok && within(f.Type, av, bv)) {
			return false
		}
		same = same || ok && !isZero(av, f.Type)
	}
	return other == 1 && (same || common && bare(t, bm))
}

// bare reports whether an entry has nothing beside its keys, except for what the server fills in or allocates.
func bare(t *Type, e map[string]any) bool {
	keys := maps.Clone(e)
	maps.DeleteFunc(keys, func(name string, _ any) bool { return !isKey(t, name) })
	filled := At[map[string]any](Complete(keys, t.Elem, true))
	for name, v := range e {
		f := t.Elem.Field(name)
		if !isKey(t, name) && !f.Allocated && !isZero(v, f.Type) && !Equal(v, filled[name], f.Type) {
			return false
		}
	}
	return true
}

// keyed returns an entry with its implied keys filled in, so that the key that differs can
// be reported.
func keyed(t *Type, e Opt) Opt {
	m, ok := e.Value.(map[string]any)
	if !ok {
		return e
	}
	out := cloneMap(m)
	for _, k := range t.Keys {
		if out[k.Name] == nil && k.Default != nil {
			out[k.Name] = k.Default
		}
	}
	return Some(out)
}

// anew removes from an entry r of the result what only live's entry has, where its key was
// changed in live and the server applies local's l. To the server the two are different
// entries, for every manager. It keeps nothing of the one in the other, except what it
// fills in or allocates again (KEP-555).
func (m *merger) anew(s *cursor, l, r Opt) Opt {
	rm, isMap := r.Value.(map[string]any)
	lm, inLocal := l.Value.(map[string]any)
	if !isMap || !inLocal || s.field.Type != nil && s.field.Type.Atomic {
		return r
	}
	out := edited{fields: rm}
	for _, name := range sortedKeys(rm) {
		c, is := m.below(s, hop{name: name}), Some(rm[name])
		switch lv, stated := lm[name]; {
		case stated:
			out.put(name, m.anew(c, Some(lv), is))
		case !c.field.Allocated && !(c.field.Default != nil && Equal(rm[name], c.field.Default, c.field.Type)):
			m.withdraw(c.path().String())
			m.reportRemoved(c, CauseAnew, Opt{}, is)
			out.put(name, Opt{})
		}
		m.leave()
	}
	return Some(out.fields)
}

// remade returns r, the entry of the result of which local has another key than live, with what the server
// had made of live's key made of local's, such as the target port of a Service.
func remade(t *Type, r, l, v Opt) Opt {
	fields := At[map[string]any](r.Value)
	out := edited{fields: fields}
	for _, name := range sortedKeys(fields) {
		of := func(entry any) any { return At[any](Complete(Without(At[map[string]any](entry), name), t, true), name) }
		if _, stated := At[map[string]any](l.Value)[name]; !stated && Equal(of(v.Value), fields[name], nil) && of(fields) != nil {
			out.put(name, Some(of(fields)))
		}
	}
	return Some(out.fields)
}
