package apply

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

var read = values.Object

func subject(t *testing.T, text string) Subject {
	t.Helper()
	o := object.Object{Value: read(t, text)}
	return Subject{Object: o, Name: o.String()}
}

func planner(t *testing.T) *Planner {
	t.Helper()
	policy, err := merge.PolicyNamed("apply")
	if err != nil {
		t.Fatal(err)
	}
	return &Planner{Policy: policy, Manager: "kubectl-client-side-apply", Validate: Strict}
}

const conf = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n"},"data":{"a":"1"}}`

func TestPlanActions(t *testing.T) {
	p := planner(t)
	s := subject(t, conf)
	made, err := p.Plan(t.Context(), s, nil)
	if err != nil || made.Action != Create {
		t.Fatalf("nothing is there: action %q, %v", made.Action, err)
	}
	again, err := p.Plan(t.Context(), s, made.Final)
	if err != nil || again.Action != Nothing {
		t.Errorf("the same again changes nothing: action %q, %v", again.Action, err)
	}
	bare, err := p.Plan(t.Context(), s, read(t, conf))
	if err != nil || bare.Action != Change {
		t.Errorf("a missing annotation is a change: action %q, %v", bare.Action, err)
	}
	other, err := p.Plan(t.Context(), subject(t, strings.Replace(conf, `"a":"1"`, `"b":"2"`, 1)), made.Final)
	if err != nil || other.Action != Change {
		t.Fatalf("action %q, %v", other.Action, err)
	}
	if _, left := merge.Lookup(other.Final, merge.Path{merge.Named("data"), merge.Named("a")}, nil); left {
		t.Error("what was applied and is dropped stays")
	}
}

func TestPlanRefuses(t *testing.T) {
	for _, tt := range []struct{ reason, local, live, want string }{
		{"an unknown field, with the one that was meant",
			`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replica":1}}`, "",
			`deployment.apps/d: unknown field "spec.replica" (did you mean replicas?): fix the name, or merge without it (--validate=ignore)`},
		{"an object that is being deleted", conf,
			strings.Replace(conf, `"name":"c"`, `"name":"c","deletionTimestamp":"2024-01-02T03:04:05Z"`, 1),
			"configmap/c: is being deleted since 2024-01-02T03:04:05Z: wait"},
		{"a last-applied configuration given for a manifest",
			`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","annotations":{"` + lastapplied.Marker + `":"secret"}},"data":{"pw":""}}`, "",
			"values were blanked"},
	} {
		var live map[string]any
		if tt.live != "" {
			live = read(t, tt.live)
		}
		_, err := planner(t).Plan(t.Context(), subject(t, tt.local), live)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q in it", tt.reason, err, tt.want)
		}
	}
}

func TestPlanTellsABadAnnotation(t *testing.T) {
	live := read(t, strings.Replace(conf, `"name":"c"`, `"name":"c","annotations":{"`+lastapplied.Annotation+`":"{no"}`, 1))
	got, err := planner(t).Plan(t.Context(), subject(t, conf), live)
	if err != nil || len(got.Problems) != 1 || !strings.Contains(got.Problems[0], "last-applied") || got.Action != Change {
		t.Errorf("got %q, action %q, %v: it is reported, treated as none, and a fresh one written", got.Problems, got.Action, err)
	}
}

func TestPlanValidation(t *testing.T) {
	local := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"dta":{"a":"1"}}`
	p := planner(t)
	p.Validate = Warn
	if got, err := p.Plan(t.Context(), subject(t, local), nil); err != nil || len(got.Problems) != 1 {
		t.Errorf("warn tells: %q, %v", got.Problems, err)
	}
	p.Validate = Ignore
	if got, err := p.Plan(t.Context(), subject(t, local), nil); err != nil || len(got.Problems) != 0 {
		t.Errorf("ignore does not: %q, %v", got.Problems, err)
	}
}

func TestPlanAsksForASchemaOnlyWhereNeeded(t *testing.T) {
	asked := 0
	p := planner(t)
	p.Schemas = func(context.Context, string, string, string) (*merge.Type, error) {
		asked++
		return nil, nil
	}
	if _, err := p.Plan(t.Context(), subject(t, conf), nil); err != nil || asked != 0 {
		t.Errorf("the compiled-in type knows every field, and yet %d were asked for: %v", asked, err)
	}
	widget := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{}}`
	if _, err := p.Plan(t.Context(), subject(t, widget), nil); err != nil || asked != 1 {
		t.Errorf("a custom resource asks once: %d, %v", asked, err)
	}
	p.Schemas = func(context.Context, string, string, string) (*merge.Type, error) {
		return nil, errors.New("no schema today")
	}
	if _, err := p.Plan(t.Context(), subject(t, widget), nil); err == nil || !strings.Contains(err.Error(), "widget.example.com/w: no schema today") {
		t.Errorf("a schema that cannot be had is no reason to guess: %v", err)
	}
}

const widgetCRD = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"kind":"Widget","plural":"widgets"},"versions":[{"name":"v1","served":true,
"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"}}}}}}}]}}`

func TestDefinitions(t *testing.T) {
	var server Schemas = func(context.Context, string, string, string) (*merge.Type, error) {
		return &merge.Type{Name: "server's"}, nil
	}
	var files Definitions
	if err := files.Add(read(t, widgetCRD)); err != nil {
		t.Fatal(err)
	}
	got, err := files.Around(server)(t.Context(), "example.com", "v1", "Widget")
	if err != nil || got == nil || got.Name != "server's" {
		t.Errorf("the server knows better than a file: %v, %v", got, err)
	}
	if got, err = files.Around(nil)(t.Context(), "example.com", "v1", "Widget"); err != nil || got == nil {
		t.Errorf("without a server the file tells: %v, %v", got, err)
	}
	if kind, ok := files.Kind("example.com", "v1", "Widget"); !ok || !kind.Namespaced {
		t.Errorf("the file reports the scope: %+v", kind)
	}
	var input Definitions
	input.Input([]object.Object{{Value: read(t, widgetCRD)}})
	if got, err = input.Around(server)(t.Context(), "example.com", "v1", "Widget"); err != nil || got == nil || got.Name == "server's" {
		t.Errorf("the server will have the definition of the input: %v, %v", got, err)
	}
	if err := files.Add(map[string]any{"a": "b"}); err == nil || !strings.Contains(err.Error(), "is neither") {
		t.Errorf("got %v", err)
	}
}

func TestOriginalOfAFileMayBeBlanked(t *testing.T) {
	const viewed = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"login","annotations":{"merge.kubectl/blanked":"secret"}},"data":{"password":""}}`
	given, err := Given(read(t, viewed), read(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"login"}}`))
	if err != nil || given.Blanking != lastapplied.BlankSecret {
		t.Errorf("got %+v, %v: what view-last-applied prints says that its values are none", given, err)
	}
	if _, err := Given(read(t, viewed), read(t, conf)); err == nil {
		t.Error("a Secret's configuration is no ConfigMap's")
	}
}
