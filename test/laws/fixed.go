package laws

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// fixed: the value at the path cannot be changed once the object is there or runs.
//
// Rule: docs/semantics.md#the-rules ("What can no longer be changed").
func (c *checker) fixed(p merge.Path) bool {
	return c.around || c.forbidden(p, func(merge.Fixed) bool { return true })
}

// shrinks: the API lets everybody remove what is at the path, and nobody add to it.
func (c *checker) shrinks(p merge.Path) bool {
	return c.forbidden(p, func(f merge.Fixed) bool { return f.Shrinks })
}

// forbidden: such a row leads to the path, or to what is around it.
func (c *checker) forbidden(p merge.Path, is func(merge.Fixed) bool) bool {
	for n := range p {
		t := c.typ.At(p[:n])
		if t != nil && slices.ContainsFunc(t.Fixed, func(f merge.Fixed) bool {
			return is(f) && through(f.Path, p[n:]) && !slices.ContainsFunc(f.Except, func(rest []string) bool { return through(slices.Concat(f.Path, rest), p[n:]) })
		}) {
			return true
		}
	}
	return false
}

// through: the path leads to where the names lead, or through it.
func through(way []string, p merge.Path) bool { return len(way) <= len(p) && leads(way, p[:len(way)]) }

// Fixed reports whether the path leads to, or through, a value that cannot be changed once the
// object is there or runs.
func (m Merge) Fixed(p merge.Path) bool { return (&checker{typ: m.Type}).fixed(p) }

// Added reports whether the path leads to, or through, such a value, and whether the result there
// has what local states, and more.
func (m Merge) Added(p merge.Path) bool {
	f, _ := schema.FieldAt(m.Type, p)
	local, _ := merge.Lookup(m.Triple.Local, p, m.Type)
	result, _ := merge.Lookup(m.Result, p, m.Type)
	l, isList := local.([]any)
	r, _ := result.([]any)
	return m.Fixed(p) && added(f.Type, local, result) && (!isList || len(r) > len(l))
}

// added: r is l, and more.
func added(t *merge.Type, l, r any) bool {
	switch l := l.(type) {
	case map[string]any:
		m, ok := r.(map[string]any)
		for name, v := range l {
			f := t.Field(name)
			ok = ok && (same(merge.Some(v), some(m[name]), f) || v != nil && added(f.Type, v, m[name]))
		}
		return ok
	case []any:
		list, ok := r.([]any)
		for _, v := range l {
			ok = ok && slices.ContainsFunc(list, func(e any) bool {
				return merge.Equal(v, e, t.EntryType()) || v != nil && added(t.EntryType(), v, e)
			})
		}
		return ok
	}
	return false
}

// excluded: the value is a member of a set in which another one excludes it.
//
// Rule: docs/semantics.md#the-rules ("Members of a set that exclude each other").
func (c *checker) excluded(a *at, v any) bool {
	if a.up == nil || a.up.field.Type == nil || len(a.up.field.Type.Exclusive) == 0 {
		return false
	}
	members := a.up.field.Type.Exclusive
	is := func(v any) bool { text, ok := v.(string); return ok && slices.Contains(members, text) }
	list, _ := merge.Lookup(c.result, a.up.path(), c.typ)
	entries, _ := list.([]any)
	return is(v) && slices.ContainsFunc(entries, func(e any) bool { return e != v && is(e) })
}
