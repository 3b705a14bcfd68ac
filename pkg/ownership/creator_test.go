package ownership_test

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// TestCreator: times are in seconds, so that an entry with the time of the creation may
// be that of somebody who wrote right after it.
func TestCreator(t *testing.T) {
	const made, later = "2026-01-01T00:00:00Z", "2026-01-01T00:00:07Z"
	entry := func(manager, operation, at, fields string) string {
		return `{"manager":"` + manager + `","operation":"` + operation + `","time":"` + at + `","fieldsV1":` + fields + `}`
	}
	const (
		deployment = `{"f:spec":{"f:replicas":{},"f:revisionHistoryLimit":{},"f:template":{"f:spec":{"f:dnsPolicy":{}}}}}`
		applied    = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}}}}`
		sidecar    = `{"f:metadata":{"f:finalizers":{".":{},"v:\"x\"":{}}},"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"mesh\"}":{".":{},"f:name":{}}}}}}}`
		locked     = `{"f:metadata":{"f:finalizers":{".":{},"v:\"x\"":{}}}}`
		annotated  = `{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}}}}`
		data, key  = `{"f:data":{".":{},"f:a":{}}}`, `{"f:data":{"f:b":{}}}`
	)
	for _, c := range []struct {
		reason, kind, entries, want string
	}{
		{"the one that has written at that time", "Deployment", entry("helm", "Update", made, deployment) + "," + entry("mesh", "Update", later, sidecar), "helm"},
		{"a later one has what the server filled in at first", "Deployment", entry("helm", "Update", later, deployment) + "," + entry("mesh", "Update", made, sidecar), ""},
		{"a later one has made the map", "ConfigMap", entry("helm", "Update", later, data) + "," + entry("mesh", "Update", made, key), ""},
		{"it has made the map itself", "ConfigMap", entry("helm", "Update", made, data) + "," + entry("mesh", "Update", later, key), "helm"},
		{"server-side apply holds no defaults", "Deployment", entry("argocd", "Apply", made, applied) + "," + entry("mesh", "Update", later, sidecar), "argocd"},
		{"it has nothing from the start, and another has applied the object", "ConfigMap", entry("mesh", "Update", made, locked) + "," + entry("ci", "Update", later, annotated), ""},
		{"it has nothing from the start, and has applied the object", "ConfigMap", entry("ci", "Update", made, annotated) + "," + entry("mesh", "Update", later, locked), "ci"},
		{"a part of the control plane", "ConfigMap", entry("kube-controller-manager", "Update", made, data), ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			group := map[string]string{"Deployment": "apps"}[c.kind]
			typ, ok := schema.Builtin(group, "v1", c.kind)
			if !ok {
				t.Fatalf("%s is not known", c.kind)
			}
			live, err := merge.ReadJSON([]byte(`{"kind":"` + c.kind + `","metadata":{"creationTimestamp":"` + made + `","managedFields":[` + c.entries + `]},"spec":{},"data":{}}`))
			if err != nil {
				t.Fatal(err)
			}
			if got := ownership.Creator(live, typ); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
