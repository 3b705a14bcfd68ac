package lastapplied

import (
	"errors"
	"fmt"

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
