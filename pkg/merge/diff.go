package merge

import (
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
