package apply

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// deployed is a live Deployment with entries of managedFields: manager operation fields.
func deployed(t *testing.T, spec string, entries ...[3]string) map[string]any {
	t.Helper()
	var managed []string
	for _, e := range entries {
		managed = append(managed, `{"manager":"`+e[0]+`","operation":"`+e[1]+`","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":`+e[2]+`}`)
	}
	return read(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"n","uid":"u","resourceVersion":"7","managedFields":[`+strings.Join(managed, ",")+`]},"spec":`+spec+`}`)
}

// TestServerSide: the apply has the fields that local states and the plan does not leave to
// other managers. It takes over from them only what the policy decides.
func TestServerSide(t *testing.T) {
	const (
		local   = `{"replicas":3,"template":{"spec":{"containers":[{"name":"a","image":"2"}]}}}`
		image   = `{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:name":{}}}}}}}`
		scaled  = `{"f:spec":{"f:replicas":{}}}`
		only    = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:name":{}}}}}}}`
		mesh    = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"mesh\"}":{".":{},"f:name":{}}}}}}}`
		history = `{"f:spec":{"f:revisionHistoryLimit":{}}}`
	)
	live := func(replicas, more string) string {
		return `{"replicas":` + replicas + `,"template":{"spec":{"containers":[{"name":"a","image":"1"}` + more + `]}}}`
	}
	for _, tt := range []struct {
		reason, policy string
		live           map[string]any
		action         Action
		conflicts      int
		force          bool
		config         string // its spec
	}{
		{"nothing is there", "strict", nil, Create, 0, false, local},
		{"applied by us alone", "strict", deployed(t, live("3", ""), [3]string{"kubectl", "Apply", image}), Change, 0, false, local},
		{"an entry of another manager is left to it", "strict", deployed(t, live("3", `,{"name":"mesh"}`), [3]string{"kubectl", "Apply", image}, [3]string{"istio", "Update", mesh}), Change, 0, false, local},
		{"a value that another manager has changed is a conflict", "strict", deployed(t, live("5", ""), [3]string{"kubectl", "Apply", only}, [3]string{"scaler", "Update", scaled}), Change, 1, false, ""},
		{"and stays with it where live wins", "live", deployed(t, live("5", ""), [3]string{"kubectl", "Apply", only}, [3]string{"scaler", "Update", scaled}), Change, 0, false,
			`{"template":{"spec":{"containers":[{"image":"2","name":"a"}]}}}`},
		{"and is taken over where local wins", "apply", deployed(t, live("5", ""), [3]string{"kubectl", "Apply", only}, [3]string{"scaler", "Update", scaled}), Change, 0, true, local},
		{"what was applied and is stated no more is given up", "strict", deployed(t, strings.Replace(live("3", ""), `{"replicas"`, `{"revisionHistoryLimit":5,"replicas"`, 1), [3]string{"kubectl", "Apply", strings.Replace(image, `"f:replicas"`, `"f:revisionHistoryLimit":{},"f:replicas"`, 1)}), Change, 0, false, local},
	} {
		p := planner(t)
		policy, err := merge.PolicyNamed(tt.policy)
		if err != nil {
			t.Fatal(err)
		}
		p.Policy, p.Manager, p.Writing = policy, ServerManager, ServerSide{}
		s := subject(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"n"},"spec":`+local+`}`)
		out, err := p.Plan(t.Context(), s, tt.live)
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
			continue
		}
		if len(out.Conflicts) != tt.conflicts {
			t.Errorf("%s: %d conflicts", tt.reason, len(out.Conflicts))
		}
		if tt.conflicts > 0 {
			continue
		}
		if out.Action != tt.action || out.Applying == nil || out.Applying.Force != tt.force {
			t.Errorf("%s: action %q, %+v", tt.reason, out.Action, out.Applying)
			continue
		}
		if got, err := json.Marshal(out.Applying.Config["spec"]); err != nil || !merge.Equal(read(t, string(got)), read(t, tt.config), nil) {
			t.Errorf("%s: applies\n%s\nwant\n%s", tt.reason, got, tt.config)
		}
		if meta := out.Applying.Config["metadata"].(map[string]any); meta["uid"] != nil || meta["managedFields"] != nil {
			t.Errorf("%s: applies %v", tt.reason, meta)
		}
	}
}

