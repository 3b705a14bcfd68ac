package apply

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

const ownedConf = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n","resourceVersion":"1","managedFields":[
{"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:old":{}}}}]},"data":{"a":"1","old":"x"}}`

// TestOriginals: what was applied last decides whether a key that local leaves out is removed.
func TestOriginals(t *testing.T) {
	saved := object.Object{Value: read(t, strings.Replace(conf, `"a":"1"`, `"a":"1","old":"x"`, 1))}
	foreign := object.Object{Value: read(t, strings.Replace(conf, `"kind":"ConfigMap"`, `"kind":"Secret"`, 1))}
	found := func(o *object.Object, err error) Originals {
		return Originals{From: File, Saved: func(object.Object) (*object.Object, error) { return o, err }}
	}
	for _, tt := range []struct {
		reason  string
		from    Originals
		removed bool
		err     string
	}{
		{"nothing is known", Originals{From: None}, false, ""},
		{"there is no annotation", Originals{From: Auto}, false, ""},
		{"the annotation that is asked for is not there", Originals{From: Annotation}, false, "--original=annotation: no last-applied"},
		{"managedFields have it", Originals{From: ManagedFields}, true, ""},
		{"a file has it", found(&saved, nil), true, ""},
		{"no file has the object", found(nil, nil), false, ""},
		{"a file of another object", found(&foreign, nil), false, "--original: "},
		{"a file that cannot be searched", found(nil, errors.New("two of them")), false, "two of them"},
		{"no such place", Originals{From: "elsewhere"}, false, "--original=elsewhere: there are auto"},
	} {
		p := planner(t)
		p.Original = tt.from
		got, err := p.Plan(t.Context(), subject(t, conf), read(t, ownedConf))
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: got %v, want %q in it", tt.reason, err, tt.err)
			}
			continue
		}
		_, there := merge.Lookup(got.Final, merge.Path{merge.Named("data"), merge.Named("old")}, nil)
		if err != nil || there == tt.removed {
			t.Errorf("%s: removed %t, %v", tt.reason, !there, err)
		}
	}
}

func TestMistyped(t *testing.T) {
	s := subject(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":"3"}}`)
	s.Origin.File = "d.yaml"
	p := planner(t)
	p.Locate = func(object.Object, ...merge.Path) string { return "d.yaml: line 4" }
	if _, err := p.Plan(t.Context(), s, nil); err == nil || !strings.Contains(err.Error(), "spec.replicas: must be") || !strings.Contains(err.Error(), "(d.yaml: line 4)") {
		t.Errorf("got %v", err)
	}
}

func TestDocuments(t *testing.T) {
	const openAPI = `{"openapi":"3.0.0","components":{"schemas":{"com.example.v1.Widget":{"type":"object","x-kubernetes-group-version-kind":
		[{"group":"example.com","version":"v1","kind":"Widget"}],"properties":{"spec":{"type":"object"}}}}}}`
	fetched := 0
	d := &Documents{Fetch: func(_ context.Context, group, version string) ([]byte, error) {
		fetched++
		switch group {
		case "example.com":
			return []byte(openAPI), nil
		case "broken.com":
			return []byte("{"), nil
		}
		return nil, nil
	}}
	for range 2 {
		if got, err := d.Type(t.Context(), "example.com", "v1", "Widget"); err != nil || got == nil || fetched != 1 {
			t.Errorf("%v, %v, fetched %d times", got, err, fetched)
		}
	}
	if got, err := d.Type(t.Context(), "none.com", "v1", "Widget"); err != nil || got != nil {
		t.Errorf("no document: %v, %v", got, err)
	}
	if _, err := d.Type(t.Context(), "broken.com", "v1", "Widget"); err == nil || !strings.Contains(err.Error(), "schema of broken.com/v1: ") {
		t.Errorf("got %v", err)
	}
	asked := 0
	d.Definition = func(_ context.Context, group, kind string) (map[string]any, error) {
		if asked++; group+kind != "example.comGadget" {
			return nil, nil
		}
		return read(t, strings.ReplaceAll(widgetCRD, "Widget", "Gadget")), nil
	}
	for range 2 {
		if got, err := d.Type(t.Context(), "example.com", "v1", "Gadget"); err != nil || got == nil || asked != 1 {
			t.Errorf("not published yet: %v, %v, asked %d times", got, err, asked)
		}
	}
	if got, err := d.Type(t.Context(), "none.com", "v1", "Widget"); err != nil || got != nil || asked != 2 {
		t.Errorf("neither document nor definition: %v, %v, asked %d times", got, err, asked)
	}
	if got, err := d.Type(t.Context(), "example.com", "v9", "Gadget"); err != nil || got != nil {
		t.Errorf("a version that is not defined: %v, %v", got, err)
	}
	var files Definitions
	for _, v := range []any{
		read(t, openAPI),
		map[string]any{"kind": "List", "items": []any{read(t, widgetCRD)}},
	} {
		if err := files.Add(v); err != nil {
			t.Error(err)
		}
	}
	if got, err := files.Around(nil)(t.Context(), "other.com", "v1", "Gadget"); err != nil || got != nil {
		t.Errorf("not known: %v, %v", got, err)
	}
}

func TestCheckRules(t *testing.T) {
	rules, err := schema.ParseRules([]byte("- path: data.a\n  kind: ConfigMap\n  winner: live\n- path: spec.x\n  kind: ConfigMapp\n  winner: live\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := planner(t)
	p.Rules = &UserRules{File: "r.yaml", Rules: rules}
	objects := []object.Object{{Value: read(t, conf)}}
	if err := p.CheckRules(t.Context(), objects, nil); err == nil || !strings.Contains(err.Error(), "--rules r.yaml: ") || !strings.Contains(err.Error(), "did you mean ConfigMap?") {
		t.Errorf("got %v", err)
	}
	there := func(string) bool { return true }
	if err := p.CheckRules(t.Context(), objects, there); err != nil {
		t.Errorf("the server has the kind: %v", err)
	}
	if _, err := p.Plan(t.Context(), subject(t, conf), read(t, ownedConf)); err != nil || len(p.Rules.Unused()) != 1 {
		t.Errorf("one rule had nothing to decide: %v, %v", p.Rules.Unused(), err)
	}
	if (&Planner{}).CheckRules(t.Context(), objects, nil) != nil || (*UserRules)(nil).Unused() != nil {
		t.Error("without rules there is nothing to check")
	}
}
