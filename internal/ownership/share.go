package ownership

import (
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
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

// WithOthers returns local with the values that stay though local no longer states them:
// what others hold in the fields and entries that only the applier had applied. For the
// server, a manager that no longer applies a field releases it, and its other holders keep
// it. A null in local releases nothing: it asks for the removal. local is not modified.
//
// typ is the type of the object; live orders what is added to lists.
func (s Shares) WithOthers(local any, live any, typ *merge.Type) any {
	if s.Applied == nil || s.Others == nil {
		return local
	}
	return withOthers(local, place{s.Applied, s.Others, live}, typ)
}

// place is one place of the object, with the values of the applier, of others and of live.
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
	out := maps.Clone(local)
	for name, a := range merge.At[map[string]any](at.applied) {
		v, stated := local[name]
		o, held := merge.At[map[string]any](at.others)[name]
		if !held || !stated && excluded(name, local, typ) {
			continue
		}
		t, inside := typ.Field(name).Type, place{a, o, merge.At[any](at.live, name)}
		switch isMap := t != nil && t.Kind == merge.Map && !t.Atomic; {
		case stated:
			v = withOthers(v, inside, t)
		case isMap: // the merge itself leaves what the applier has not applied, if nothing that local states excludes it
			v = withOthers(map[string]any{}, inside, t)
		default:
			v = possible(a, apart(o), t)
		}
		if v == nil || !stated && !merge.HasEntries(v) && merge.HasEntries(o) {
			continue
		}
		out[name] = v
	}
	return out
}

// apart returns what others hold without the entries that are the applier's; nil: nothing.
func apart(others any) any {
	switch v := others.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, e := range v {
			if left := apart(e); left != nil || e == nil {
				out[name] = left
			}
		}
		if v[within] == nil && len(out) >= min(len(v), 1) {
			return out
		}
	case []any:
		out := []any{}
		for _, e := range v {
			if left := apart(e); left != nil || e == nil {
				out = append(out, left)
			}
		}
		if len(out) >= min(len(v), 1) {
			return out
		}
	default:
		return others
	}
	return nil
}

// possible returns what others hold of an object that local drops, without the fields that are not allowed
// once the discriminator is gone that the applier alone holds: no manager can keep them. nil: nothing, also of an
// object that would lack what it needs.
func possible(applied, others any, typ *merge.Type) any {
	held, isMap := others.(map[string]any)
	if !isMap || typ == nil || typ.Kind != merge.Object {
		return others
	}
	mine, out := merge.At[map[string]any](applied), maps.Clone(held)
	for _, g := range typ.OneOf {
		stated := func(of map[string]any) bool {
			return slices.ContainsFunc(g.Fields, func(f string) bool { return of[f] != nil })
		}
		if g.Discriminator == "" && stated(mine) && !stated(held) {
			return nil // of a probe's handlers the object needs one
		}
		if g.Discriminator == "" || mine[g.Discriminator] == nil || held[g.Discriminator] != nil {
			continue
		}
		for _, name := range g.Fields {
			if g.Selects[g.Fallback] != name {
				delete(out, name)
			}
		}
	}
	for name, v := range out {
		if out[name] = possible(mine[name], v, typ.Field(name).Type); out[name] == nil {
			delete(out, name)
		}
	}
	for name, f := range typ.Fields {
		if out[name] == nil && f.Required && f.Default == nil {
			return nil
		}
	}
	if len(out) == 0 && len(held) > 0 {
		return nil
	}
	return out
}

// excluded reports whether local states another field of a group of which only one may be
// set. What others hold of the field is then a disagreement, and does not stay beside it.
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

// nameless reports whether what stays of an entry lacks another key that identifies it, such as the name of a
// Service's port: the server refuses it beside other entries.
func nameless(typ *merge.Type, entry, stays any) bool {
	return slices.ContainsFunc(slices.Concat(typ.Unique...), func(k merge.Key) bool {
		is, had := merge.At[any](stays, k.Name), merge.At[any](entry, k.Name)
		return had != nil && had != k.Default && is == nil
	})
}

// entriesStay puts an entry that stays after the one that it follows in live.
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
		} else if e := apart(others[h]); e != nil && !nameless(typ, live[w], e) {
			stay[w] = e
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

// WithRepeated returns what was applied last, with every entry of live added that has the
// same key as another one in its list, where local states that key. To server-side apply
// they are one entry, which becomes what local states. Nothing is modified; nil stays nil
// where there are no such entries. typ is the type of all of them.
//
// Rules: the merge of lists in structured-merge-diff/v6/typed, which puts what is applied in the
// place of all entries of its key.
func WithRepeated(applied, local, live any, typ *merge.Type) any {
	switch v := local.(type) {
	case map[string]any:
		of, isMap := live.(map[string]any)
		if was, ok := applied.(map[string]any); isMap && (ok || applied == nil) && (typ == nil || !typ.Atomic) {
			return fieldsRepeated(was, v, of, typ)
		}
	case []any:
		of, isList := live.([]any)
		if was, ok := applied.([]any); isList && (ok || applied == nil) && typ != nil && (typ.Kind == merge.Keyed || typ.Kind == merge.Set) {
			return entriesRepeated(was, v, of, typ)
		}
	}
	return applied
}

func fieldsRepeated(applied, local, live map[string]any, typ *merge.Type) any {
	out := maps.Clone(applied)
	for name, v := range local {
		with := WithRepeated(applied[name], v, live[name], typ.Field(name).Type)
		if with == nil {
			continue
		}
		if out == nil {
			out = map[string]any{}
		}
		out[name] = with
	}
	if out == nil {
		return nil
	}
	return out
}

func entriesRepeated(applied, local, live []any, typ *merge.Type) any {
	was, is := merge.EntriesOf(applied, typ), merge.EntriesOf(live, typ)
	out, more, replaced := slices.Clone(applied), []any(nil), map[int]bool{}
	for i, step := range schema.EntrySteps(typ, local) {
		if step.Nth > 1 { // server-side apply refuses it
			continue
		}
		all, at := is.All(step), was.At(step)
		switch {
		case len(all) > 1:
			for _, i := range was.All(step) {
				replaced[i] = true
			}
			for _, i := range all {
				more = append(more, live[i])
			}
		case len(all) == 1 && typ.Kind == merge.Keyed && at >= 0:
			out[at] = WithRepeated(out[at], local[i], live[all[0]], typ.Elem)
		case len(all) == 1 && typ.Kind == merge.Keyed:
			if with, isMap := WithRepeated(nil, local[i], live[all[0]], typ.Elem).(map[string]any); isMap {
				more = append(more, withKeys(with, live[all[0]], step))
			}
		}
	}
	left := make([]any, 0, len(out)+len(more))
	for i, e := range out {
		if !replaced[i] {
			left = append(left, e)
		}
	}
	if out == nil && more == nil {
		return nil
	}
	return append(left, more...)
}
