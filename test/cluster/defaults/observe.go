package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// place is a field of a type.
type place struct{ typ, field string }

// outcomes are the values that a field which was left out had afterwards, as JSON;
// "" is none.
type outcomes map[string]bool

// observations are the outcomes of every field that was ever left out.
type observations struct {
	fields map[place]outcomes
	err    error // the first value that could not be written as JSON
}

// value is the value that the field always gets, "depends" where that varies, or ""
// where it never gets one.
func (o outcomes) value() string {
	if len(o) > 1 {
		return "depends"
	}
	for v := range o {
		if v != now {
			return v
		}
		return "depends"
	}
	return ""
}

// now is the outcome of a field that gets the time of the call.
const now = "now"

// compare notes what became of the fields that before has not.
func (o *observations) compare(before, after runtime.Object) {
	o.value(reflect.ValueOf(before), reflect.ValueOf(after))
}

func (o *observations) value(before, after reflect.Value) {
	if isLeaf(before) {
		return
	}
	switch before.Kind() {
	case reflect.Pointer:
		if !before.IsNil() && !after.IsNil() {
			o.value(before.Elem(), after.Elem())
		}
	case reflect.Slice:
		for i := range min(before.Len(), after.Len()) {
			o.value(before.Index(i), after.Index(i))
		}
	case reflect.Map:
		for _, key := range before.MapKeys() {
			if e := after.MapIndex(key); e.IsValid() {
				o.value(before.MapIndex(key), e)
			}
		}
	case reflect.Struct:
		o.walk(modelName(before.Type()), before, after)
	}
}

// fields looks at the fields of a struct, and of the structs embedded in it, all of
// which are the type's.
func (o *observations) walk(typ string, before, after reflect.Value) {
	for i := range before.NumField() {
		f := before.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		b, a := before.Field(i), after.Field(i)
		switch {
		case !f.IsExported() || name == "-" || name == "metadata":
			continue
		case name == "" && (f.Anonymous || strings.Contains(options, "inline")):
			o.walk(typ, b, a)
			continue
		case unset(b) && (b.Kind() != reflect.Struct || isLeaf(b)):
			o.note(place{typ, name}, a)
		}
		o.value(b, a)
	}
}

// note keeps what became of a field.
func (o *observations) note(at place, v reflect.Value) {
	text, err := written(v)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("%s.%s: %w", at.typ, at.field, err)
	}
	if o.fields[at] == nil {
		o.fields[at] = outcomes{}
	}
	o.fields[at][text] = true
}

// isLeaf: a struct that is one value in JSON.
func isLeaf(v reflect.Value) bool {
	switch v.Interface().(type) {
	case metav1.TypeMeta, metav1.Time, metav1.MicroTime, resource.Quantity, intstr.IntOrString, runtime.RawExtension:
		return true
	}
	return false
}

// unset: the JSON field may be left out, and is.
func unset(v reflect.Value) bool {
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

// written is a set value as JSON.
func written(v reflect.Value) (string, error) {
	if unset(v) {
		return "", nil
	}
	if _, isTime := v.Interface().(*metav1.Time); isTime {
		return now, nil
	}
	text, err := json.Marshal(v.Interface())
	return string(text), err
}

// modelName is the type's name in OpenAPI documents, as pkg/schema's table writes it.
func modelName(t reflect.Type) string {
	m, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string })
	if !ok {
		return t.PkgPath() + "." + t.Name()
	}
	name := m.OpenAPIModelName()
	if short, ok := strings.CutPrefix(name, "io.k8s.api."); ok {
		return short
	}
	return strings.Replace(name, "io.k8s.apimachinery.pkg.apis.meta.", "meta.", 1)
}
