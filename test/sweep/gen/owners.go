package gen

import (
	"encoding/json"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// applier is the manager whose values are ours in triples with managedFields.
const applier = "applier"

// owners makes managedFields for a live object, in which every leaf belongs to
// the applier, to another manager, or to both.
func (m Maker) owners(t *merge.Type, live any) []any {
	ours, theirs := map[string]any{}, map[string]any{}
	m.own(t, live, ours, theirs)
	entry := func(manager, time string, fields map[string]any) any {
		return map[string]any{"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields}
	}
	return []any{entry(applier, "2024-01-01T00:00:00Z", ours), entry("other", "2024-01-02T00:00:00Z", theirs)}
}

// own writes down who owns what of v, and reports who owns any of it.
func (m Maker) own(t *merge.Type, v any, ours, theirs map[string]any) (our, their bool) {
	below := func(key string, t *merge.Type, e any) {
		o, h := map[string]any{}, map[string]any{}
		a, b := m.own(t, e, o, h)
		if a {
			ours[key], our = o, true
		}
		if b {
			theirs[key], their = h, true
		}
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 && (t == nil || !t.Atomic) {
			for _, k := range sortedKeys(v) {
				below("f:"+k, t.Field(k).Type, v[k])
			}
			return our, their
		}
	case []any:
		if len(v) > 0 && t != nil && (t.Kind == merge.Keyed || t.Kind == merge.Set) {
			for _, e := range v {
				below(fieldsKey(t, e), t.Elem, e)
			}
			return our, their
		}
	}
	n := m.r.IntN(5)
	return n < 3, n >= 2
}

// fieldsKey spells an entry as FieldsV1 does.
func fieldsKey(t *merge.Type, e any) string {
	fields, ok := e.(map[string]any)
	if t.Kind == merge.Set || !ok {
		return "v:" + spell(e)
	}
	keys := map[string]any{}
	for _, k := range t.Keys {
		if v := fields[k.Name]; v != nil {
			keys[k.Name] = v
		} else if k.Default != nil {
			keys[k.Name] = k.Default
		}
	}
	return "k:" + spell(keys)
}

func spell(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
