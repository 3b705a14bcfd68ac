package lastapplied

import (
	"maps"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// blankTo returns conf as known at that level of blanking, marked.
func blankTo(conf map[string]any, level Blanking, typ *merge.Type) map[string]any {
	switch level {
	case BlankSecret:
		conf = blankSecret(conf)
	case BlankLeaves:
		conf = blankLeaves(conf, typ)
	case BlankAll:
		conf = Identity(conf)
	default:
		return conf
	}
	return merge.With(conf, string(level), "metadata", "annotations", Marker)
}

// holdsValues reports whether conf has values to blank: a Secret of only metadata and type has none.
func holdsValues(conf map[string]any) bool {
	for name, v := range conf {
		if !redact.Open(name, v) && !allEmpty(v) {
			return true
		}
	}
	return false
}

// blankSecret keeps the keys of data and stringData. An entry that is null is removed: null
// in an original counts as absent, and a blanked value would not.
func blankSecret(conf map[string]any) map[string]any {
	conf = maps.Clone(conf)
	for name, v := range conf {
		if v == nil || redact.Open(name, v) {
			continue
		}
		keys := map[string]any{} // not a map: the server will refuse it, but it may still be secret
		if m, ok := v.(map[string]any); ok {
			for k, e := range m {
				if e != nil {
					keys[k] = ""
				}
			}
		}
		conf[name] = keys
	}
	return conf
}

// blankLeaves keeps what states which fields and entries there were. Removing needs nothing
// else, here and in stock kubectl.
func blankLeaves(conf map[string]any, typ *merge.Type) map[string]any {
	m := meta(Identity(conf))
	out := blank(conf, typ).(map[string]any)
	out["apiVersion"], out["kind"] = conf["apiVersion"], conf["kind"]
	if blanked := meta(out); blanked != nil {
		maps.Copy(blanked, m)
	}
	return out
}

// blank empties a value. Atomic maps and objects keep their keys: stock kubectl
// merges some of them by key (a Service's selector).
func blank(v any, typ *merge.Type) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if e != nil {
				out[k] = blank(e, typ.Field(k).Type)
			}
		}
		return out
	case []any:
		if typ != nil && typ.Kind == merge.Set {
			return v
		}
		if typ != nil && typ.Kind == merge.Keyed {
			return blankKeyed(v, typ)
		}
	}
	return ""
}

func blankKeyed(list []any, typ *merge.Type) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = blank(e, typ.Elem)
		for _, key := range typ.Keys {
			if v, ok := merge.At[map[string]any](e)[key.Name]; ok && v != nil {
				merge.At[map[string]any](out[i])[key.Name] = v
			}
		}
	}
	return out
}

// Identity returns only what names the object: apiVersion, kind, and of metadata name,
// generateName and namespace, as far as conf has them. conf is not modified.
func Identity(conf map[string]any) map[string]any {
	m := map[string]any{}
	for _, name := range []string{"name", "generateName", "namespace"} {
		if v, ok := meta(conf)[name]; ok {
			m[name] = v
		}
	}
	return map[string]any{"apiVersion": conf["apiVersion"], "kind": conf["kind"], "metadata": m}
}
