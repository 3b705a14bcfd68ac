package guard

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func read(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

func planned(t *testing.T, local, live string) apply.Planned {
	t.Helper()
	p := apply.Planner{Policy: merge.Policies[0], Manager: apply.DefaultManager}
	var there map[string]any
	if live != "" {
		there = read(t, live)
	}
	out, err := p.Plan(context.Background(), apply.Subject{Object: object.Object{Value: read(t, local)}, Name: "it", HasStatus: true}, there)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestObject(t *testing.T) {
	local := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}}`
	live := func(meta string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"` + meta + `},"data":{"a":"2"}}`
	}
	entry := func(manager, fields, time string) string {
		return fmt.Sprintf(`{"manager":%q,"operation":"Update","apiVersion":"v1","time":%q,"fieldsType":"FieldsV1","fieldsV1":{%s}}`, manager, time, fields)
	}
	part := `,"labels":{"applyset.kubernetes.io/part-of":"applyset-x-v1"},"managedFields":[`
	flux := func(more string) string { // a label works as an annotation does: AnyInMetadata of github.com/fluxcd/pkg/ssa/utils
		return `,"labels":{"kustomize.toolkit.fluxcd.io/name":"apps","kustomize.toolkit.fluxcd.io/namespace":"flux-system"` + more + `}`
	}
	label := `"f:metadata":{"f:labels":{"f:applyset.kubernetes.io/part-of":{}}}`
	applied := `,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"1\"}}"},"managedFields":[`
	own := entry(apply.DefaultManager, `"f:data":{},"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}}`, "2026-01-01T00:00:00Z")
	for _, tt := range []struct{ reason, live, want string }{
		{"a new object has no other manager", "", ""},
		{"no other manager", live(""), ""},
		{"an owner that does not control it", live(`,"ownerReferences":[{"kind":"X","name":"x","uid":"u"}]`), ""},
		{"a controller", live(`,"ownerReferences":[{"kind":"X","name":"x","uid":"u","controller":true}]`), ". is controlled by X x,"},
		{"Flux", live(flux("")), ". is applied by Flux from the Kustomization"},
		{"Flux, which is to leave it alone", live(flux(`,"kustomize.toolkit.fluxcd.io/ssa":"ignore"`)), ""},
		{"a set that another tool applies", live(part + entry("their-tool", label, "2026-01-01T00:00:00Z") + "]"), ". is a member of the ApplySet"},
		{"a set of the user's own", live(part + entry("kubectl", label, "2026-01-01T00:00:00Z") + "]"), ""},
		{"a program that wrote what was applied", live(applied + own + "," + entry("operator", `"f:data":{"f:a":{}}`, "2026-01-02T00:00:00Z") + "]"), "data.a operator wrote it"},
		{"a program that wrote before it was applied", live(applied + own + "," + entry("operator", `"f:data":{"f:a":{}}`, "2025-01-02T00:00:00Z") + "]"), ""},
		{"a person", live(applied + own + "," + entry("kubectl-edit", `"f:data":{"f:a":{}}`, "2026-01-02T00:00:00Z") + "]"), ""},
	} {
		var got []string
		for _, f := range Object(planned(t, local, tt.live), apply.DefaultManager) {
			got = append(got, f.Path.String()+" "+f.Text)
		}
		if len(got) > 0 != (tt.want != "") || len(got) > 1 || !strings.HasPrefix(strings.Join(got, ""), tt.want) {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
	}
}

// TestScaled takes the objects that the kinds' own documentation shows.
func TestScaled(t *testing.T) {
	shop := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"shop"},"spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"1"}}}]}}}}`
	for _, tt := range []struct{ kind, scaler, want string }{
		{"ScaledObject", `{"metadata":{"name":"s"},"spec":{"scaleTargetRef":{"name":"shop"}}}`, "spec.replicas"},
		{"ScaledObject", `{"metadata":{"name":"s"},"spec":{"scaleTargetRef":{"name":"shop","kind":"StatefulSet"}}}`, ""},
		{"ScaledObject", `{"metadata":{"name":"s","annotations":{"autoscaling.keda.sh/paused":"true"}},"spec":{"scaleTargetRef":{"name":"shop"}}}`, ""},
		{"HorizontalPodAutoscaler", `{"metadata":{"name":"s"},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"shop"}}}`, "spec.replicas"},
		{"HorizontalPodAutoscaler", `{"metadata":{"name":"s"},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"other"}}}`, ""},
		{"HorizontalPodAutoscaler", `{"metadata":{"name":"s"},"spec":{"scaleTargetRef":{"apiVersion":"example.com/v1","kind":"Deployment","name":"shop"}}}`, ""},
		{"Rollout", `{"metadata":{"name":"s"},"spec":{"workloadRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"shop","scaleDown":"onsuccess"}}}`, "spec.replicas"},
		{"Rollout", `{"metadata":{"name":"s"},"spec":{"workloadRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"shop"}}}`, ""},
		{"VerticalPodAutoscaler", `{"metadata":{"name":"s"},"spec":{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"shop"},"updatePolicy":{"updateMode":"Auto"}}}`, "spec.template.spec.containers[name=main].resources"},
		{"VerticalPodAutoscaler", `{"metadata":{"name":"s"},"spec":{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"shop"},"updatePolicy":{"updateMode":"Off"}}}`, ""},
		{"HorizontalPodAutoscaler", `{"spec":"?"}`, ""},
	} {
		for _, s := range Scalers {
			if s.Kind != tt.kind {
				continue
			}
			stated := States(planned(t, shop, ""), func(merge.Path) bool { return false })
			f, ok := s.Scaled(read(t, tt.scaler), stated)
			if ok != (tt.want != "") || ok && f.Path.String() != tt.want {
				t.Errorf("%s: %s: %v %s, want %q", tt.kind, tt.scaler, ok, f.Path, tt.want)
			}
		}
	}
	if s := States(planned(t, shop, ""), func(p merge.Path) bool { return p.String() == "spec.replicas" }); s.Fields != Resources {
		t.Errorf("a field that is given to live: %v", s)
	}
	if s := States(planned(t, shop, shop), func(merge.Path) bool { return false }); s.Fields != Replicas|Resources {
		t.Errorf("an object whose annotation is written: %v", s)
	}
}

// TestDocumented: docs/guard.md has a row for each tool and each kind of scaler, with the
// page that it comes from.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/guard.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range markers {
		for _, k := range m.keys {
			if !strings.Contains(string(text), "`"+k.name) {
				t.Errorf("docs/guard.md lacks %s", k.name)
			}
		}
	}
	for _, s := range Scalers {
		if row := fmt.Sprintf("| [%s](https://", s.Kind); !strings.Contains(string(text), row) {
			t.Errorf("docs/guard.md lacks %s", row)
		}
	}
}
