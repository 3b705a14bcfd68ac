package sweep

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// field is one object of a kind as the API server's own field manager keeps it, with
// structured-merge-diff in it: what is applied and updated goes through the compiled-in Go type
// where there is one, and no value is defaulted.
type field struct {
	k       kind
	manager *managedfields.FieldManager
	live    runtime.Object // nil: there is none
}

// managers makes the objects of kinds.
type managers struct {
	builtin, custom managedfields.TypeConverter
}

// fieldManagers are those of the built-in kinds and of testdata/shapes.
func fieldManagers(t testing.TB) managers {
	t.Helper()
	custom, err := managedfields.NewTypeConverter(shapeModels(t), false)
	if err != nil {
		t.Fatal(err)
	}
	return managers{applyconfigurations.NewTypeConverter(scheme.Scheme), custom}
}

func (m managers) of(k kind) (*field, error) {
	gvk := schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind.Kind}
	f := &field{k: k}
	var err error
	if k.object != nil {
		f.manager, err = managedfields.NewDefaultFieldManager(m.builtin, scheme.Scheme, scheme.Scheme, scheme.Scheme, gvk, gvk.GroupVersion(), "", nil)
	} else {
		f.manager, err = managedfields.NewDefaultCRDFieldManager(m.custom, asItIs{}, asItIs{}, asItIs{}, gvk, gvk.GroupVersion(), "", nil)
	}
	return f, err
}

// current is the live object, an empty one where there is none.
func (f *field) current() (runtime.Object, error) {
	if f.live != nil {
		return f.live, nil
	}
	return f.empty()
}

// apply is a server-side apply.
func (f *field) apply(v any, manager string, force bool) error {
	u, err := f.unstructured(v)
	if err != nil {
		return err
	}
	live, err := f.current()
	if err != nil {
		return err
	}
	out, err := f.manager.Apply(live, u, manager, force)
	if err != nil {
		return err
	}
	is, err := (&field{k: f.k, live: out}).value()
	if err != nil {
		return err
	}
	if u, err = f.unstructured(is); err != nil {
		return err
	}
	f.live, err = f.typed(u)
	return err
}

// update is any other write. The managedFields of v, if it has any, take the place of live's.
func (f *field) update(v any, manager string) error {
	u, err := f.unstructured(v)
	if err != nil {
		return err
	}
	obj, err := f.decoded(u)
	if err != nil {
		return err
	}
	live, err := f.current()
	if err != nil {
		return err
	}
	out, err := f.manager.Update(live, obj, manager)
	if err != nil {
		return err
	}
	f.live = out
	return nil
}

// value is the stored object, nil if there is none.
func (f *field) value() (map[string]any, error) {
	if f.live == nil {
		return nil, nil
	}
	v, err := runtime.DefaultUnstructuredConverter.ToUnstructured(f.live)
	if err != nil {
		return nil, err
	}
	v["apiVersion"], v["kind"] = object.Object{Value: map[string]any{"apiVersion": f.k.apiVersion()}}.APIVersion(), f.k.Kind.Kind
	o, err := object.FromUnstructured(&unstructured.Unstructured{Object: v})
	return o.Value, err
}

func (k kind) apiVersion() string {
	return schema.GroupVersion{Group: k.Group, Version: k.Version}.String()
}

// unstructured is a value as the server decodes it, with a name and without what no client may
// state.
func (f *field) unstructured(v any) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	return u, u.UnmarshalJSON(text)
}

func (f *field) empty() (runtime.Object, error) {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": f.k.apiVersion(), "kind": f.k.Kind.Kind}}
	return f.typed(u)
}

// decoded is an object as the server reads it after storing it.
func (f *field) decoded(u *unstructured.Unstructured) (runtime.Object, error) {
	obj, err := f.typed(u)
	if err != nil || f.k.object == nil {
		return obj, err
	}
	is, err := (&field{k: f.k, live: obj}).value()
	if err != nil {
		return nil, err
	}
	if u, err = f.unstructured(is); err != nil {
		return nil, err
	}
	return f.typed(u)
}

func (f *field) typed(u *unstructured.Unstructured) (runtime.Object, error) {
	if f.k.object == nil {
		return withMeta(u)
	}
	return scheme.Scheme.ConvertToVersion(u, schema.GroupVersion{Group: f.k.Group, Version: f.k.Version})
}

// withMeta is a custom resource with its metadata as the server reads it.
func withMeta(u *unstructured.Unstructured) (runtime.Object, error) {
	var meta metav1.ObjectMeta
	is, _ := u.Object["metadata"].(map[string]any)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(is, &meta); err != nil {
		return nil, err
	}
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&meta)
	if err != nil {
		return nil, err
	}
	delete(out, "creationTimestamp")
	u = &unstructured.Unstructured{Object: maps.Clone(u.Object)}
	u.Object["metadata"] = out
	return u, nil
}

// stated is a side of a triple as a user writes it: named, and without the fields that the
// server maintains.
func (f *field) stated(v any) map[string]any {
	stripped, _ := lastapplied.Strip(v, f.k.HasStatus)
	obj, _ := unallocated(lastapplied.FoldStringData(stripped), f.k.typ).(map[string]any)
	out := map[string]any{}
	maps.Copy(out, obj)
	meta, _ := out["metadata"].(map[string]any)
	if meta = maps.Clone(meta); meta == nil {
		meta = map[string]any{}
	}
	meta["name"] = "made"
	delete(meta, "namespace")
	delete(meta, "generateName")
	out["apiVersion"], out["kind"], out["metadata"] = f.k.apiVersion(), f.k.Kind.Kind, meta
	out, _ = keyed(out, f.k.typ).(map[string]any)
	return out
}

