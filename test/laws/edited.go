package laws

import (
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// rekeyed are the entries that only live has by their keys, by their places in it, and that
// are entries of local or original, of which a key was changed in live. An entry of which the
// keys repeat, or of which one is missing, does not count.
//
// Rule: docs/semantics.md#how-an-object-is-split ("Keys edited in place").
type rekeyed struct {
	local    map[int]int // the entry of local that it is
	original map[int]int // the entry of original that it was; of one that local gave up this is all
}

// How sure it is that an entry is another with its key changed.
const (
	notAtAll = iota
	probably // all but one of the keys are the same, and live states all that was stated
	surely   // both have the same value of a field that may not repeat
)

func rekeyedIn(t *merge.Type, o, l, v listed) rekeyed {
	r := rekeyed{map[int]int{}, map[int]int{}}
	if t == nil || t.Kind != merge.Keyed || len(t.Keys) < 2 && len(t.Unique) == 0 {
		return r
	}
	free := places(t, v, o, l)
	lost := places(t, l, v)
	r.local = surest(free, lost, func(j, i int) int {
		if shareUnique(t, l.list[i], v.list[j]) {
			return surely
		}
		if was := o.only(l.ids[i]); was.Set && sureness(t, was.Value, v.list[j]) > notAtAll {
			return probably
		}
		return notAtAll
	})
	for j, i := range r.local {
		if k, ok := was(t, o, l, v, i); ok {
			r.original[j] = k
		}
	}
	given := without(places(t, o, l, v), r.original)
	free = without(free, swapped(r.local))
	maps.Copy(r.original, surest(free, given, func(j, k int) int { return sureness(t, o.list[k], v.list[j]) }))
	return r
}

// places are those of the entries of a side that have all keys, whose keys do not repeat,
// and that none of the others has by its keys.
func places(t *merge.Type, of listed, others ...listed) []int {
	var out []int
	for i, e := range of.list {
		ok := of.count(of.ids[i]) == 1
		m, isMap := e.(map[string]any)
		for _, k := range t.Keys {
			ok = ok && isMap && keyOf(t, k, m).Value != nil
		}
		for _, side := range others {
			ok = ok && side.count(of.ids[i]) == 0
		}
		if ok {
			out = append(out, i)
		}
	}
	return out
}

// was finds the entry of original that local's ith is: by its keys, else the first that has
// its value of a field that may not repeat, and that no other entry has.
func was(t *merge.Type, o, l, v listed, i int) (int, bool) {
	if at := o.at[l.ids[i]]; len(at) == 1 {
		return at[0], true
	}
	for k, e := range o.list {
		if l.count(o.ids[k]) == 0 && v.count(o.ids[k]) == 0 && shareUnique(t, l.list[i], e) {
			return k, true
		}
	}
	return 0, false
}

// surest pairs a's with b's where each is surer of the other than of any.
func surest(a, b []int, sure func(i, j int) int) map[int]int {
	out := map[int]int{}
	for _, i := range a {
		for _, j := range b {
			n, beaten := sure(i, j), false
			for _, other := range a {
				beaten = beaten || other != i && sure(other, j) >= n
			}
			for _, other := range b {
				beaten = beaten || other != j && sure(i, other) >= n
			}
			if n > notAtAll && !beaten {
				out[i] = j
			}
		}
	}
	return out
}

// without are the places that no entry of m leads to.
func without(all []int, m map[int]int) []int {
	var out []int
	for _, i := range all {
		found := false
		for _, j := range m {
			found = found || i == j
		}
		if !found {
			out = append(out, i)
		}
	}
	return out
}

func swapped(m map[int]int) map[int]int {
	out := map[int]int{}
	for i, j := range m {
		out[j] = i
	}
	return out
}

// sureness is how sure it is that the entry has become is.
func sureness(t *merge.Type, entry, is any) int {
	switch {
	case shareUnique(t, entry, is):
		return surely
	case allButOne(t, entry, is):
		return probably
	}
	return notAtAll
}

func shareUnique(t *merge.Type, a, b any) bool {
	am, _ := a.(map[string]any)
	bm, _ := b.(map[string]any)
	for _, row := range t.Unique {
		same, some := am != nil && bm != nil, false
		for _, k := range row {
			v := keyOf(t, k, am)
			same, some = same && merge.Equal(v.Value, keyOf(t, k, bm).Value, nil), some || v.Value != nil
		}
		if same && some {
			return true
		}
	}
	return false
}

// allButOne: of several keys just one differs, all else that the entry states stands in is,
// and a value that both have is not what goes without saying. Without such a value, a key is
// not, and is has nothing beside keys that does not go without saying.
func allButOne(t *merge.Type, entry, is any) bool {
	e, _ := entry.(map[string]any)
	m, _ := is.(map[string]any)
	if len(t.Keys) < 2 || e == nil || m == nil {
		return false
	}
	differ, common, value, key := 0, false, false, map[string]bool{}
	for _, k := range t.Keys {
		key[k.Name] = true
		if merge.Equal(keyOf(t, k, e).Value, keyOf(t, k, m).Value, nil) {
			common = common || k.Default == nil
		} else {
			differ++
		}
	}
	for name, v := range e {
		if key[name] {
			continue
		}
		f, _ := fieldOf(t.Elem, name)
		other, ok := m[name]
		if !stands(f, v, merge.Opt{Value: other, Set: ok}) {
			return false
		}
		value = value || ok && !zero(v, f.Type)
	}
	bare := maps.Clone(m)
	maps.DeleteFunc(bare, func(name string, _ any) bool { return !key[name] })
	made, _ := merge.Complete(bare, t.Elem, true).(map[string]any)
	for name, v := range m {
		f, _ := fieldOf(t.Elem, name)
		common = common && (key[name] || f.Allocated || zero(v, f.Type) || same(merge.Some(v), merge.Some(made[name]), f))
	}
	return differ == 1 && (value || common)
}

// stands: all that v states is stated there too.
func stands(f merge.Field, v any, there merge.Opt) bool {
	if same(merge.Opt{Value: v, Set: true}, there, f) {
		return true
	}
	a, isMap := v.(map[string]any)
	b, both := there.Value.(map[string]any)
	for name, e := range a {
		inner, _ := fieldOf(f.Type, name)
		other, ok := b[name]
		both = both && stands(inner, e, merge.Opt{Value: other, Set: ok})
	}
	return isMap && both
}

func keyOf(t *merge.Type, k merge.Key, m map[string]any) merge.Opt {
	f, _ := fieldOf(t.Elem, k.Name)
	if v := m[k.Name]; v != nil && !(v == "" && f.ZeroIsAbsent) {
		return merge.Some(v)
	}
	return merge.Some(k.Default)
}

// withKeys is e with the keys of as, the defaults written out.
func withKeys(t *merge.Type, e, as any) any {
	from, _ := as.(map[string]any)
	m, _ := e.(map[string]any)
	out := maps.Clone(m)
	for _, k := range t.Keys {
		out[k.Name] = keyOf(t, k, from).Value
	}
	return out
}

// sameKeys are original's and live's list with the entries that are of other keys in live
// by the keys that local gives them or, where local gave them up, original.
func sameKeys(t *merge.Type, o, l, v listed) (original, live listed) {
	r := rekeyedIn(t, o, l, v)
	was, is := slices.Clone(o.list), slices.Clone(v.list)
	for j, k := range r.original {
		is[j] = withKeys(t, v.list[j], o.list[k])
	}
	for j, i := range r.local {
		is[j] = withKeys(t, v.list[j], l.list[i])
		if k, ok := r.original[j]; ok {
			was[k] = withKeys(t, o.list[k], l.list[i])
		}
	}
	return listOf(t, merge.Some(was)), listOf(t, merge.Some(is))
}

// Rekeyed reports whether the path leads to, or through, an entry of which a key was changed
// in live, or a list that has one.
func (m Merge) Rekeyed(p merge.Path) bool {
	for n := range len(p) + 1 {
		t := m.Type.At(p[:n])
		if t == nil || t.Kind != merge.Keyed {
			continue
		}
		o, l, v := m.lists(p[:n])
		r := rekeyedIn(t, o, l, v)
		if len(r.original)+len(r.local) > 0 {
			return true
		}
	}
	return false
}

// lists are the three sides' lists at the path.
func (m Merge) lists(p merge.Path) (o, l, v listed) {
	t := m.Type.At(p)
	side := func(in any) listed {
		list, _ := merge.Lookup(in, p, m.Type)
		return listOf(t, some(list))
	}
	return side(m.Triple.Original), side(m.Triple.Local), side(m.Triple.Live)
}

// comesBack: the entry that is removed is one of local's, of which a key was changed in live.
func (m Merge) comesBack(gone merge.Path) bool {
	last := len(gone) - 1
	if last < 0 || gone[last].Kind != merge.KeyStep || m.Type.At(gone[:last]) == nil {
		return false
	}
	t := m.Type.At(gone[:last])
	o, l, v := m.lists(gone[:last])
	j := merge.EntryAt(v.list, gone[last], t)
	_, ok := rekeyedIn(t, o, l, v).local[j]
	return ok
}
