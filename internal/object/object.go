// Package object holds one API object as exact JSON values, with what distinguishes it from others and
// the place where it was read. It refuses to read, to send and to know a kind.
package object

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unique"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Object is one object as it was read. Value must not be modified.
type Object struct {
	Value  map[string]any // JSON values, numbers as json.Number; nil of one that is Packed
	Origin Origin

	packed *packed // the object, where Value is not; nil otherwise
}

// Origin says where an object was read.
type Origin struct {
	File     string // as the user named it; "standard input" for "-"
	Document int    // from 1
	Line     int    // from 1, where the object begins; 0 if unknown
	Many     bool   // the file holds more than one document
}

// String returns the place in the form that errors begin with: web.yaml, or, where a file
// holds several documents, web.yaml: document 2, line 14.
func (o Origin) String() string {
	switch {
	case o.Line == 0 && !o.Many:
		return o.File
	case o.Line == 0:
		return fmt.Sprintf("%s: document %d", o.File, o.Document)
	case !o.Many:
		return fmt.Sprintf("%s: line %d", o.File, o.Line)
	}
	return fmt.Sprintf("%s: document %d, line %d", o.File, o.Document, o.Line)
}

// Identity distinguishes an object from all others, whatever its version.
type Identity struct{ Group, Kind, Namespace, Name string }

// ID returns the object's identity. A namespace that the object leaves out is "".
func (o Object) ID() Identity {
	return Identity{Group: o.Group(), Kind: o.Kind(), Namespace: o.Namespace(), Name: o.Name()}
}

// String returns the name of the object in outcome lines and errors: deployment.apps/web.
func (o Object) String() string {
	name := strings.ToLower(o.Kind())
	if g := o.Group(); g != "" {
		name += "." + g
	}
	return name + "/" + o.Name()
}

// APIVersion returns the object's apiVersion, "" where it has none.
func (o Object) APIVersion() string {
	if o.packed != nil {
		return o.packed.apiVersion
	}
	return merge.At[string](o.Value, "apiVersion")
}

// Group returns the group of apiVersion.
func (o Object) Group() string { return GroupOf(o.APIVersion()) }

// GroupOf returns the part of an apiVersion before the slash, "" for the core group.
func GroupOf(apiVersion string) string {
	return apiVersion[:max(strings.IndexByte(apiVersion, '/'), 0)]
}

// Version returns apiVersion without the group.
func (o Object) Version() string {
	v := o.APIVersion()
	return v[strings.LastIndexByte(v, '/')+1:]
}

// Kind returns the object's kind, "" where it has none.
func (o Object) Kind() string {
	if o.packed != nil {
		return o.packed.kind
	}
	return merge.At[string](o.Value, "kind")
}

// Items returns the items of a List, also of a typed one (PodList); false for any other object.
func (o Object) Items() ([]any, bool) {
	items, ok := o.Value["items"].([]any)
	return items, ok && strings.HasSuffix(o.Kind(), "List")
}

// Namespace returns metadata.namespace, "" where the object has none.
func (o Object) Namespace() string {
	if o.packed != nil {
		return o.packed.namespace
	}
	return merge.At[string](o.meta(), "namespace")
}

// Name returns metadata.name, "" where the object has none.
func (o Object) Name() string {
	if o.packed != nil {
		return o.packed.name
	}
	return merge.At[string](o.meta(), "name")
}

// ResourceVersion returns metadata.resourceVersion, "" where the object has none.
func (o Object) ResourceVersion() string { return merge.At[string](o.meta(), "resourceVersion") }

// UID returns metadata.uid, "" where the object has none.
func (o Object) UID() string { return merge.At[string](o.meta(), "uid") }

// UID returns an object's metadata.uid as a copy: a substring would keep the whole answer in memory.
func UID(obj map[string]any) string { return strings.Clone(Object{Value: obj}.UID()) }

// Finalizers returns the object's finalizers. Those of a wrong type are left out.
func (o Object) Finalizers() []string { return merge.AllAt[string](o.meta(), "finalizers") }

// Labels returns the object's labels; values that are not strings are left out. Never nil.
func (o Object) Labels() map[string]string { return Texts(o.meta()["labels"]) }

