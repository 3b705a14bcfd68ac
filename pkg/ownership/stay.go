package ownership

import (
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// WithOthers is local with what stays though local does not state it any more: what others
// hold in the fields and entries that the applier alone had applied. To the server, who
// applies a field no more gives it up, and whoever holds it too keeps it. A null in local
// gives nothing up: it asks for the removal. local is not modified.
//
// typ is the type of the object; live orders what is added to lists.
func (s Shares) WithOthers(local any, live any, typ *merge.Type) any {
	if s.Applied == nil || s.Others == nil {
		return local
	}
	return withOthers(local, place{s.Applied, s.Others, live}, typ)
}

// place is one place of the object, as the applier and others hold it, and as live has it.
type place struct{ applied, others, live any }

func withOthers(local any, at place, typ *merge.Type) any {
	if typ != nil && typ.Atomic {
		return local
	}
	switch v := local.(type) {
	case map[string]any:
		return fieldsStay(v, at, typ)
	case []any:
		if typ != nil && (typ.Kind == merge.Keyed || typ.Kind == merge.Set) {
			return entriesStay(v, at, typ)
		}
	}
	return local
}

func fieldsStay(local map[string]any, at place, typ *merge.Type) map[string]any {
	applied, _ := at.applied.(map[string]any)
	others, _ := at.others.(map[string]any)
	live, _ := at.live.(map[string]any)
	out := maps.Clone(local)
	for name, a := range applied {
		v, stated := local[name]
		o, held := others[name]
		if !held || !stated && excluded(name, local, typ) {
			continue
		}
		if stated {
			v = withOthers(v, place{a, o, live[name]}, typ.Field(name).Type)
		} else {
			v = o
		}
		out[name] = v
	}
	return out
}

// excluded: local states another field of a group of which only one may be set. What others
// hold of the field is then a disagreement, and not something that stays beside it.
func excluded(name string, local map[string]any, typ *merge.Type) bool {
	if typ == nil {
		return false
	}
	for _, g := range typ.OneOf {
		if !slices.Contains(g.Fields, name) {
			continue
		}
		if value, ok := local[g.Discriminator].(string); ok && g.Discriminator != "" {
			return g.Selects[value] != name
		}
		if slices.ContainsFunc(g.Fields, func(other string) bool { return other != name && local[other] != nil }) {
			return true
		}
	}
	return false
}

// entriesStay puts an entry that stays behind the one that it follows in live.
func entriesStay(local []any, at place, typ *merge.Type) []any {
	applied, _ := at.applied.([]any)
	others, _ := at.others.([]any)
	live, _ := at.live.([]any)
	is, held, was := merge.EntriesOf(local, typ), merge.EntriesOf(others, typ), merge.EntriesOf(live, typ)
	now, stay := slices.Clone(local), map[int]any{} // by their places in live
	for i, step := range schema.EntrySteps(typ, applied) {
		h, w := held.At(step), was.At(step)
		if h < 0 || w < 0 {
			continue
		}
		if n := is.At(step); n >= 0 {
			now[n] = withOthers(now[n], place{applied[i], others[h], live[w]}, typ.Elem)
		} else {
			stay[w] = others[h]
		}
	}
	behind, last := map[int][]any{}, -1
	for w, step := range schema.EntrySteps(typ, live) {
		if e, stays := stay[w]; stays {
			behind[last] = append(behind[last], e)
		} else if i := is.At(step); i >= 0 {
			last = i
		}
	}
	out := slices.Concat([]any{}, behind[-1])
	for i, e := range now {
		out = append(append(out, e), behind[i]...)
	}
	return out
}
