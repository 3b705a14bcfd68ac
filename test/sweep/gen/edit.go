package gen

import (
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Triple makes an original, local as a user edited it, and live as others and a
// server changed it. Now and then one of them is absent, or managedFields are there.
func (m Maker) Triple(k schema.Kind, t *merge.Type) merge.Triple {
	o := m.Object(k, t)
	var in merge.Triple
	in.Local = named(o, m.Edit(t, o))
	switch m.r.IntN(12) {
	case 0: // nothing was applied before
	default:
		in.Original = o
	}
	if m.one(12) {
		return in
	}
	live := m.Edit(t, m.served(t, m.Edit(t, o)))
	in.Live = named(o, live)
	if m.one(4) {
		in.Owners = ownership.Of(map[string]any{"metadata": map[string]any{"managedFields": m.owners(t, in.Live)}})
		in.Appliers = []string{applier}
	}
	return in
}

// named gives v the identity of o, which no edit changes.
func named(o map[string]any, v any) any {
	out, _ := v.(map[string]any)
	out = maps.Clone(out)
	if out == nil {
		out = map[string]any{}
	}
	meta, _ := out["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["name"] = "made"
	out["apiVersion"], out["kind"], out["metadata"] = o["apiVersion"], o["kind"], meta
	return out
}

// Edit gives v with a few changes, as a person makes them: values changed, added,
// taken away, made null, entries repeated and put in another order.
func (m Maker) Edit(t *merge.Type, v any) any {
	switch v := v.(type) {
	case map[string]any:
		return m.editMap(t, v)
	case []any:
		return m.editList(t, v)
	}
	return m.Value(t, 2)
}

func (m Maker) editMap(t *merge.Type, v map[string]any) map[string]any {
	out := make(map[string]any, len(v))
	for _, k := range slices.Sorted(maps.Keys(v)) {
		f := t.Field(k).Type
		switch n := m.r.IntN(40); {
		case n < 5:
		case n == 5:
			out[k] = nil
		case n == 6:
			out[k] = m.Value(f, 2)
		case n < 26:
			out[k] = m.Edit(f, v[k])
		default:
			out[k] = v[k]
		}
	}
	if m.one(4) {
		more, _ := m.Value(t, 3).(map[string]any)
		for k, e := range more {
			if _, has := out[k]; !has {
				out[k] = e
			}
		}
	}
	return out
}

func (m Maker) editList(t *merge.Type, v []any) []any {
	out := make([]any, 0, len(v)+1)
	for _, e := range v {
		switch n := m.r.IntN(24); {
		case n < 3:
		case n < 9:
			out = append(out, m.editEntry(t, e))
		case n == 9:
			out = append(out, e, e)
		default:
			out = append(out, e)
		}
	}
	if m.one(5) {
		m.r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	if m.one(3) && t != nil {
		at := m.r.IntN(len(out) + 1)
		out = slices.Insert(out, at, m.Entry(t, 3))
	}
	return out
}

// editEntry mostly leaves an entry its keys.
func (m Maker) editEntry(t *merge.Type, e any) any {
	edited := m.Edit(t.EntryType(), e)
	was, ok := e.(map[string]any)
	now, ok2 := edited.(map[string]any)
	if t == nil || !ok || !ok2 || m.one(16) {
		return edited
	}
	for _, k := range t.Keys {
		if v, had := was[k.Name]; had {
			now[k.Name] = v
		} else {
			delete(now, k.Name)
		}
	}
	return now
}

// served gives v as a server stores it: without nulls, defaults of keys filled
// in, some fields that were not stated, some spelled otherwise.
func (m Maker) served(t *merge.Type, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v)+1)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if v[k] != nil {
				out[k] = m.served(t.Field(k).Type, v[k])
			}
		}
		if t != nil && t.Kind == merge.Object && len(t.Fields) > 0 && m.one(6) {
			names := sortedFields(t)
			name := names[m.r.IntN(len(names))]
			if _, has := out[name]; !has && isLeaf(t.Fields[name].Type) {
				out[name] = m.Value(t.Fields[name].Type, 1)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			out = append(out, withKeyDefaults(t, m.served(t.EntryType(), e)))
		}
		return out
	}
	if all := spellings[kindOf(t)]; kindOf(t) >= quantity && m.one(3) {
		i := slices.Index(all, v)
		if j := i ^ 1; i >= 0 && j < len(all) {
			return all[j]
		}
	}
	return v
}

// withKeyDefaults fills in the keys that an entry leaves out.
func withKeyDefaults(t *merge.Type, e any) any {
	fields, ok := e.(map[string]any)
	if t == nil || t.Kind != merge.Keyed || !ok {
		return e
	}
	for _, k := range t.Keys {
		if k.Default != nil && (fields[k.Name] == nil || fields[k.Name] == "") {
			fields = maps.Clone(fields)
			fields[k.Name] = k.Default
		}
	}
	return fields
}
