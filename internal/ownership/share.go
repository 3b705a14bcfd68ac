package ownership

import (
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Shares holds the parts of live that a server-side applier and all others hold, with
// live's values.
type Shares struct {
	// Applied holds the values of the applier alone, with the keys of the entries around it: the
	// server removes it once it is no longer applied. nil: nothing.
	Applied any

	// Others holds the values of others: another manager, or the same one by updates or through a
	// subresource. An entry of a map or list belongs to those who hold the entry itself; one in which
	// they hold something alone has the field within. nil: nothing.
	Others any
}

// within marks an entry that others do not hold, but something in it: it is removed with the applier's entry.
const within = "\x00within"

// SharesOf reads from managedFields what the manager has applied to live, in any version,
// and what others hold. What the server allocates has no owner. typ is the type of live;
// nil knows no lists.
//
// Rules: KEP-555, and the pruning of structured-merge-diff/v6/merge.
func SharesOf(live any, manager string, typ *merge.Type) Shares {
	obj, ok := live.(map[string]any)
	if !ok {
		return Shares{}
	}
	h := Holders{Alone: true, Has: func(m, operation string) bool { return m == manager && operation == "Apply" }}
	applied, others := split(obj, typ, h.entries(obj))
	s := Shares{Others: others.Value}
	if applied.Set {
		s.Applied = identified(applied.Value, obj)
	}
	return s
}

// identified adds obj's identity to the configuration v, which is a part of obj.
func identified(v any, obj map[string]any) map[string]any {
	out, _ := lastapplied.Strip(lastapplied.WithoutSet(lastapplied.Without(v)), false)
	names := lastapplied.Identity(obj)
	m := map[string]any{}
	maps.Copy(m, meta(out.(map[string]any)))
	maps.Copy(m, meta(names))
	result := merge.With(out.(map[string]any), m, "metadata")
	result["apiVersion"], result["kind"] = names["apiVersion"], names["kind"]
	return result
}

// split returns the parts of v that the applier holds alone, and those that others hold.
func split(v any, typ *merge.Type, sets []owned) (applied, others merge.Opt) {
	entire := whole(v, typ, sets)
	m, isMap := v.(map[string]any)
	list, isList := v.([]any)
	switch {
	case len(sets) == 0:
		return merge.Opt{}, merge.Opt{}
	case isMap && !entire:
		return splitMap(m, typ, sets)
	case isList && !entire:
		return splitList(list, typ, sets)
	case slices.ContainsFunc(sets, stranger):
		return merge.Opt{}, merge.Some(v)
	}
	return merge.Some(v), merge.Opt{}
}

func splitMap(m map[string]any, typ *merge.Type, sets []owned) (applied, others merge.Opt) {
	mine, theirs := map[string]any{}, map[string]any{}
	for name, v := range m {
		hold := below(sets, "f:"+name)
		f, declared := declares(typ, name)
		if f.Allocated {
			continue
		}
		a, o := split(v, typ.Field(name).Type, hold)
		if a.Set {
			mine[name] = a.Value
		}
		if inner, isMap := o.Value.(map[string]any); declared || shared(hold) {
			if o.Set {
				theirs[name] = o.Value
			}
		} else if isMap {
			theirs[name] = merge.With(inner, true, within)
		}
	}
	applied = merge.Opt{Value: mine, Set: len(mine) > 0 || slices.ContainsFunc(sets, func(s owned) bool { return !s.other && (s.itself() || len(m) == 0) })}
	others = merge.Opt{Value: theirs, Set: len(theirs) > 0 || slices.ContainsFunc(sets, func(s owned) bool { return s.other && s.itself() })}
	return applied, others
}

// itself reports whether the value is held itself, not only what is in it.
func (s owned) itself() bool { return len(s.fields) == 0 || s.fields["."] != nil }

// splitList is split for a list: it returns entries with their keys, in live's order. An owner of the
// list as one value has set it when its type was that, and holds the entries that no manager holds by key.
func splitList(list []any, typ *merge.Type, sets []owned) (applied, others merge.Opt) {
	mine, theirs, entries := map[int]any{}, map[int]any{}, merge.EntriesOf(list, typ)
	for _, key := range keysOf(sets) {
		step, ok := stepOf(key)
		i := entries.At(step)
		if !ok || i < 0 {
			continue
		}
		hold := below(sets, key)
		if all := entries.All(step); len(all) > 1 && !shared(hold) {
			for _, i := range all {
				mine[i] = list[i]
			}
			continue
		}
		a, o := split(list[i], typ.EntryType(), hold)
		if slices.ContainsFunc(hold, holder) {
			mine[i] = keyed(a, list[i], step)
		}
		if shared(hold) {
			theirs[i] = keyed(o, list[i], step)
		} else if inner, isMap := keyed(o, list[i], step).(map[string]any); isMap && o.Set {
			theirs[i] = merge.With(inner, true, within)
		}
	}
	entire := slices.DeleteFunc(slices.Clone(sets), func(s owned) bool { return len(s.fields) > 0 })
	for i, e := range list {
		if _, held := mine[i]; held || len(entire) == 0 || theirs[i] != nil {
			continue
		}
		if shared(entire) {
			theirs[i] = e
		} else {
			mine[i] = e
		}
	}
	return inOrder(mine), inOrder(theirs)
}

// keyed is the part of an entry that is held, with the entry's keys; the entry itself if it
// is the member of a set.
func keyed(part merge.Opt, entry any, step merge.Step) any {
	if step.Kind != merge.KeyStep {
		return entry
	}
	return withKeys(merge.At[map[string]any](part.Value), entry, step)
}

func inOrder(entries map[int]any) merge.Opt {
	out := make([]any, 0, len(entries))
	for _, i := range slices.Sorted(maps.Keys(entries)) {
		out = append(out, entries[i])
	}
	return merge.Opt{Value: out, Set: len(out) > 0}
}
