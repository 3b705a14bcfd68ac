package main

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	aggregator "k8s.io/kube-aggregator/pkg/apis/apiregistration/install"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/extensions/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
)

// kind is one external kind and the scheme that defaults it.
type kind struct {
	schema.GroupVersionKind
	scheme *runtime.Scheme
}

// thisMinor is the server's version: 1.36.
const thisMinor = 36

// kinds lists every kind of the three schemes of an API server that is an object of
// its own, in order.
func kinds() []kind {
	crds, apis := runtime.NewScheme(), runtime.NewScheme()
	apiextensions.Install(crds)
	aggregator.Install(apis)
	var out []kind
	for _, s := range []*runtime.Scheme{legacyscheme.Scheme, crds, apis} {
		for gvk, t := range s.AllKnownTypes() {
			_, isObject := t.FieldByName("ObjectMeta")
			if gvk.Version != runtime.APIVersionInternal && isObject && served(t) {
				out = append(out, kind{gvk, s})
			}
		}
	}
	slices.SortFunc(out, func(a, b kind) int {
		return strings.Compare(fmt.Sprint(a.GroupVersionKind), fmt.Sprint(b.GroupVersionKind))
	})
	return out
}

// served: this version of the kind has not been removed from the API server.
func served(t reflect.Type) bool {
	obj, ok := reflect.New(t).Interface().(interface{ APILifecycleRemoved() (major, minor int) })
	if !ok {
		return true
	}
	_, minor := obj.APILifecycleRemoved()
	return minor > thisMinor
}

// sparse makes an object of the kind with some of its fields set: with seed 0 every
// struct is there and empty, with others chance decides.
func (k kind) sparse(seed uint64) (runtime.Object, error) {
	obj, err := k.scheme.New(k.GroupVersionKind)
	if err != nil {
		return nil, err
	}
	f := filler{Rand: rand.New(rand.NewPCG(seed, uint64(len(k.Kind)))), empty: seed == 0}
	v := reflect.ValueOf(obj).Elem()
	for i := range v.NumField() {
		switch name := v.Type().Field(i).Name; name {
		case "TypeMeta", "Status":
		case "ObjectMeta":
			f.metadata(v.Field(i))
		default:
			f.fill(v.Field(i), name, 0)
		}
	}
	return obj, nil
}

// defaulted returns a copy of the object to which the server's functions were applied.
func (k kind) defaulted(obj runtime.Object) runtime.Object {
	out := obj.DeepCopyObject()
	k.scheme.Default(out)
	return out
}
