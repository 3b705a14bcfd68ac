package laws

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// listed is a list with its entries' identities.
type listed struct {
	list []any
	ids  []string
	at   map[string][]int
}

func listOf(t *merge.Type, o merge.Opt) listed {
	list, _ := o.Value.([]any)
	x := listed{list: list, at: map[string][]int{}}
	for i, e := range list {
		id := identity(t, e)
		x.ids = append(x.ids, id)
		x.at[id] = append(x.at[id], i)
	}
	return x
}

// only is the entry of that identity where there is one.
func (x listed) only(id string) merge.Opt {
	if is := x.at[id]; len(is) == 1 {
		return merge.Opt{Value: x.list[is[0]], Set: true}
	}
	return merge.Opt{}
}

func (x listed) count(id string) int { return len(x.at[id]) }

// identity spells what reports an entry from others: all keys, a missing one by its
// default, or the value itself.
func identity(t *merge.Type, e any) string {
	m, ok := e.(map[string]any)
	if !ok || t.Kind == merge.Set {
		return "=" + text(merge.Opt{Value: e, Set: true})
	}
	keys := make([]any, len(t.Keys))
	for i, k := range t.Keys {
		keys[i] = m[k.Name]
		f, _ := fieldOf(t.Elem, k.Name)
		if n, ok := keys[i].(json.Number); ok {
			if r, ok := new(big.Rat).SetString(n.String()); ok {
				keys[i] = r.RatString() + " as a number"
			}
		}
		if keys[i] == nil || keys[i] == "" && f.ZeroIsAbsent {
			keys[i] = k.Default
		}
	}
	return text(merge.Opt{Value: keys, Set: true})
}

// step leads to the entry, for telling.
func step(t *merge.Type, e any) merge.Step {
	m, ok := e.(map[string]any)
	if !ok || t.Kind == merge.Set {
		return merge.Step{Kind: merge.ValueStep, Value: e}
	}
	s := merge.Step{Kind: merge.KeyStep}
	for _, k := range t.Keys {
		v := m[k.Name]
		if v == nil {
			v = k.Default
		}
		s.Keys = append(s.Keys, merge.KeyPart{Name: k.Name, Value: v})
	}
	return s
}

func (a *at) to(e any) *at {
	t := a.field.Type
	return &at{up: a, step: step(t, e), field: merge.Field{Type: t.Elem}, entry: true, keys: t.Keys}
}

// entries checks a keyed list or set that local states.
func (c *checker) entries(a *at, q quad, l []any) {
	t := a.field.Type
	if c.shrinks(a.path()) { // what was applied, and a controller has removed, is asked for no more
		was, is, made := listOf(t, q.o), listOf(t, q.v), listOf(t, q.r)
		l = slices.DeleteFunc(slices.Clone(l), func(e any) bool {
			applied := func(o any) bool { return merge.Equal(o, e, t.Elem) }
			return is.count(identity(t, e)) == 0 && made.count(identity(t, e)) == 0 && slices.ContainsFunc(was.list, applied)
		})
		twice := func(e any) bool { return listOf(t, q.l).count(identity(t, e)) > 1 } // which the server refuses
		if q.l.Value = l; len(l) == 0 && !q.r.Set || slices.ContainsFunc(l, twice) {
			return
		}
	}
	if _, isL := q.r.Value.([]any); q.r.Set && !isL || !q.r.Set && !(len(l) == 0 && a.field.ZeroIsAbsent) {
		c.breach(Wanted, a, "local's is not there:", q.l, q.r)
		return
	}
	o, lx, v, r := listOf(t, q.o), listOf(t, q.l), listOf(t, q.v), listOf(t, q.r)
	o, v = sameKeys(t, o, lx, v)
	unique := true
	for _, id := range union(o.ids, lx.ids, v.ids, r.ids) {
		if max(o.count(id), lx.count(id), v.count(id)) > 1 {
			unique = false
			c.group(a, id, counts{o.count(id), lx.count(id), v.count(id), r.count(id)})
			continue
		}
		c.entry(a, quad{o.only(id), lx.only(id), v.only(id), r.only(id)}, r.count(id))
	}
	c.inOrder(a, lx, r)
	if unique {
		c.places(a, lx, v, r)
	}
}

// entry checks one entry whose identity is its own on every side.
func (c *checker) entry(a *at, q quad, n int) {
	first := q.r // by whose keys the result is looked into
	for _, o := range []merge.Opt{q.l, q.v, q.o} {
		if !first.Set {
			first = o
		}
	}
	e := a.to(first.Value)
	switch {
	case n > 1:
		c.breach(Wanted, e, "is there more than once")
	case q.l.Set && !q.r.Set:
		c.breach(Wanted, e, "local's entry is not there")
	case q.l.Set && q.l.Value == nil: // null as an entry is data
	default:
		c.value(e, q)
	}
}

// counts are how many entries of one identity each side has.
type counts struct{ o, l, v, r int }

