package write

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// TestPlaceOfARefusal: a user who has one port named http is reported where the other is.
func TestPlaceOfARefusal(t *testing.T) {
	service, _ := schema.Builtin("", "v1", "Service")
	live := value(t, `{kind: Service, metadata: {managedFields: [{manager: ops, operation: Update, fieldsV1: {"f:spec": {"f:ports": {
		'k:{"port":8080,"protocol":"TCP"}': {"f:name": {}}}, "f:clusterIP": {}}}}]},
		spec: {type: ClusterIP, clusterIP: 10.0.0.1, ports: [{name: web, port: 80, protocol: TCP}, {name: http, port: 8080, protocol: TCP}]}}`)
	local := value(t, `{kind: Service, spec: {type: ClusterIP, ports: [{name: http, port: 80, protocol: TCP}]}}`)
	final := value(t, `{kind: Service, spec: {type: ClusterIP, clusterIP: 10.0.0.1, selector: {a.b/c: x, "[a]": y, "b[c].d": z}, ports: [{name: http, port: 80, protocol: TCP}, {name: http, port: 8080, protocol: TCP}]}}`)
	s := sent{owners: ownership.Of(live), Planned: apply.Planned{
		Subject: apply.Subject{Object: object.Object{Value: local}}, Live: live, Final: final, Type: service,
	}}
	for _, tt := range []struct{ field, kind, path, whose string }{
		{"spec.ports[1].name", "duplicate value", "spec.ports[port=8080,protocol=TCP].name",
			"that is live's (set by ops), and local has it at spec.ports[port=80,protocol=TCP].name" + remedy},
		{"spec.ports[0].name", "duplicate value", "spec.ports[port=80,protocol=TCP].name", "live has it at spec.ports[port=8080,protocol=TCP].name (set by ops)" + remedy},
		{"spec.clusterIP", "invalid value", "spec.clusterIP", "the value is live's (set by ops): state it in the file, or as null to remove it"},
		{"spec.type", "invalid value", "spec.type", ""},
		{"spec.selector[a.b/c]", "invalid value", `spec.selector["a.b/c"]`, ""},
		{"spec.selector[[a]]", "invalid value", `spec.selector["[a]"]`, ""},
		{"spec.selector[b[c].d]", "invalid value", `spec.selector["b[c].d"]`, ""},
		{"spec.ports[7].name", "invalid value", "spec.ports[7].name", ""},
		{"spec.missing.field", "required value", "spec.missing.field", ""},
	} {
		if path, whose := s.place(tt.field, tt.kind); path != tt.path || whose != tt.whose {
			t.Errorf("%s:\ngot  %s: %q\nwant %s: %q", tt.field, path, whose, tt.path, tt.whose)
		}
	}
	status := merge.Path{merge.Named("status"), merge.Named("storedVersions")}
	if got := s.wayOut(status); !strings.Contains(got, "--subresource=status") {
		t.Errorf("%q: status in a file is ignored", got)
	}
	if got := (sent{undoing: true}).wayOut(status); got != "" {
		t.Errorf("%q: an undo has no file", got)
	}
	for field, want := range map[string]string{"spec.type": "", "spec.clusterIP": ": live has it, and the file lacks it: put it back"} {
		if got := s.lacking(metav1.StatusCause{Type: metav1.CauseTypeFieldValueRequired, Field: field}); got != want {
			t.Errorf("%s: %q, not %q", field, got, want)
		}
	}
	for text, want := range map[string]string{
		`admission webhook "x" denied the request: spec.ports[1].name: no`:     `admission webhook "x" denied the request: spec.ports[port=8080,protocol=TCP].name: no`,
		`validation error: rule failed at path /spec/ports/0/name/`:            `validation error: rule failed at path spec.ports[port=80,protocol=TCP].name`,
		`unknown field ".spec.ports[0].port", and path /api/v1/namespaces/0/x`: `unknown field "spec.ports[port=80,protocol=TCP].port", and path /api/v1/namespaces/0/x`,
		`spec.ports[7].name and spec.ports[port=80] stay, items[0] too`:        `spec.ports[7].name and spec.ports[port=80] stay, items[0] too`,
	} {
		if got := s.respell(text); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func value(t *testing.T, text string) map[string]any {
	t.Helper()
	docs, err := source.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) == 0 {
		return nil
	}
	v, _ := docs[0].Value.(map[string]any)
	return v
}
