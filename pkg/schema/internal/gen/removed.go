package main

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

const removedHeader = `# The versions of built-in kinds that Kubernetes has removed, or will.
# Generated from k8s.io/api; do not edit: go generate ./pkg/schema
#
# GROUP/VERSION KIND RELEASE REPLACEMENT: since Kubernetes 1.RELEASE; "-" is none
`

// removed writes what the lifecycle of the Go types says.
func removed() []byte {
	var rows []string
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		past, ok := reflect.New(t).Interface().(interface{ APILifecycleRemoved() (major, minor int) })
		if !ok {
			continue
		}
		replacement := ""
		if next, ok := past.(interface {
			APILifecycleReplacement() schema.GroupVersionKind
		}); ok {
			replacement = next.APILifecycleReplacement().GroupVersion().String()
		}
		if major, minor := past.APILifecycleRemoved(); major == 1 {
			rows = append(rows, fmt.Sprintf("%s/%s %s %d %s\n", gvk.Group, gvk.Version, gvk.Kind, minor, cmp.Or(replacement, "-")))
		}
	}
	slices.Sort(rows)
	var b bytes.Buffer
	b.WriteString(removedHeader + "\n")
	for _, row := range rows {
		b.WriteString(row)
	}
	return b.Bytes()
}