// TestNullsAreStored: server-side apply sends a null that the server can store, and only what it does not send is
// reported as stored as its default.
func TestNullsAreStored(t *testing.T) {
	spec := &merge.Type{Kind: merge.Object, Fields: map[string]merge.Field{"size": {Type: &merge.Type{Kind: merge.Scalar}, Nullable: true, Default: "q"}}}
	const widget = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":null}}`
	live := func(size, fields string) map[string]any {
		w := read(t, strings.Replace(widget, "null", size, 1))
		return merge.With(w, []any{read(t, `{"manager":"kubectl","operation":"Apply","apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":`+fields+`}`)}, "metadata", "managedFields")
	}
	for _, tt := range []struct {
		reason  string
		live    map[string]any
		writing Writing
		noted   int
	}{
		{"created by a patch", nil, ClientSide{}, 1},
		{"created by server-side apply", nil, ServerSide{}, 0},
		{"the default is there, for which null asks", live(`"q"`, `{"f:spec":{}}`), ServerSide{}, 1},
		{"a value that was applied before", live(`"x"`, `{"f:spec":{"f:size":{}}}`), ServerSide{}, 0},
	} {
		p := planner(t)
		p.Manager, p.Writing = ServerManager, tt.writing
		p.Schemas = func(context.Context, string, string, string) (*merge.Type, error) {
			return &merge.Type{Kind: merge.Object, Open: true, Fields: map[string]merge.Field{"spec": {Type: spec}}}, nil
		}
		out, err := p.Plan(t.Context(), subject(t, widget), tt.live)
		if err != nil {
			t.Fatal(err)
		}
		if sent := out.Applying != nil && strings.Contains(string(mustJSON(t, out.Applying.Config)), `"size":null`); len(out.Defaulted) != tt.noted || sent != (tt.noted == 0) {
			t.Errorf("%s: %d notes, applied as null: %v", tt.reason, len(out.Defaulted), sent)
		}
	}
}

// TestAmbiguous: lists that server-side apply cannot take are an error with the entry.
func TestAmbiguous(t *testing.T) {
	typ, ok := schema.Builtin("apps", "v1", "Deployment")
	if !ok {
		t.Fatal("no Deployment")
	}
	spec := func(containers string) map[string]any {
		return read(t, `{"spec":{"template":{"spec":{"containers":[`+containers+`]}}}}`)
	}
	for text, want := range map[string]string{
		`{"name":"a"},{"name":"b"}`: "",
		`{"name":"a"},{"name":"a"}`: "spec.template.spec.containers[name=a]#2: is in the list twice, and server-side apply takes each key once",
		`{"image":"a"}`:             "has no name, by which server-side apply knows the entries",
	} {
		if got := strings.Join(ambiguous(spec(text), nil, typ), "; "); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestAnswers: an answer of the user decides only as long as live has the value that it was given
// for.
func TestAnswers(t *testing.T) {
	p := planner(t)
	policy, err := merge.PolicyNamed("strict")
	if err != nil {
		t.Fatal(err)
	}
	p.Policy = policy
	made, err := p.Plan(t.Context(), subject(t, conf), nil)
	if err != nil {
		t.Fatal(err)
	}
	live := func(a string) map[string]any {
		out := read(t, string(mustJSON(t, made.Final)))
		out["data"] = map[string]any{"a": a}
		return out
	}
	s := subject(t, strings.Replace(conf, `"a":"1"`, `"a":"2"`, 1))
	at := merge.Path{merge.Named("data"), merge.Named("a")}
	for choice, want := range map[merge.Choice]string{merge.TakeLocal: "2", merge.TakeLive: "3", merge.TakeOriginal: "1"} {
		s.Answers = []Answer{{Path: at, Choice: choice, Live: merge.Some("3")}}
		out, err := p.Plan(t.Context(), s, live("3"))
		if got, _ := merge.Lookup(out.Result, at, nil); err != nil || len(out.Conflicts) > 0 || got != want {
			t.Errorf("choice %d: %v, %d conflicts, %v", choice, got, len(out.Conflicts), err)
		}
		if out, err = p.Plan(t.Context(), s, live("4")); err != nil || len(out.Conflicts) != 1 {
			t.Errorf("choice %d, and another value by then: %d conflicts, %v", choice, len(out.Conflicts), err)
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
