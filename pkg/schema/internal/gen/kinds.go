package main

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
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
