package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/kubectl-merge/kubectl-merge/pkg/schema/internal/typename"
)

// walker collects every Go type that a kind reaches.
type walker struct {
	lists schemas
	table *table
}

// leaves lists the Go types that write their own JSON. "any" is any JSON.
var leaves = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[metav1.Time]():          "time",
	reflect.TypeFor[metav1.MicroTime]():     "microtime",
	reflect.TypeFor[metav1.Duration]():      "duration",
	reflect.TypeFor[intstr.IntOrString]():   "int-or-string",
	reflect.TypeFor[runtime.RawExtension](): "any",
	reflect.TypeFor[metav1.FieldsV1]():      "any",
	reflect.TypeFor[apiextensions.JSON]():   "any",
}

// unwrapped lists Go types that stand for one of several JSON forms; the table describes
// the form that has fields.
var unwrapped = map[reflect.Type]reflect.Type{
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrArray]():       reflect.TypeFor[apiextensions.JSONSchemaProps](),
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrBool]():        reflect.TypeFor[apiextensions.JSONSchemaProps](),
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrStringArray](): reflect.TypeFor[apiextensions.JSONSchemaProps](),
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// named adds a struct's row, and the rows of all that it refers to, and returns
// the struct's name.
func (w *walker) named(t reflect.Type) (string, error) {
	name := modelName(t)
	if _, done := w.table.types[name]; done {
		return name, nil
	}
	row := &typeRow{name: name}
	w.table.types[name] = row
	atom, known := w.lists.named(typename.Full(name))
	if !known {
		row.noSchema = true
	}
	if atom.Map != nil {
		row.atomic = atom.Map.ElementRelationship == smd.Atomic
		row.unions = atom.Map.Unions
	}
	if err := w.fields(row, t, atom.Map); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return name, nil
}

// fields adds the fields of t, and of the structs embedded in it, to row.
func (w *walker) fields(row *typeRow, t reflect.Type, declared *smd.Map) error {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case name == "" && (f.Anonymous || strings.Contains(options, "inline")):
			if err := w.fields(row, f.Type, declared); err != nil {
				return err
			}
			continue
		case name == "":
			return fmt.Errorf("the Go field %s has no JSON name", f.Name)
		}
		col := fieldCol{name: name, tag: f.Tag}
		var ref *smd.TypeRef
		if declared != nil {
			if d, ok := declared.FindField(name); ok {
				ref, col.defaultValue = &d.Type, d.Default
			}
		}
		t := f.Type
		if t.Kind() == reflect.Pointer {
			col.pointer, t = true, t.Elem()
		}
		text, err := w.shape(t, shapeOf{ref: ref, tag: f.Tag})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		col.shape = text
		row.fields = append(row.fields, col)
	}
	return nil
}

// shapeOf holds what is known of a value besides its Go type.
type shapeOf struct {
	ref *smd.TypeRef
	tag reflect.StructTag
}

// shape writes a Go type in the table's notation.
func (w *walker) shape(t reflect.Type, of shapeOf) (string, error) {
	if leaf, ok := leaves[t]; ok {
		return leaf, nil
	}
	if inner, ok := unwrapped[t]; ok {
		t = inner
	} else if t.Implements(unmarshaler) || reflect.PointerTo(t).Implements(unmarshaler) {
		return "", fmt.Errorf("%s reads its own JSON: say in leaves what it reads", t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return w.shape(t.Elem(), of)
	case reflect.String:
		return "string", nil
	case reflect.Bool:
		return "boolean", nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "number", nil
	case reflect.Float32, reflect.Float64:
		return "fraction", nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes", nil
		}
		return w.list(t, of)
	case reflect.Map:
		return w.mapping(t, of)
	case reflect.Struct:
		return w.walkObject(t, of.ref)
	}
	return "", fmt.Errorf("the table has no notation for %s", t)
}

// walkObject writes a struct, and how the current field overrides the way in which its type is
// split. A volume's claimRef, for example, is merged field by field, though every other
// ObjectReference is one value.
func (w *walker) walkObject(t reflect.Type, ref *smd.TypeRef) (string, error) {
	name, err := w.named(t)
	if err != nil || ref == nil || ref.ElementRelationship == nil {
		return name, err
	}
	switch atomic := w.table.types[name].atomic; {
	case *ref.ElementRelationship == smd.Atomic && !atomic:
		name = "!" + name
	case *ref.ElementRelationship == smd.Separable && atomic:
		name = "~" + name
	}
	return name, nil
}

func (w *walker) mapping(t reflect.Type, of shapeOf) (string, error) {
	atom := w.lists.resolve(of.ref).Map
	var elem *smd.TypeRef
	open := "{}"
	if atom != nil {
		elem = &atom.ElementType
		if atom.ElementRelationship == smd.Atomic {
			open = "{!}"
		}
	}
	text, err := w.shape(t.Elem(), shapeOf{ref: elem})
	return open + text, err
}

func (w *walker) list(t reflect.Type, of shapeOf) (string, error) {
	atom := w.lists.resolve(of.ref).List
	var elem *smd.TypeRef
	if atom != nil {
		elem = &atom.ElementType
	}
	text, err := w.shape(t.Elem(), shapeOf{ref: elem})
	if err != nil {
		return "", err
	}
	keys, set := listRule(atom, of.tag)
	switch {
	case set:
		return "[=]" + text, nil
	case len(keys) == 0:
		return "[]" + text, nil
	}
	for i, k := range keys {
		d, err := w.keyDefault(elem, k)
		if err != nil {
			return "", err
		}
		keys[i] += d
	}
	return "[" + strings.Join(keys, ",") + "]" + text, nil
}

// listRule returns how a list's entries are distinguished: by keys, by value (set), or not
// at all. The server's schema decides. A list that it does not have is distinguished by the
// patch tags, as in strategic merge patch.
func listRule(atom *smd.List, tag reflect.StructTag) (keys []string, set bool) {
	if atom != nil {
		if atom.ElementRelationship != smd.Associative {
			return nil, false
		}
		return append([]string(nil), atom.Keys...), len(atom.Keys) == 0
	}
	if !strings.Contains(tag.Get("patchStrategy"), "merge") {
		return nil, false
	}
	if key := tag.Get("patchMergeKey"); key != "" {
		return []string{key}, false
	}
	return nil, true
}

// keyDefault writes the default that a missing key of the list's entries takes.
func (w *walker) keyDefault(elem *smd.TypeRef, key string) (string, error) {
	atom := w.lists.resolve(elem)
	if atom.Map == nil {
		return "", nil
	}
	f, ok := atom.Map.FindField(key)
	if !ok || isNoise(f.Default) {
		return "", nil
	}
	text, err := json.Marshal(f.Default)
	if err == nil && strings.ContainsAny(string(text), "], ") {
		err = fmt.Errorf("the notation cannot hold the default %s of key %s", text, key)
	}
	return "=" + string(text), err
}

// isNoise reports whether a default repeats the zero value. The schema states "", 0, false and {} as
// the default of every required Go field that is not a pointer; that a zero is absent implies the same.
func isNoise(v any) bool {
	return v == nil || reflect.ValueOf(v).IsZero() ||
		reflect.ValueOf(v).Kind() == reflect.Map && reflect.ValueOf(v).Len() == 0
}

// modelName returns the type's name in OpenAPI documents.
func modelName(t reflect.Type) string {
	if m, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string }); ok {
		return typename.Short(m.OpenAPIModelName())
	}
	return t.PkgPath() + "." + t.Name()
}
