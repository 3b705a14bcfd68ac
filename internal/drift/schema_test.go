package drift

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// published holds a text to docs/schemas/drift.v1.json.
func published(t *testing.T) func(text string) error {
	t.Helper()
	text, err := os.ReadFile("../../docs/schemas/drift.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var s spec.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	schema := validate.NewSchemaValidator(&s, nil, "", strfmt.Default)
	return func(text string) error {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return err
		}
		return schema.Validate(v).AsError()
	}
}

// documented are what docs/drift.md shows: a report, with its errors, and an event.
func documented(t *testing.T) (*Report, Event) {
	t.Helper()
	path := func(text string) merge.Path {
		p, err := merge.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	web := Object{Resource: cluster.Resource{Group: "apps", Version: "v1", Kind: "Deployment"}, Namespace: "shop", Name: "web"}
	service := Object{Resource: cluster.Resource{Version: "v1", Kind: "Service"}, Namespace: "shop", Name: "web"}
	replicas := Row{Object: web, Drift: Changed, Path: path("spec.replicas"), Wanted: merge.Some(json.Number("2")), Live: merge.Some(json.Number("7")),
		Owner: &merge.Owner{Manager: "kubectl", Operation: "Update", Subresource: "scale"}}
	return &Report{Checked: 4, Drifted: 2, Rows: []Row{
		replicas,
		{Object: web, Drift: Added, Path: path("spec.minReadySeconds"), Live: merge.Some(json.Number("3")),
			Owner: &merge.Owner{Manager: "tuner", Operation: "Update", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}},
		{Object: service, Drift: Missing},
	}, Errors: []string{`configmap/conf: cannot get resource "configmaps" in API group "" in the namespace "shop"`}}, Event{Began, time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.UTC), replicas}
}

// TestDocumented: docs/drift.md shows what is printed, and the schema describes it.
func TestDocumented(t *testing.T) {
	docs, err := os.ReadFile("../../docs/drift.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(docs, -1)
	if len(shown) != 2 {
		t.Fatalf("%d examples of JSON, want 2", len(shown))
	}
	r, e := documented(t)
	var report, event strings.Builder
	if err := writeJSON(&report, r, Options{Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}); err != nil {
		t.Fatal(err)
	}
	if err := (jsonStream{&event}).Event(e); err != nil {
		t.Fatal(err)
	}
	valid := published(t)
	for i, printed := range []string{report.String(), event.String()} {
		if canonical(t, printed) != canonical(t, string(shown[i][1])) {
			t.Errorf("printed is\n%sand docs/drift.md shows\n%s", printed, shown[i][1])
		}
		if err := valid(printed); err != nil {
			t.Errorf("%v\n%s", err, printed)
		}
		for _, change := range [][2]string{
			{`"kind":"Drift`, `"kind":"Draft`}, {`"drift":"changed"`, `"drift":"moved"`}, {`"name":"web"`, `"names":"web"`}, {`"time":"2026`, `"time":"yesterday `}, {`"event":"began"`, `"event":"begun"`},
		} {
			if changed := strings.Replace(printed, change[0], change[1], 1); changed != printed && valid(changed) == nil {
				t.Errorf("the schema takes %s", changed)
			}
		}
	}
}

func canonical(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
