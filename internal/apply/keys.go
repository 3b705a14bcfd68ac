package apply

import (
	"maps"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// withoutEmptyKeys returns v without the keys of list entries that are "" or null and have
// a default, as in protocol: "". The server stores the default, but records what was
// applied under the stated key, which it does not find again. The next apply would add the
// entry a second time. v is not modified.
func withoutEmptyKeys(v any, typ *merge.Type) any {
	switch v := v.(type) {
	case map[string]any:
		if typ == nil || typ.Atomic {
			return v
		}
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[name] = withoutEmptyKeys(e, typ.Field(name).Type)
		}
		return out
	case []any:
		if typ == nil || typ.Kind != merge.Keyed {
			return v
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withoutEmptyKeys(entryWithoutEmptyKeys(e, typ.Keys), typ.Elem)
		}
		return out
	}
	return v
}

func entryWithoutEmptyKeys(e any, keys []merge.Key) any {
	m, isMap := e.(map[string]any)
	for _, k := range keys {
		if is, stated := m[k.Name]; isMap && stated && (is == nil || is == "") && k.Default != nil {
			m = maps.Clone(m)
			delete(m, k.Name)
			e = m
		}
	}
	return e
}
