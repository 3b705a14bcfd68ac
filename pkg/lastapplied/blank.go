package lastapplied

import (
	"maps"
	"reflect"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
)

// blankTo gives conf as far as level lets it be known, marked.
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
	return withAnnotations(conf, set(annotations(conf), Marker, string(level)))
}

// holdsValues: a Secret of nothing but metadata and type needs no blanking.
func holdsValues(conf map[string]any) bool {
	for name, v := range conf {
		if !redact.Open(name, v) && !allEmpty(v) {
			return true
		}
	}
	return false
}

// blankSecret keeps the keys of data and stringData. An entry that is null is removed:
// null in an original counts as absent, and a blanked value would not.
func blankSecret(conf map[string]any) map[string]any {
	conf = maps.Clone(conf)
	for name, v := range conf {
		if v == nil || redact.Open(name, v) {
			continue
		}
		keys := map[string]any{} // also of no map: the server will refuse it, and it may be a value all the same
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

// blankLeaves keeps what states which fields and entries there were, which is all
// that removing needs, here and in stock kubectl.
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
		from, _ := e.(map[string]any)
		to, _ := out[i].(map[string]any)
		for _, key := range typ.Keys {
			if v, ok := from[key.Name]; ok && v != nil {
				to[key.Name] = v
			}
		}
	}
	return out
}

// Identity is what names the object, and nothing else: apiVersion, kind, and of metadata name,
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

// sameMap: one map, not two alike.
func sameMap(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}
