package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensionconfigs "k8s.io/apiextensions-apiserver/pkg/client/applyconfiguration"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregatorconfigs "k8s.io/kube-aggregator/pkg/client/applyconfiguration"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

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