// Texts returns the entries of a map that are strings. Never nil.
func Texts(v any) map[string]string {
	m, _ := v.(map[string]any)
	out := make(map[string]string, len(m))
	for k, e := range m {
		if s, ok := e.(string); ok {
			out[k] = s
		}
	}
	return out
}

// Each returns what of makes of each; nil for none.
func Each[T, U any](all []T, of func(T) U) (out []U) {
	for _, one := range all {
		out = append(out, of(one))
	}
	return out
}

// In returns the flag by which a command that is printed finds a namespace; "" for "".
func In(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " -n " + namespace
}

// InNamespace returns the object with metadata.namespace set, or removed for "". The
// receiver is not modified.
func (o Object) InNamespace(namespace string) Object {
	if o.Namespace() == namespace {
		return o
	}
	if o.packed != nil {
		moved := *o.packed
		moved.namespace = shared(namespace)
		o.packed = &moved
		return o
	}
	if namespace == "" {
		o.Value = merge.Without(o.Value, "metadata", "namespace")
	} else {
		o.Value = merge.With(o.Value, namespace, "metadata", "namespace")
	}
	return o
}

func (o Object) meta() map[string]any { return merge.At[map[string]any](o.Value, "metadata") }

// Encode returns a JSON value as compact JSON, keys in order, numbers digit for digit,
// without HTML escapes. Encoded JSON (json.RawMessage) is returned as it is. It is an error
// if v holds a value that JSON cannot express.
func Encode(v any) ([]byte, error) {
	if text, ok := v.(json.RawMessage); ok {
		return text, nil
	}
	return merge.WriteJSON(v, false)
}

// packed is an object as text, with its identity decoded. It is not modified: objects share
// it.
type packed struct {
	apiVersion, kind, namespace, name string

	text []byte // the whole object as JSON
}

// Packed returns the object stored compactly until it is needed. Its Value is nil, and only
// apiVersion, kind, name and namespace stay decoded. Whole restores the rest. A
// CustomResourceDefinition is returned as it is, since other objects may be of its kind,
// and so is what JSON cannot express.
func (o Object) Packed() Object {
	if o.packed != nil || o.Kind() == "CustomResourceDefinition" {
		return o
	}
	text, err := Encode(o.Value)
	if err != nil {
		return o
	}
	o.packed = &packed{
		apiVersion: shared(o.APIVersion()), kind: shared(o.Kind()), namespace: shared(o.Namespace()),
		name: strings.Clone(o.Name()), // without the text of the document that contains it
		text: bytes.Clone(text),       // without the unused capacity of the buffer
	}
	o.Value = nil
	return o
}

// shared returns a text so that all objects with it use one copy.
func shared(text string) string { return unique.Make(text).Value() }

// Same reports whether two objects have the same content, wherever they were read. An
// object that cannot be decoded again equals no other.
func (o Object) Same(other Object) bool {
	a, err := o.Whole()
	b, errOther := other.Whole()
	return err == nil && errOther == nil && merge.Identical(a.Value, b.Value)
}

// Whole returns the object as it was before Packed, in its current namespace. An object
// that is not packed is returned as it is. It is an error if a packed object cannot be
// decoded.
func (o Object) Whole() (Object, error) {
	if o.packed == nil {
		return o, nil
	}
	v, err := merge.ReadJSON(o.packed.text)
	if err != nil {
		return o, fmt.Errorf("%s: cannot be read again: %w", o.Place(), err)
	}
	value, ok := v.(map[string]any)
	if !ok {
		return o, fmt.Errorf("%s: is %s, not an object", o.Place(), Describe(v))
	}
	namespace := o.Namespace()
	o.Value, o.packed = value, nil
	return o.InNamespace(namespace), nil
}

