package cluster

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Struct returns a new value of the Go type of a kind, nil if client-go does not have it.
func Struct(group, version, kind string) any {
	obj, err := scheme.Scheme.New(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
	if err != nil {
		return nil
	}
	return obj
}
