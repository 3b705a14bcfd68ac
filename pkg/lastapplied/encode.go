package lastapplied

import (
	"errors"
	"fmt"
	"maps"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
)

// Limit is how many bytes the keys and values of an object's annotations may
// have together (k8s.io/apimachinery/pkg/api/validation.TotalAnnotationSizeLimitB).
const Limit = 256 << 10

// Options of Encode. The zero value is good for a cluster-scoped object whose
// annotations are those that local states.
type Options struct {
	// Namespace is filled in where local states none; "" fills in nothing.
	Namespace string

	// Type of local, which states what of a list has to survive when the
	// configuration must be shortened; nil blanks lists whole.
	Type *merge.Type

	// On is the object that the annotation will stand on: its other annotations
	// share Limit with it. nil means local.
	On any

	// Blanked: local is itself a blanked configuration, as Read gave it
	// and somebody edited it: it is marked again.
	Blanked Blanking
}

// Encode gives the text of the last-applied annotation for local: byte for byte
// what kubectl apply of the same file writes (k8s.io/kubectl/pkg/util/apply.go:
// compact JSON, keys sorted, HTML escaped, a newline at the end, annotations
// always there). Nulls, stringData and server-owned fields stay.
//
// Unlike kubectl: a number that float64 would change keeps its digits, since the
// next merge would otherwise see a change that nobody made; a Secret's values
// are blanked, since annotations are read by many who may not read Secrets; and
// a configuration over Limit is shortened, since the object itself is legal.
// What was blanked is reported by Marker.
//
// It is an error if local is no object, if local carries Marker (a blanked
// configuration given for a manifest would empty the object), or if the other
// annotations leave no room.
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
	conf := canonical(normal(obj, o.Namespace)).(map[string]any)
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

// normal brings local into the form that kubectl's accessors leave behind: own
// annotation gone, annotations there, a null annotation "" (they read annotations
// as strings), namespace filled in. The label of a set is no configuration.
func normal(obj map[string]any, namespace string) map[string]any {
	obj = WithoutSet(obj).(map[string]any)
	m := maps.Clone(meta(obj))
	if m == nil {
		m = map[string]any{}
	}
	notes := map[string]any{}
	for k, v := range annotations(obj) {
		if v == nil {
			v = ""
		}
		if k != Annotation {
			notes[k] = v
		}
	}
	m["annotations"] = notes
	if namespace != "" && str(m, "namespace") == "" {
		m["namespace"] = namespace
	}
	return set(obj, "metadata", m)
}

// others counts the bytes of all other annotations, as the API does.
func others(obj any) int {
	n := 0
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
