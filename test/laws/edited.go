package laws

import (
	"maps"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// edits lists what an entry may be otherwise, somebody having changed its key in live:
// for an entry that live has not, entries that only live has, with its key; for one that
// only live has, entries that live has not, with theirs. Which is meant only the engine
// decides; the laws take any.
func edits(t *merge.Type, q quad, o, l, v listed) []merge.Opt {
	if len(t.Keys) < 2 && len(t.Unique) == 0 {
		return nil
	}
	var out []merge.Opt
	switch {
	case !q.v.Set && (q.o.Set || q.l.Set):
		for i, e := range v.list {
			if id := v.ids[i]; l.count(id) == 0 && o.count(id) == 0 && (mayBe(t, q.l, e) || mayBe(t, q.o, e)) {
				out = append(out, some(withKeys(t, e, first(q.l, q.o).Value)))
			}
		}
	case q.v.Set && !q.o.Set && !q.l.Set:
		for _, side := range []listed{l, o} {
			for i, e := range side.list {
				if v.count(side.ids[i]) == 0 && mayBe(t, some(e), q.v.Value) {
					out = append(out, some(e))
				}
			}
		}
	}
	return out
}

// Edited reports whether the path is, or leads through, a list in which an entry of one
// side may be one of another, somebody having changed its key in live.
func (m Merge) Edited(p merge.Path) bool {
	for n := range len(p) + 1 {
		t := m.Type.At(p[:n])
		if t == nil || t.Kind != merge.Keyed {
			continue
		}
		side := func(in any) listed {
			v, _ := merge.Lookup(in, p[:n], m.Type)
			return listOf(t, some(v))
		}
		o, l, v := side(m.Triple.Original), side(m.Triple.Local), side(m.Triple.Live)
		for _, id := range union(o.ids, l.ids, v.ids) {
			if len(edits(t, quad{o: o.only(id), l: l.only(id), v: v.only(id)}, o, l, v)) > 0 {
				return true
			}
		}
	}
	return false
}

// edited checks an entry that may have been edited: it is checked as it stands, and, if
// that does not hold, as each of the others.
func (c *checker) edited(a *at, q quad, n int, others []merge.Opt) {
	plain := checker{blanked: c.blanked, result: c.result, typ: c.typ}
	plain.entry(a, q, n)
	if len(plain.found) == 0 || q.v.Set && !q.r.Set {
		return
	}
	for _, e := range others {
		again := checker{blanked: c.blanked, result: c.result, typ: c.typ}
		as := q
		if !q.v.Set {
			as.v = e
		}
		if again.entry(a, as, n); len(again.found) == 0 {
			return
		}
	}
	c.found = append(c.found, plain.found...)
}

func first(a, b merge.Opt) merge.Opt {
	if a.Set {
		return a
	}
	return b
}

// mayBe: b has a's value of a field that may not repeat, or all but one of a's keys.
func mayBe(t *merge.Type, a merge.Opt, b any) bool {
	am, _ := a.Value.(map[string]any)
	bm, _ := b.(map[string]any)
	if am == nil || bm == nil {
		return false
	}
	for _, k := range t.Unique {
		if v := keyOf(t, k, am); v.Value != nil && identical(v, keyOf(t, k, bm)) {
			return true
		}
	}
	other := 0
	for _, k := range t.Keys {
		if !merge.Equal(keyOf(t, k, am).Value, keyOf(t, k, bm).Value, nil) {
			other++
		}
	}
	return len(t.Keys) > 1 && other == 1
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

// rekeyed: the entry that goes comes back with another key, and what the applier itself
// had set it to is overwritten like any value of its own.
func rekeyed(p merge.Plan, gone merge.Change, typ *merge.Type) bool {
	last := len(gone.Path) - 1
	if last < 0 || gone.Path[last].Kind != merge.KeyStep {
		return false
	}
	list := typ.At(gone.Path[:last])
	for _, c := range p.Changes {
		comes := c.Op == merge.OpSet && !c.Old.Set && len(c.Path) == last+1 && c.Path[:last].String() == gone.Path[:last].String()
		if comes && list != nil && mayBe(list, gone.Old, c.New.Value) {
			return true
		}
	}
	return false
}
