package object

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Unrendered is what an error says of {{ }}.
const Unrendered = "is a template's, as Helm's charts have them: render it first (helm template CHART | kubectl merge -f -)"

// curly are quotes as texts have them, which YAML takes for letters; straight is what an error says of them.
const curly, straight = "“”„‘’‚", `has curly quotes, as texts have them: write " instead`

// FieldError describes the fault of one field, because of which an object cannot be one of the API.
type FieldError struct {
	Object Object
	Path   string // as merge.ParsePath reads it
	What   string // with the remedy, and without any value
	Key    string // of the mapping at Path, which is not shown; "" if the error is about none
}

// Error names the object's place, the object and the field.
func (e *FieldError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s: %s", e.Object.Place(), e.What)
	}
	return fmt.Sprintf("%s: %s: %s", e.Object.Place(), e.Path, e.What)
}

// Check returns why o is not an object of the API; nil: it is one. The error is a
// *FieldError.
func (o Object) Check() error {
	fail := func(path, what string) error { return &FieldError{Object: o, Path: path, What: what} }
	unset := func(key, path, what string) error { // or misspelt
		for _, near := range slices.Sorted(maps.Keys(o.Value)) {
			if near != key && suggest.Name(near, []string{key}) != "" {
				return fail(merge.Path{merge.Named(near)}.String(), "unknown field; did you mean "+key+"?")
			}
		}
		return fail(path, "is not set; every object "+what)
	}
	for _, key := range []string{"apiVersion", "kind"} {
		switch v := o.Value[key].(type) {
		case nil:
			return unset(key, key, "begins with apiVersion and kind")
		case string:
			if v == "" {
				return fail(key, "is empty")
			} else if strings.IndexAny(v, curly) == 0 {
				return fail(key, straight)
			}
		default:
			return fail(key, "is "+Describe(v)+", not a string")
		}
	}
	if strings.Count(o.APIVersion(), "/") > 1 {
		return fail("apiVersion", fmt.Sprintf("%q is not group/version", o.APIVersion()))
	}
	if o.Kind() == "List" && o.APIVersion() == "v1" {
		return fail("items", "is not set; it has the objects of a List")
	}
	switch v := o.Value["metadata"].(type) {
	case nil:
		return unset("metadata", "metadata.name", "needs a name")
	case map[string]any:
		return o.checkMeta(v, fail)
	default:
		return fail("metadata", noMapping(v))
	}
}

func (o Object) checkMeta(meta map[string]any, fail func(path, what string) error) error {
	for _, key := range []string{"name", "namespace"} {
		if v := meta[key]; v != nil {
			if text, ok := v.(string); !ok {
				return fail("metadata."+key, noText(v))
			} else if strings.IndexAny(text, curly) == 0 {
				return fail("metadata."+key, straight)
			}
		}
	}
	if err := o.checkKeys(); err != nil {
		return err
	}
	if o.Name() == "" {
		if merge.At[string](meta, "generateName") != "" {
			return fail("metadata.generateName", "cannot use generate name with merge: an object without a name of its own cannot be found again; set metadata.name, or use `kubectl create`")
		}
		return fail("metadata.name", "is not set; every object needs a name")
	}
	if strings.Contains(o.Name(), "{{") {
		return fail("metadata.name", Unrendered)
	}
	for _, key := range []string{"labels", "annotations"} {
		m, ok := meta[key].(map[string]any)
		if !ok && meta[key] != nil {
			return fail("metadata."+key, noMapping(meta[key]))
		}
		for k, v := range m {
			if _, ok := v.(string); !ok && v != nil {
				return fail(fmt.Sprintf("metadata.%s[%q]", key, k), noText(v))
			}
		}
	}
	return nil
}

// checkKeys reports a key of a Secret that no server takes. It is not shown: a value may stand in it, as in PASSWORD=x.
func (o Object) checkKeys() error {
	if o.Kind() != "Secret" || o.Group() != "" {
		return nil
	}
	for _, at := range [][]string{nil, {"data"}, {"stringData"}} {
		in := merge.At[map[string]any](o.Value, at...)
		for _, key := range slices.Sorted(maps.Keys(in)) {
			if in[key] != nil && len(validation.IsConfigMapKey(key)) > 0 {
				return &FieldError{o, strings.Join(at, ""), `a key, which is not shown, has other characters than letters, digits, "-", "_" and ".": write KEY: VALUE`, key}
			}
		}
	}
	return nil
}

// Within returns where an object is missing, as messages end: in its namespace; "" for an object that
// is in none.
func Within(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in the namespace " + namespace
}

// CheckNamespace returns why there can be no namespace of the name; nil: there can be one.
// The caller puts the source of the name before it.
func CheckNamespace(name string) error {
	if len(validation.IsDNS1123Label(name)) == 0 { // as the API server validates it
		return nil
	}
	if strings.TrimSpace(name) != name {
		return errors.New("begins or ends with a blank: take it out")
	}
	return errors.New(`cannot be the name of a namespace, which has at most 63 lower-case letters, digits and "-", and begins and ends with a letter or digit`)
}

// Place returns where the object was read, with its kind and name where it has them.
func (o Object) Place() string {
	switch at := o.Origin.String(); {
	case o.Kind() == "" || o.Name() == "":
		return cmp.Or(at, "the object")
	case at == "":
		return o.String()
	default:
		return at + ": " + o.String()
	}
}

// Describe names a JSON value for an error: "the number 3", "a string". It does not contain the text itself.
func Describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case json.Number:
		return "the number " + v.String()
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "a mapping"
}

// noMapping describes a value where a mapping is wanted.
func noMapping(v any) string {
	what := "is " + Describe(v) + ", not a mapping"
	if text, ok := v.(string); ok && strings.Contains(text, ":") {
		what += ": a space belongs behind the colon"
	}
	return what
}

// noText describes a value where a string is wanted.
func noText(v any) string {
	if !merge.IsScalar(v) {
		return "is " + Describe(v) + ", not a string; write one text there"
	}
	return "is " + Describe(v) + ", not a string; quote it"
}
