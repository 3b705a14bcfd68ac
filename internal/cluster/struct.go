package cluster

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Struct is a new value of a kind's compiled-in Go type, nil where client-go has
// none.
func Struct(group, version, kind string) any {
	obj, err := scheme.Scheme.New(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
	if err != nil {
		return nil
	}
	return obj
}