// Int returns an integer below obj, or that of a text, as in annotations; otherwise if there is none.
func Int(obj map[string]any, otherwise int64, path ...string) int64 {
	v := merge.At[any](obj, path...)
	n, err := strconv.ParseInt(cmp.Or(merge.At[string](v), string(merge.At[json.Number](v))), 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

// Condition returns the condition of that type in an object's status; nil if there is none.
func Condition(obj map[string]any, name string) map[string]any {
	for _, c := range merge.MapsAt(obj, "status", "conditions") {
		if c["type"] == name {
			return c
		}
	}
	return nil
}

// Unserved returns the condition because of which a CustomResourceDefinition will not be served as
// it is; nil if there is none. The API server's controllers set NamesAccepted to False if a name is
// taken, and Established to False if the definition cannot be served. The reasons Installing and
// NotAccepted are transient (k8s.io/apiextensions-apiserver, pkg/controller/status and establish).
func Unserved(crd map[string]any) map[string]any {
	for _, name := range []string{"NamesAccepted", "Established"} {
		c := Condition(crd, name)
		if r := c["reason"]; c["status"] == "False" && r != "Installing" && r != "NotAccepted" {
			return c
		}
	}
	return nil
}

// FromUnstructured returns an object with exact numbers: int64 and float64 become
// json.Number. nil gives an Object whose Value is nil. u is not modified, and shares no
// memory with the result.
//
// It is an error if u holds a Go type that unstructured does not allow. So is a float64
// that may have been rounded when it was decoded (a whole number from 2^53 on). The error
// names object and field, and no value.
func FromUnstructured(u *unstructured.Unstructured) (Object, error) {
	if u == nil || u.Object == nil {
		return Object{}, nil
	}
	v, err := converted(u.Object, nil, fromGo)
	o := Object{Value: merge.At[map[string]any](v)}
	if err != nil {
		return Object{}, fmt.Errorf("%s: %w", Object{Value: u.Object}, err)
	}
	return o, nil
}

func fromGo(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, json.Number:
		return v, nil
	case int64:
		return json.Number(strconv.FormatInt(v, 10)), nil
	case float64:
		return floatNumber(v)
	}
	return nil, fmt.Errorf("is a Go %T: unstructured holds nil, bool, string, int64, float64, map[string]any and []any", v)
}

// Unstructured returns the object for client-go and controller-runtime: whole numbers that fit
// are int64, others float64. The receiver is not modified, and shares no memory with the result.
// It is an error if a number fits neither; it names object and field, and no value.
func (o Object) Unstructured() (*unstructured.Unstructured, error) {
	v, err := converted(o.Value, nil, toGo)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o, err)
	}
	return &unstructured.Unstructured{Object: merge.At[map[string]any](v)}, nil
}

func toGo(v any) (any, error) {
	if n, ok := v.(json.Number); ok {
		return number(n)
	}
	return v, nil
}

// converted returns a value with each that has no parts in the other form; at leads to it.
func converted(v any, at merge.Path, leaf func(any) (any, error)) (out any, err error) {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if m[k], err = converted(v[k], at.Child(merge.Named(k)), leaf); err != nil {
				return nil, err
			}
		}
		return m, nil
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			if l[i], err = converted(e, at.Child(merge.Step{Kind: merge.IndexStep, Index: i}), leaf); err != nil {
				return nil, err
			}
		}
		return l, nil
	}
	if out, err = leaf(v); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return out, nil
}

// Rounded reports whether the API stores another value than text, a JSON number, states: it
// has only int64 and float64. f is the number as float64.
func Rounded(text string, f float64) bool {
	if _, err := strconv.ParseInt(text, 10, 64); err == nil || len(text) < 16 { // float64 keeps any 15 digits
		return false
	}
	was, ok := new(big.Rat).SetString(text)
	if !ok {
		return true
	}
	is, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return !ok || was.Cmp(is) != 0
}

// number returns an int64 or a float64 as unstructured holds it. An error never contains a
// number, since it may be a Secret's.
func number(n json.Number) (any, error) {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return nil, fmt.Errorf("number: is out of the API's range: quote it if it is a string")
	}
	if Rounded(string(n), f) {
		return nil, fmt.Errorf("number: float64 rounds it: quote it if it is a string")
	}
	return f, nil
}

// exactFloats is the value from which float64 cannot hold every whole number, and endInts
// is the first value above int64.
const (
	exactFloats = 1 << 53
	endInts     = 1 << 63
)

// floatNumber returns a float64 of unstructured as text. A whole one between 2^53 and 2^63
// may have been another number before it was decoded as float64, and is an error.
func floatNumber(f float64) (json.Number, error) {
	switch size := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "", fmt.Errorf("float64: is no number of JSON")
	case size >= exactFloats && size < endInts:
		return "", fmt.Errorf("float64: may have been rounded when it was decoded, as whole numbers from 2^53 on are: decode them as int64 (k8s.io/apimachinery/pkg/util/json does)")
	}
	text, err := json.Marshal(f)
	return json.Number(text), err
}
