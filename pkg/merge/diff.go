package merge

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
)

// Diff lists the changes that lead from one value to another, in path order; nil where
// there are none. Keyed lists and sets are compared entry by entry, as typ says. Every
// other list, and one in which entries share an identity, is one value. Values are compared
// literally: another spelling is a change.
func Diff(from, to any, typ *Type) []Change {
	var d differ
	root := cursor{field: Field{Type: typ}}
	d.diffValue(&root, Some(from), Some(to))
	return d.changes
}

type differ struct {
	changes []Change
	spots
}

func (d *differ) diffValue(s *cursor, from, to Opt) {
	if from.Set && to.Set && shared(from.Value, to.Value) || !from.Set && !to.Set {
		return
	}
	if !to.Set {
		d.changes = append(d.changes, Change{Op: OpRemove, Path: s.path(), Old: from})
		return
	}
	if from.Set {
		t := s.field.Type
		switch f := from.Value.(type) {
		case map[string]any:
			if m, ok := to.Value.(map[string]any); ok && !(t != nil && t.Atomic) {
				d.maps(s, f, m)
				return
			}
		case []any:
			if l, ok := to.Value.([]any); ok && isList(t) && d.lists(s, f, l) {
				return
			}
		}
		if Identical(from.Value, to.Value) {
			return
		}
	}
	d.changes = append(d.changes, Change{Op: OpSet, Path: s.path(), Old: from, New: to})
}

func (d *differ) maps(s *cursor, from, to map[string]any) {
	names := make([]string, 0, len(to))
	for k, v := range to {
		if w, ok := from[k]; !ok || !shared(v, w) {
			names = append(names, k)
		}
	}
	for k := range from {
		if _, ok := to[k]; !ok {
			names = append(names, k)
		}
	}
	sort.Strings(names)
	for _, k := range names {
		d.diffValue(d.below(s, hop{name: k}), key(from, k), key(to, k))
		d.leave()
	}
}

// lists compares entry by entry; it returns false where entries share an identity.
func (d *differ) lists(s *cursor, from, to []any) bool {
	t := s.field.Type
	fx, tx := indexOf(t, from), indexOf(t, to)
	if fx.more != nil || tx.more != nil {
		return false
	}
	var kept, added []string // the order that replaying leads to
	var before []Step
	for i, id := range fx.ids {
		if has(tx.first, id) {
			kept = append(kept, id)
			continue
		}
		if before == nil {
			before = steps(t, from)
		}
		d.changes = append(d.changes, Change{
			Op: OpRemove, Path: d.below(s, hop{list: t, entry: from[i]}).path(), Old: Some(from[i]), OldOrder: before,
		})
		d.leave()
	}
	for i, id := range tx.ids {
		var old Opt
		if j, ok := fx.first[id]; ok {
			old = Some(from[j])
		} else {
			added = append(added, id)
		}
		d.diffValue(d.below(s, hop{list: t, entry: to[i]}), old, Some(to[i]))
		d.leave()
	}
	if got := append(kept, added...); !slices.Equal(got, tx.ids) {
		d.changes = append(d.changes, Change{
			Op: OpOrder, Path: s.path(),
			OldOrder: steps(t, from), NewOrder: steps(t, to),
		})
	}
	return true
}

func steps(t *Type, list []any) []Step {
	out := make([]Step, len(list))
	for i, e := range list {
		out[i] = StepOf(t, e, 0)
	}
	return out
}

// Replay applies changes, one after the other, to a copy of v. Replaying a plan's changes
// on live gives its result; an error names the path that is missing.
func Replay(v any, changes []Change) (any, error) {
	for _, c := range changes {
		var err error
		if v, err = replay(v, c.Path, c); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Path, err)
		}
	}
	return v, nil
}

// Reverse reverses changes: replaying them on the result gives live. It never returns nil.
func Reverse(changes []Change) []Change {
	out := make([]Change, 0, len(changes))
	var orders []Change // lists that get entries back, put into order at the end
	seen := map[string]bool{}
	for i := len(changes) - 1; i >= 0; i-- {
		c := changes[i]
		if list := c.Path; c.OldOrder != nil {
			if c.Op != OpOrder { // the path is that of an entry
				list = list[:len(list)-1]
			}
			if !seen[list.String()] {
				seen[list.String()] = true
				orders = append(orders, Change{Op: OpOrder, Path: list, OldOrder: c.NewOrder, NewOrder: c.OldOrder})
			}
		}
		if c.Op == OpOrder {
			continue
		}
		r := Change{Op: OpSet, Path: c.Path, Old: c.New, New: c.Old}
		if !r.New.Set {
			r.Op = OpRemove
		}
		out = append(out, r)
	}
	return append(out, orders...)
}

func replay(v any, p Path, c Change) (any, error) {
	if len(p) == 0 {
		switch c.Op {
		case OpOrder:
			return reorder(v, c.NewOrder)
		case OpRemove:
			return nil, nil
		}
		return c.New.Value, nil
	}
	last := len(p) == 1 && c.Op != OpOrder
	switch s := p[0]; s.Kind {
	case FieldStep:
		m, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: no object to hold it", s)
		}
		if last && c.Op == OpRemove {
			return Without(m, s.Name), nil
		}
		old, ok := m[s.Name]
		if !ok && !last {
			return nil, fmt.Errorf("%s: not there", s)
		}
		e, err := replay(old, p[1:], c)
		return With(m, e, s.Name), err
	default:
		list, ok := v.([]any)
		if !ok {
			return nil, fmt.Errorf("%s: no list to hold it", s)
		}
		return replayEntry(list, p, c, last)
	}
}

func replayEntry(list []any, p Path, c Change, last bool) (any, error) {
	i := EntryAt(list, p[0], nil)
	if last && c.Op == OpSet && !c.Old.Set {
		i = -1 // a new entry, even if its keys resemble another's
	}
	out := append(make([]any, 0, len(list)+1), list...)
	switch {
	case i < 0 && last && c.Op == OpSet:
		return append(out, c.New.Value), nil
	case i < 0:
		return nil, fmt.Errorf("%s: not there", p[0])
	case last && c.Op == OpRemove:
		return append(out[:i], out[i+1:]...), nil
	}
	e, err := replay(list[i], p[1:], c)
	out[i] = e
	return out, err
}

// reorder puts entries into the order of steps; entries that no step names come last.
func reorder(v any, steps []Step) (any, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("no list to reorder")
	}
	entries := EntriesOf(list, nil)
	used := make([]bool, len(list))
	out := make([]any, 0, len(list))
	for _, s := range steps {
		if i := entries.At(s); i >= 0 && !used[i] {
			out, used[i] = append(out, list[i]), true
		}
	}
	for i, e := range list {
		if !used[i] {
			out = append(out, e)
		}
	}
	return out, nil
}

// sameKey compares a key's value with what a user may have typed for it.
func sameKey(a, b any) bool {
	return equalScalars(a, b, nil) || a != nil && b != nil && plain(a) == plain(b)
}

func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return canonical(v)
}