// keyed is v with a key in every entry of a list that has to have one: no server takes it
// without.
func keyed(v any, typ *merge.Type) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[name] = keyed(e, typ.Field(name).Type)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = keyed(e, typ.EntryType())
			m, isMap := out[i].(map[string]any)
			for _, k := range keysIn(typ) {
				if is := m[k.Name]; isMap && (is == nil || is == "") && k.Default == nil && typ.Elem.Field(k.Name).Type.Kind == merge.Scalar {
					if m[k.Name] = fmt.Sprint("k", i); k.Name == "port" || k.Name == "containerPort" {
						m[k.Name] = json.Number(fmt.Sprint(i + 1))
					}
				}
			}
		}
		return out
	}
	return v
}

func keysIn(typ *merge.Type) []merge.Key {
	if typ == nil || typ.Kind != merge.Keyed {
		return nil
	}
	return typ.Keys
}

// stored is a value as the server stores it, without what it maintains and what keeps apart who
// has written it.
func (f *field) stored(v any) any {
	if u, err := f.unstructured(v); err == nil {
		if obj, err := f.typed(u); err == nil {
			if is, err := (&field{k: f.k, live: obj}).value(); err == nil {
				v = is
			}
		}
	}
	v, _ = lastapplied.Strip(lastapplied.Without(v), f.k.HasStatus)
	return v
}

// unallocated is v without what the server allocates: it keeps that, whatever is written.
func unallocated(v any, typ *merge.Type) any {
	m, isMap := v.(map[string]any)
	if !isMap || typ == nil || typ.Kind != merge.Object {
		return v
	}
	out := map[string]any{}
	for name, e := range m {
		if f := typ.Fields[name]; !f.Allocated {
			out[name] = unallocated(e, f.Type)
		}
	}
	return out
}

// large is the first integer that a float64 does not hold.
const large = "9007199254740993"

// overflows: a number is none that the Go type of its field can hold.
func (f *field) overflows(v any) bool {
	return strings.Contains(shown(v), large) && !strings.Contains(shown(f.stored(v)), large)
}

// asItIs converts nothing: custom resources of one version.
type asItIs struct{}

func (asItIs) Convert(in, out, _ any) error { return fmt.Errorf("%T is not converted to %T", in, out) }

func (asItIs) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (asItIs) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	return "", "", fmt.Errorf("there are no labels of fields")
}

func (asItIs) Default(runtime.Object) {}

func (asItIs) New(of schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(of)
	return u, nil
}

// metaModel is how the API server splits the metadata of a custom resource, as far as it is
// written here.
const metaModel = `
type: object
properties:
  name: {type: string}
  generateName: {type: string}
  namespace: {type: string}
  uid: {type: string}
  resourceVersion: {type: string}
  generation: {type: integer}
  creationTimestamp: {type: string}
  deletionTimestamp: {type: string}
  deletionGracePeriodSeconds: {type: integer}
  selfLink: {type: string}
  labels: {type: object, additionalProperties: {type: string}}
  annotations: {type: object, additionalProperties: {type: string}}
  finalizers: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  managedFields: {type: array, x-kubernetes-list-type: atomic, items: {type: object}}
  ownerReferences:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [uid]
    items:
      type: object
      x-kubernetes-map-type: atomic
      properties:
        apiVersion: {type: string}
        kind: {type: string}
        name: {type: string}
        uid: {type: string}
        controller: {type: boolean}
        blockOwnerDeletion: {type: boolean}
`

// shapeModels are the schemas of testdata/shapes, as the API server publishes them.
func shapeModels(t testing.TB) map[string]*spec.Schema {
	t.Helper()
	const meta = "meta"
	models := map[string]*spec.Schema{meta: {}}
	read := func(text []byte, into any) {
		if err := yaml.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	read([]byte(metaModel), models[meta])
	files, err := filepath.Glob("testdata/shapes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no shapes: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensions.CustomResourceDefinition
		read(text, &crd)
		for _, v := range crd.Spec.Versions {
			model := &spec.Schema{}
			schemaText, err := json.Marshal(v.Schema.OpenAPIV3Schema)
			if err != nil {
				t.Fatal(err)
			}
			read(schemaText, model)
			embed(model, meta)
			model.SetProperty("metadata", *spec.RefSchema("#/definitions/" + meta))
			model.SetProperty("apiVersion", *spec.StringProperty())
			model.SetProperty("kind", *spec.StringProperty())
			model.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": crd.Spec.Group, "version": v.Name, "kind": crd.Spec.Names.Kind}})
			models[crd.Spec.Group+"."+v.Name+"."+crd.Spec.Names.Kind] = model
		}
	}
	return models
}

// embed gives whatever is an object of its own its metadata, as the API server publishes it.
func embed(s *spec.Schema, meta string) {
	if whole, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); whole {
		s.SetProperty("metadata", *spec.RefSchema("#/definitions/" + meta))
		s.SetProperty("apiVersion", *spec.StringProperty())
		s.SetProperty("kind", *spec.StringProperty())
	}
	for name, p := range s.Properties {
		embed(&p, meta)
		s.Properties[name] = p
	}
	if s.Items != nil && s.Items.Schema != nil {
		embed(s.Items.Schema, meta)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		embed(s.AdditionalProperties.Schema, meta)
	}
}
