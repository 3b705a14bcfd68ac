package main

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensionconfigs "k8s.io/apiextensions-apiserver/pkg/client/applyconfiguration"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregatorconfigs "k8s.io/kube-aggregator/pkg/client/applyconfiguration"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// kindRow is one kind of the built-in API.
type kindRow struct {
	schema.GroupVersionKind
	resource  string // plural, "-" where the kind has no endpoint of its own
	scope     string // namespaced, cluster or "-"
	hasStatus bool
	root      reflect.Type
}

var objectMeta = reflect.TypeFor[metav1.ObjectMeta]()

// knownTypes returns client-go's scheme and the two kinds that the API server itself adds
// to it.
func knownTypes() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme,
	} {
		if err := add(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// findKinds lists every kind that has an ObjectMeta, in order of group, version
// and kind.
func findKinds() ([]kindRow, error) {
	s, err := knownTypes()
	if err != nil {
		return nil, err
	}
	rows := clientKinds(reflect.TypeFor[kubernetes.Interface]())
	rows[reflect.TypeFor[apiextensions.CustomResourceDefinition]()] = kindRow{resource: "customresourcedefinitions", scope: "cluster", hasStatus: true}
	rows[reflect.TypeFor[apiregistration.APIService]()] = kindRow{resource: "apiservices", scope: "cluster", hasStatus: true}
	var kinds []kindRow
	for gvk, t := range s.AllKnownTypes() {
		if f, ok := t.FieldByName("ObjectMeta"); !ok || f.Type != objectMeta || gvk.Version == runtime.APIVersionInternal {
			continue
		}
		row, ok := rows[t]
		if !ok {
			row = kindRow{resource: "-", scope: "-"}
		}
		row.GroupVersionKind, row.root = gvk, t
		kinds = append(kinds, row)
	}
	slices.SortFunc(kinds, func(a, b kindRow) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
	return kinds, nil
}

// clientKinds reads scope, resource and status from the shape of the typed clients:
// Pods(namespace) is namespaced, Nodes() is not, and UpdateStatus exists where the API has
// a status subresource.
func clientKinds(clientset reflect.Type) map[reflect.Type]kindRow {
	rows := map[reflect.Type]kindRow{}
	for group := range clientset.Methods() {
		if group.Type.NumOut() != 1 || group.Type.Out(0).Kind() != reflect.Interface {
			continue
		}
		for getter := range group.Type.Out(0).Methods() {
			if getter.Type.NumOut() != 1 || getter.Type.Out(0).Kind() != reflect.Interface {
				continue
			}
			client := getter.Type.Out(0)
			create, ok := client.MethodByName("Create")
			if get, found := client.MethodByName("Get"); found {
				create, ok = get, true
			}
			if !ok {
				continue
			}
			row := kindRow{resource: strings.ToLower(getter.Name), scope: "cluster"}
			if getter.Type.NumIn() == 1 {
				row.scope = "namespaced"
			}
			_, row.hasStatus = client.MethodByName("UpdateStatus")
			rows[create.Type.Out(0).Elem()] = row
		}
	}
	return rows
}

// schemas holds the server-side-apply schemas that the client modules carry for their apply
// configurations. They are the only source on the client's side for list types,
// list-map-keys, map types, unions and defaults.
type schemas []*smd.Schema

// serverSchemas reads those schemas by converting one empty object with each module's
// converter; a typed value carries the schema that it was read with.
func serverSchemas() (schemas, error) {
	s, err := knownTypes()
	if err != nil {
		return nil, err
	}
	var out schemas
	for _, from := range []struct {
		object    runtime.Object
		gvk       schema.GroupVersionKind
		converter func(*runtime.Scheme) managedfields.TypeConverter
	}{
		{&corev1.ConfigMap{}, corev1.SchemeGroupVersion.WithKind("ConfigMap"), applyconfigurations.NewTypeConverter},
		{&apiextensions.CustomResourceDefinition{}, apiextensions.SchemeGroupVersion.WithKind("CustomResourceDefinition"), extensionconfigs.NewTypeConverter},
		{&apiregistration.APIService{}, apiregistration.SchemeGroupVersion.WithKind("APIService"), aggregatorconfigs.NewTypeConverter},
	} {
		from.object.GetObjectKind().SetGroupVersionKind(from.gvk)
		v, err := from.converter(s).ObjectToTyped(from.object)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", from.gvk, err)
		}
		out = append(out, v.Schema())
	}
	return out, nil
}

// named finds a type by its OpenAPI name.
func (s schemas) named(name string) (smd.Atom, bool) {
	for _, one := range s {
		if t, ok := one.FindNamedType(name); ok {
			return t.Atom, true
		}
	}
	return smd.Atom{}, false
}

// resolve follows a reference; a nil one leads to nothing.
func (s schemas) resolve(ref *smd.TypeRef) smd.Atom {
	switch {
	case ref == nil:
		return smd.Atom{}
	case ref.NamedType != nil:
		atom, _ := s.named(*ref.NamedType)
		return atom
	}
	return ref.Inlined
}
