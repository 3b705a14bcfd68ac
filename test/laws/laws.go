package laws

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Law is one promise, by the name the documentation gives it.
type Law string

// The laws.
const (
	Wanted  Law = "wanted"   // what local states is in the result
	Gone    Law = "gone"     // what original had and local has not, or has null, is not
	Kept    Law = "kept"     // what only live has is there, to the letter
	OneOf   Law = "one-of"   // the variants that local's excludes are gone
	Order   Law = "order"    // local's order, and live's own entries behind whom they followed
	Settled Law = "settled"  // merging again changes nothing
	Sound   Law = "sound"    // changes and patches lead to the result, and back
	Gentle  Law = "gentle"   // the sides are as they were
	Same    Law = "same"     // again gives the same
	Told    Law = "reported" // nothing is removed or overwritten silently
)

// Breach is one law that one value breaks.
type Breach struct {
	Law  Law
	Path merge.Path
	What string
}

// String is the breach in one line.
func (b Breach) String() string { return fmt.Sprintf("%s: %s: %s", b.Law, b.Path, b.What) }

// Merge is a merge that has been done under the apply policy: the sides as they
// were merged, how they are split, and what came out.
type Merge struct {
	Triple merge.Triple
	Type   *merge.Type
	Result any
}

// Breaches lists where Result breaks wanted, gone, kept, one-of and order; nil
// where it keeps them all.
//
// Rules: docs/semantics.md#the-rules, #how-an-object-is-split and
// #when-two-values-are-equal.
func (m Merge) Breaches() []Breach {
	t := withTwins(m.Triple, m.Type)
	c := checker{blanked: t.Blanked, result: m.Result, typ: m.Type}
	root := at{field: merge.Field{Type: m.Type}}
	c.value(&root, quad{some(t.Original), some(t.Local), some(t.Live), some(m.Result)})
	return c.found
}

type checker struct {
	blanked bool // original has keys, and no values
	result  any  // all of it, and its type
	typ     *merge.Type
	around  bool // all of it can no longer be changed
	found   []Breach
}

func (c *checker) breach(law Law, a *at, what string, values ...merge.Opt) {
	for _, v := range values {
		what += " " + text(v)
	}
	c.found = append(c.found, Breach{law, a.path(), what})
}

// at is a place in the object.
type at struct {
	up    *at
	step  merge.Step
	field merge.Field
	entry bool        // of a map, set or keyed list: goes whole
	keys  []merge.Key // of the keyed list whose entry this is
}

func (a *at) path() merge.Path {
	if a.up == nil {
		return nil
	}
	return a.up.path().Child(a.step)
}

// child is a field of an object or a key of a map.
func (a *at) child(name string) *at {
	f, declared := fieldOf(a.field.Type, name)
	return &at{up: a, step: merge.Named(name), field: f, entry: !declared}
}

// quad is one value on the three sides and in the result.
type quad struct{ o, l, v, r merge.Opt }

func some(v any) merge.Opt { return merge.Opt{Value: v, Set: v != nil} }

// of is the same field of each side.
func (q quad) of(name string) quad {
	pick := func(o merge.Opt) merge.Opt {
		m, _ := o.Value.(map[string]any)
		v, ok := m[name]
		return merge.Opt{Value: v, Set: ok}
	}
	return quad{pick(q.o), pick(q.l), pick(q.v), pick(q.r)}
}

// value checks one value. null on any side but local's is absence. None is
// written, but one of live's may stay.
func (c *checker) value(a *at, q quad) {
	if q.r.Set && q.r.Value == nil && !(q.v.Set && q.v.Value == nil) {
		c.breach(Gone, a, "null is in the result")
	}
	q.o, q.v, q.r = some(q.o.Value), some(q.v.Value), some(q.r.Value)
	if a.field.Allocated && !c.blanked && zero(q.o.Value, a.field.Type) {
		q.o = merge.Opt{} // left to the server, and never ours
	}
	switch {
	case q.l.Set && q.l.Value == nil:
		c.null(a, q)
	case q.l.Set:
		c.stated(a, q)
	case q.o.Set:
		c.dropped(a, q)
	default:
		c.untouched(a, q)
	}
}

// null: local wants it not to be there. The server's default may stay, since it
// would come back.
func (c *checker) null(a *at, q quad) {
	if q.r.Set && !(identical(q.v, q.r) && (a.field.Allocated || same(merge.Opt{}, q.r, a.field) || c.refilled(a, q))) {
		c.breach(Gone, a, "null in local, and in the result", q.r)
	}
}

// untouched: only live has it, or no side. What the server makes of the key of an entry may follow it.
func (c *checker) untouched(a *at, q quad) {
	if q.v.Set && q.r.Set && a.up != nil && a.up.entry && len(a.up.keys) > 0 && a.field.Default == nil && c.refilled(a, q) {
		return
	}
	if !identical(q.v, q.r) && !identicalValues(c.used(a, q.v.Value), c.used(a, q.r.Value)) && (q.r.Set || !c.moot(a) && !c.excluded(a, q.v.Value)) {
		c.breach(Kept, a, "only live has", q.v, q.r)
	}
}

