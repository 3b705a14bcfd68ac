package cli

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// TestNoKind: offline, only a built-in apiVersion can lack a kind; of all others nobody
// here knows the kinds, however near their names are to built-in ones.
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
