package lastapplied

import (
	"errors"
	"fmt"
	"maps"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Limit is the maximum size in bytes of all keys and values of an object's annotations
// together (k8s.io/apimachinery/pkg/api/validation.TotalAnnotationSizeLimitB).
const Limit = 256 << 10

// Options of Encode. The zero value suits a cluster-scoped object whose annotations are
// those that local states.
type Options struct {
	// Namespace is filled in where local states none; "" fills in nothing.
	Namespace string

	// Type of local. It states what must remain of a list when the configuration is
	// shortened; nil blanks lists whole.
	Type *merge.Type

	// On is the object that will carry the annotation: its other annotations share Limit
	// with it. nil means local.
	On any

	// Blanked: local is itself a blanked configuration, as Read returned it and a user
	// edited it: it is marked again.
	Blanked Blanking
}

// Encode returns the text of the last-applied annotation for local. It is byte for byte
// what kubectl apply of the same file writes (k8s.io/kubectl/pkg/util/apply.go: compact
// JSON, keys sorted, HTML escaped, a newline at the end, annotations always present).
// Nulls, stringData and server-owned fields stay.
//
// Unlike kubectl: a whole number that float64 would change keeps its digits, since the next merge
// would otherwise see a change that no side made. A Secret's values are blanked, since
// annotations are read by many who may not read Secrets. A configuration over Limit is
// shortened, since the object itself is legal. Marker reports what was blanked.
//
// It is an error if local is not an object, or if the other annotations leave no room. So is
// a local that carries Marker: a blanked configuration used as a manifest would empty the object.
func Encode(local any, o Options) (string, error) {
	obj, ok := local.(map[string]any)
	if !ok {
		return "", errors.New("last-applied: not a JSON object: give an object with apiVersion, kind and metadata")
	}
	if _, ok := annotations(obj)[Marker]; ok {
		return "", fmt.Errorf("metadata.annotations[%q]: this is a last-applied configuration whose values were blanked,"+
			" not a manifest: applying it would empty the object; restore the values and delete this annotation", Marker)
	}
	on := o.On
	if on == nil {
		on = obj
	}
	room := Limit - len(Annotation) - others(on)
	conf := merge.PlainNumbers(normal(obj, o.Namespace)).(map[string]any)
	for _, level := range levels(conf, o.Blanked) {
		text, err := compact(blankTo(conf, level, o.Type))
		if err != nil {
			return "", err
		}
		if len(text) <= room {
			return text, nil
		}
	}
	return "", fmt.Errorf("metadata.annotations: too large: the annotations other than last-applied have %d bytes of the %d that"+
		" the API allows: shorten them, or move them elsewhere", others(on), Limit)
}

// levels lists the blankings to try, the least first.
func levels(conf map[string]any, atLeast Blanking) []Blanking {
	all := []Blanking{BlankNothing, BlankSecret, BlankLeaves, BlankAll}
	switch {
	case atLeast == BlankLeaves:
		return all[2:]
	case atLeast == BlankAll:
		return all[3:]
	case atLeast == BlankSecret, redact.IsSecret(conf) && holdsValues(conf):
		return all[1:]
	}
	return []Blanking{BlankNothing, BlankLeaves, BlankAll}
}

// normal brings local into the form that kubectl's accessors leave behind. The last-applied
// annotation is removed, annotations are present, a null annotation is "" (they read annotations
// as strings), and the namespace is filled in. The label of a set is not configuration.
func normal(obj map[string]any, namespace string) map[string]any {
	obj = WithoutSet(obj).(map[string]any)
	notes := map[string]any{}
	for k, v := range annotations(obj) {
		if v == nil {
			v = ""
		}
		if k != Annotation {
			notes[k] = v
		}
	}
	obj = merge.With(obj, notes, "metadata", "annotations")
	if namespace != "" && merge.At[string](obj, "metadata", "namespace") == "" {
		obj = merge.With(obj, namespace, "metadata", "namespace")
	}
	return obj
}

// others counts the bytes of all other annotations, as the API does.
func others(obj any) (n int) {
	for k, v := range annotations(obj) {
		if s, _ := v.(string); k != Annotation {
			n += len(k) + len(s)
		}
	}
	return n
}

func compact(v any) (string, error) {
	text, err := merge.WriteJSON(v, true)
	if err != nil {
		// The cause may quote a value; it can only be a number that is none.
		return "", errors.New("last-applied: not a JSON value: a number in it is not a JSON number; quote it")
	}
	return string(text), nil
}

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
