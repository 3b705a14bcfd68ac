package live

import (
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
)

// TestRelease: an object is found by its identity, whether or not the manifest states its namespace, and not in
// another one.
func TestRelease(t *testing.T) {
	objects := parsed(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: bare}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: stated, namespace: shop}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: apart, namespace: other}}
---
{apiVersion: v1, kind: Node, metadata: {name: wide, namespace: shop}}`)
	saved, err := source.SavedOf(objects)
	if err != nil {
		t.Fatal(err)
	}
	r := &Release{Objects: objects, namespace: "shop", saved: saved}
	var stated []object.Object
	for _, tt := range []struct {
		kind, namespace, name string
		found                 bool
	}{
		{"ConfigMap", "shop", "bare", true},
		{"ConfigMap", "other", "bare", false},
		{"ConfigMap", "shop", "stated", true},
		{"ConfigMap", "other", "stated", false},
		{"ConfigMap", "shop", "apart", false},
		{"Secret", "shop", "bare", false},
		{"Node", "", "wide", true},
	} {
		o := object.Object{Value: map[string]any{"apiVersion": "v1", "kind": tt.kind, "metadata": map[string]any{"name": tt.name}}}.InNamespace(tt.namespace)
		stated = append(stated, o)
		got, err := r.Find(o)
		if err != nil || (got != nil) != tt.found || got != nil && got.Namespace() != tt.namespace {
			t.Errorf("%s in %q: %v, %v", o, tt.namespace, got, err)
		}
	}
	if rest := r.Without(stated); strings.Join(rest, " ") != "configmap/apart" {
		t.Errorf("without: %q", rest)
	}
}