// stated: local says what it is to be.
func (c *checker) stated(a *at, q quad) {
	t := a.field.Type
	switch l := q.l.Value.(type) {
	case map[string]any:
		if splitsMaps(t) {
			c.fields(a, q, l)
			return
		}
	case []any:
		if isList(t) {
			c.entries(a, q, l)
			return
		}
	}
	c.leaf(a, q)
}

// fields checks an object's fields or a map's keys.
func (c *checker) fields(a *at, q quad, l map[string]any) {
	r, isMap := q.r.Value.(map[string]any)
	if q.r.Set && !isMap || !q.r.Set && !nothing(a.field, l) {
		c.breach(Wanted, a, "local's is not there:", q.l, q.r)
		return
	}
	losers := map[string]bool{}
	if t := a.field.Type; t != nil {
		v, _ := q.v.Value.(map[string]any)
		o, _ := q.o.Value.(map[string]any)
		for _, g := range t.OneOf {
			for _, name := range losersOf(t, g, o, l, v) {
				losers[name] = true
			}
		}
	}
	for _, name := range names(q) {
		sides := q.of(name)
		if losers[name] {
			if r[name] != nil {
				c.breach(OneOf, a.child(name), "local's variant excludes it:", some(r[name]))
			}
			continue
		}
		if a.isDefaultKey(name, sides) {
			c.untouched(a.child(name), quad{v: sides.v, r: sides.r})
			continue
		}
		c.value(a.child(name), sides)
	}
}

// isDefaultKey: the default of a key, written in original and left out in local,
// is one identity; it stays.
func (a *at) isDefaultKey(name string, q quad) bool {
	if q.l.Set || q.v.Value == nil {
		return false
	}
	for _, k := range a.keys {
		if k.Name == name && k.Default != nil {
			f, _ := fieldOf(a.field.Type, name)
			return merge.Equal(q.v.Value, k.Default, f.Type)
		}
	}
	return false
}

// leaf checks what is one value: the result is local's, or live's where that is
// the same, or was made of it by the server.
func (c *checker) leaf(a *at, q quad) {
	switch f := a.field; {
	case q.v.Set && same(q.l, q.v, f):
		if !identical(q.v, q.r) {
			c.breach(Kept, a, "live has it, spelled its way:", q.v, q.r)
		}
	case same(q.l, q.r, f):
	case !q.v.Set && !q.r.Set && f.Allocated && zero(q.l.Value, f.Type):
	case q.o.Set && same(q.o, q.l, f) && identical(q.v, q.r) && c.fixed(a.path()) && added(f.Type, q.l.Value, q.r.Value):
	case q.v.Set && identical(q.v, q.r) && (f.Allocated && zero(q.l.Value, f.Type) || c.refilled(a, q)):
	default:
		c.breach(Wanted, a, "local says, the result:", q.l, q.r)
	}
}

// dropped: original had it, local has not.
func (c *checker) dropped(a *at, q quad) {
	if !q.v.Set && q.r.Set {
		c.breach(Kept, a, "only original has", q.r)
		return
	}
	if q.r.Set && !a.entry && identical(q.v, q.r) && (same(merge.Opt{}, q.r, a.field) || c.refilled(a, q) || merge.NewFinder(c.result, c.typ).Refilled(a.path())) {
		return
	}
	switch v := q.v.Value.(type) {
	case map[string]any:
		if !a.entry && splitsMaps(a.field.Type) {
			c.droppedMap(a, q, v)
			return
		}
	case []any:
		if !a.entry && isList(a.field.Type) {
			c.droppedList(a, q, v)
			return
		}
	}
	if q.r.Set {
		c.breach(Gone, a, "original had it, local has not:", q.r)
	}
}

// droppedMap: entries that only live has stay, all else goes, and the value too if
// nothing is left.
func (c *checker) droppedMap(a *at, q quad, v map[string]any) {
	r, isMap := q.r.Value.(map[string]any)
	if q.r.Set && (!isMap || len(r) == 0) {
		c.breach(Gone, a, "nothing may be left of it but others' entries:", q.r)
	}
	for name := range r {
		if _, ok := v[name]; !ok {
			c.breach(Gone, a.child(name), "came from nowhere:", some(r[name]))
		}
	}
	if !q.r.Set && lacking(a.field.Type, v) {
		return
	}
	for name := range v {
		sides := q.of(name)
		b := a.child(name)
		switch {
		case b.entry && sides.o.Value == nil:
			c.untouched(b, quad{v: some(sides.v.Value), r: some(sides.r.Value)})
		case sides.v.Value != nil:
			c.dropped(b, quad{o: some(sides.o.Value), v: sides.v, r: some(sides.r.Value)})
		}
	}
}

// lacking: an object has a field without which it would be refused, so that others' entries cannot stay alone.
func lacking(t *merge.Type, v map[string]any) bool {
	return t != nil && t.Kind == merge.Object && slices.ContainsFunc(slices.Collect(maps.Keys(v)), func(name string) bool {
		f, declared := t.Fields[name]
		return declared && f.Required && f.Default == nil
	})
}

func text(o merge.Opt) string {
	if !o.Set {
		return "(none)"
	}
	b, err := json.Marshal(o.Value)
	if err != nil {
		return "(not JSON)"
	}
	return string(b)
}