// group checks entries that share an identity. Which is which cannot be reported from
// outside, but how many there are can: no entry of local is missing, none of live
// goes that does not stand for one that local gave up, and no more are there than
// local has and live brought.
func (c *checker) group(a *at, id string, n counts) {
	switch {
	case n.r < n.l:
		c.breach(Wanted, a, "entries of local are missing: "+id)
	case n.r < n.v-max(0, n.o-n.l):
		c.breach(Kept, a, "entries of live are missing: "+id)
	case n.r > n.l+max(0, n.v-n.o):
		c.breach(Gone, a, "entries that local gave up are there: "+id)
	}
}

// inOrder: local's entries are in the result, whole and in local's order. A set's
// order says nothing.
func (c *checker) inOrder(a *at, l, r listed) {
	t, j := a.field.Type, 0
	if t.Kind == merge.Set {
		return
	}
	for i, e := range l.list {
		for j < len(r.list) && !(r.ids[j] == l.ids[i] && c.says(a, e, r.list[j])) {
			j++
		}
		if j == len(r.list) {
			c.breach(Order, a.to(e), "is not there whole, in local's order")
			return
		}
		j++
	}
}

// says: the result's entry of the list has all that local's states.
func (c *checker) says(a *at, l, r any) bool {
	if l == nil {
		return r == nil
	}
	t := a.field.Type.Elem
	inside := checker{result: r, typ: t, around: c.fixed(a.path())}
	o, is := merge.Some(l), merge.Some(r)
	inside.value(&at{field: merge.Field{Type: t}}, quad{o: o, l: o, v: is, r: is})
	return len(inside.found) == 0
}

// places checks where live's own entries stand: in their own order, each behind
// the entry of local that it followed. A set in which nothing comes or goes keeps
// live's order.
func (c *checker) places(a *at, l, v, r listed) {
	if a.field.Type.Kind == merge.Set && sameMembers(v, r) {
		if !slices.Equal(v.ids, r.ids) {
			c.breach(Order, a, "a set is not reordered")
		}
		return
	}
	was, is := followers(l, v, r), followers(l, r, r)
	for _, behind := range append([]string{atFront}, l.ids...) {
		if !slices.Equal(was[behind], is[behind]) {
			c.breach(Order, a, fmt.Sprintf("behind %s stand %v, not %v", behind, is[behind], was[behind]))
		}
	}
}

// atFront stands for the entry before those that are in front of all of local's.
const atFront = "nothing"

// followers lists, for each entry of local, the entries behind it that local does
// not have and the result does.
func followers(l, in, r listed) map[string][]string {
	out := map[string][]string{}
	behind := atFront
	for _, id := range in.ids {
		switch {
		case l.count(id) > 0:
			behind = id
		case r.count(id) > 0:
			out[behind] = append(out[behind], id)
		}
	}
	return out
}

func sameMembers(a, b listed) bool {
	x, y := slices.Sorted(slices.Values(a.ids)), slices.Sorted(slices.Values(b.ids))
	return slices.Equal(x, y)
}

// droppedList: entries that original had go, others stay as they are.
func (c *checker) droppedList(a *at, q quad, v []any) {
	t := a.field.Type
	if r, isL := q.r.Value.([]any); q.r.Set && (!isL || len(r) == 0) {
		c.breach(Gone, a, "nothing may be left of it but others' entries:", q.r)
		return
	}
	o, vx, r := listOf(t, q.o), listOf(t, q.v), listOf(t, q.r)
	o, vx = sameKeys(t, o, listed{}, vx)
	for _, id := range union(vx.ids, r.ids) {
		want := max(0, vx.count(id)-o.count(id))
		switch {
		case r.count(id) > want:
			c.breach(Gone, a.to(r.list[r.at[id][0]]), "original had it, local has not")
		case r.count(id) < want:
			c.breach(Kept, a.to(v[vx.at[id][0]]), "only live has it")
		}
	}
	left := slices.Clone(v)
	for _, e := range r.list { // each is one of live's, in live's order
		for len(left) > 0 && !identicalValues(left[0], e) {
			left = left[1:]
		}
		if len(left) == 0 {
			c.breach(Kept, a.to(e), "is not as live has it, in live's order")
			return
		}
		left = left[1:]
	}
}

func union(lists ...[]string) []string {
	var out []string
	seen := map[string]bool{}
	for _, list := range lists {
		for _, id := range list {
			if !seen[id] {
				seen[id] = true
				out = append(out, id)
			}
		}
	}
	return out
}

func names(q quad) []string {
	seen := map[string]bool{}
	for _, side := range []merge.Opt{q.o, q.l, q.v, q.r} {
		m, _ := side.Value.(map[string]any)
		for name := range m {
			seen[name] = true
		}
	}
	out := make([]string, 0, len(seen))
	for name := range seen {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// identical compares to the letter; null inside is not absence.
func identical(a, b merge.Opt) bool {
	return a.Set == b.Set && identicalValues(a.Value, b.Value)
}

func identicalValues(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !identicalValues(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, identicalValues)
	case nil, bool, string, json.Number:
		switch b.(type) {
		case nil, bool, string, json.Number:
			return a == b
		}
	}
	return false
}
