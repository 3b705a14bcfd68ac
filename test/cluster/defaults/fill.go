package main

import (
	"math/rand/v2"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// filler sets some fields of a value.
type filler struct {
	*rand.Rand
	empty bool // every struct, nothing in it
}

// words are values that the defaulting functions look for, by the Go field's name;
// the other texts are "x".
var words = map[string][]string{
	"Type": {
		"RollingUpdate", "OnDelete", "Recreate", "ClusterIP", "NodePort", "LoadBalancer", "ExternalName", "Container", "Pod",
		"Limited", "Exempt", "Queue", "Utilization", "Resource",
	},
	"Kind":            {"User", "Group", "ServiceAccount", "Widget"},
	"Image":           {"nginx", "nginx:latest", "nginx:1", "host:5000/a/b", "host:5000/a/b:2", "a@sha256:" + strings.Repeat("0", 64), "a:latest@sha256:" + strings.Repeat("0", 64), "NOT VALID", "Upper", "a/Upper", "a:", "localhost/a", "a:b:c"},
	"Reference":       {"nginx", "nginx:latest", "nginx:1", "a@sha256:" + strings.Repeat("0", 64)},
	"SessionAffinity": {"None", "ClientIP"},
	"AllocationMode":  {"ExactCount", "All"},
	"Name":            {"a", "b"},
}

// deep is how far down objects that contain themselves are filled.
const deep = 14

func (f *filler) one(in int) bool { return f.IntN(in) == 0 }

func (f *filler) metadata(v reflect.Value) {
	m := v.Addr().Interface().(*metav1.ObjectMeta)
	if !f.empty && f.one(2) {
		m.Name = "a"
	}
	if !f.empty && f.one(3) {
		m.Labels = map[string]string{"l": "1"}
	}
}

// fill sets v, the value of a Go field of that name, or leaves it unset.
func (f *filler) fill(v reflect.Value, name string, depth int) {
	if depth > deep || name == "InlineVolumeSpec" {
		return // where a volume's fields are, and no function fills anything in
	}
	switch v.Interface().(type) {
	case metav1.Time, metav1.MicroTime, metav1.Duration, runtime.RawExtension, metav1.TypeMeta:
		return
	case metav1.ObjectMeta:
		f.metadata(v)
		return
	case resource.Quantity:
		v.Set(reflect.ValueOf(resource.MustParse([]string{"1", "250m", "1Gi"}[f.IntN(3)])))
		return
	case intstr.IntOrString:
		if !f.empty && f.one(2) {
			v.Set(reflect.ValueOf(intstr.FromInt32(f.Int32N(3))))
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				f.fill(v.Field(i), field.Name, depth+1)
			}
		}
	case reflect.Pointer:
		if f.there(v.Type().Elem()) {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), name, depth+1)
		}
	case reflect.Slice:
		f.slice(v, name, depth)
	case reflect.Map:
		f.mapping(v, name, depth)
	default:
		f.scalar(v, name)
	}
}

// there: whether a pointer to the type is set. Structs are in the empty object.
func (f *filler) there(t reflect.Type) bool {
	if f.empty {
		return t.Kind() == reflect.Struct
	}
	return f.one(2)
}

func (f *filler) slice(v reflect.Value, name string, depth int) {
	elem := v.Type().Elem()
	if elem.Kind() == reflect.Uint8 || !f.there(elem) || depth > deep/2 && elem.Kind() == reflect.Struct && f.one(2) {
		return
	}
	n := 1 + f.IntN(2)
	out := reflect.MakeSlice(v.Type(), n, n)
	for i := range n {
		f.fill(out.Index(i), name, depth+1)
	}
	v.Set(out)
}

func (f *filler) mapping(v reflect.Value, name string, depth int) {
	if v.Type().Key().Kind() != reflect.String || f.empty || f.one(2) {
		return
	}
	out := reflect.MakeMap(v.Type())
	for _, key := range []string{"cpu", "memory"} {
		if f.one(2) {
			e := reflect.New(v.Type().Elem()).Elem()
			f.fill(e, name, depth+1)
			out.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), e)
		}
	}
	if out.Len() > 0 {
		v.Set(out)
	}
}

func (f *filler) scalar(v reflect.Value, name string) {
	if f.empty || f.one(2) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		text := "x"
		if choice := words[name]; len(choice) > 0 {
			text = choice[f.IntN(len(choice))]
		}
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(f.one(2))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(f.Int64N(3))
	}
}
