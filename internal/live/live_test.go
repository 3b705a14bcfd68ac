package live

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
)

func TestPlace(t *testing.T) {
	pod := func(namespace string) object.Object {
		return object.Object{Value: map[string]any{"kind": "Pod", "metadata": map[string]any{"name": "p", "namespace": namespace}}}
	}
	for _, tt := range []struct {
		reason     string
		ns         Namespacing
		own        string
		namespaced bool
		want       string
		refused    bool
	}{
		{"its own", Namespacing{Default: "default"}, "prod", true, "prod", false},
		{"the context's", Namespacing{Default: "team"}, "", true, "team", false},
		{"-n for one that names none", Namespacing{Default: "prod", Enforce: true}, "", true, "prod", false},
		{"-n against its own", Namespacing{Default: "prod", Enforce: true}, "test", true, "", true},
		{"a cluster-scoped kind has none", Namespacing{Default: "prod", Enforce: true}, "test", false, "", false},
	} {
		got, err := tt.ns.Place(pod(tt.own), tt.namespaced)
		if (err != nil) != tt.refused || err == nil && got.Namespace() != tt.want {
			t.Errorf("%s: got %q, %v", tt.reason, got.Namespace(), err)
		}
	}
}

// TestNoKind: offline, only a built-in apiVersion is known to lack a kind. The kinds of all
// others are unknown, however similar their names are to built-in ones.
func TestNoKind(t *testing.T) {
	for _, tt := range []struct {
		apiVersion, kind string
		refused          bool
	}{
		{"v1", "Configmap", true},
		{"apps/v1", "Deploymnt", true},
		{"route.openshift.io/v1", "Route", false},
		{"iam.example.com/v1", "Role", false},
		{"example.com/v1", "Deploymnt", false},
	} {
		err := noKind(object.Object{Value: map[string]any{"apiVersion": tt.apiVersion, "kind": tt.kind}})
		if (err != nil) != tt.refused {
			t.Errorf("%s %s: %v", tt.apiVersion, tt.kind, err)
		}
	}
}
