package ownership_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// owner is an entry of managedFields.
func owner(manager, operation, fields string) string {
	return `{"manager":"` + manager + `","operation":"` + operation + `","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":` + fields + `}`
}

// managed is a Deployment with these entries.
func managed(t *testing.T, entries ...string) map[string]any {
	t.Helper()
	return read(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","managedFields":[`+strings.Join(entries, ",")+`]},"spec":{}}`).(map[string]any)
}

// entries are managedFields, an entry a line: manager operation fields.
func entries(t *testing.T, r *ownership.Rewrite) []string {
	t.Helper()
	var out []string
	for _, e := range r.Entries() {
		m := e.(map[string]any)
		fields, err := json.Marshal(m["fieldsV1"])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, m["manager"].(string)+" "+m["operation"].(string)+" "+string(fields))
	}
	return out
}

func deployment(t *testing.T) *merge.Type {
	t.Helper()
	typ, ok := schema.Builtin("apps", "v1", "Deployment")
	if !ok {
		t.Fatal("no Deployment")
	}
	return typ
}

func path(t *testing.T, text string) merge.Path {
	t.Helper()
	p, err := merge.ParsePath(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFields: the fields that an applier of an object owns: entries of maps and lists themselves,
// fields with parts by their parts, nothing that identifies the object.
func TestFields(t *testing.T) {
	obj := read(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","labels":{"app":"web"}},"spec":{"replicas":3,"strategy":{},`+
		`"template":{"spec":{"containers":[{"name":"a","image":"x","command":["sh","-c"]}],"volumes":[]}}}}`).(map[string]any)
	got, err := json.Marshal(ownership.Fields(obj, deployment(t)))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:replicas":{},"f:strategy":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:command":{},"f:image":{},"f:name":{}}}}}}}`
	if string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	bare := ownership.Fields(read(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`).(map[string]any), nil)
	if len(bare) > 0 {
		t.Errorf("of what identifies the object: %v", bare)
	}
}

// TestNulls: who owns what is stated as null, or as a map of nothing else, means nothing.
func TestNulls(t *testing.T) {
	obj := read(t, `{"spec":{"replicas":null,"paused":false,"strategy":{"rollingUpdate":null},"template":{"spec":{"containers":[{"name":"a","image":null}]}}}}`)
	got, err := json.Marshal(ownership.Nulls(obj, deployment(t)))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"f:spec":{"f:replicas":{},"f:strategy":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:image":{}}}}}}}`; string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestWhoApplied: who applied from which side, and what.
func TestWhoApplied(t *testing.T) {
	const annotation = `{"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}}}`
	live := managed(t, owner("me", "Apply", `{"f:spec":{"f:replicas":{}}}`), owner("kubectl", "Update", annotation), owner("scaler", "Update", `{"f:spec":{"f:paused":{}}}`), owner("kubectl", "Update", `{"f:spec":{}}`))
	if d := cmp.Diff([]string{"kubectl"}, ownership.ClientSide(live)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"kubectl", "scaler"}, ownership.RewriteOf(live, "me").Owners()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}}, ownership.Applied(live, "me")); d != "" {
		t.Error(d)
	}
	if got := ownership.Applied(live, "kubectl"); got != nil {
		t.Errorf("an update is taken for an apply: %v", got)
	}
}

// TestSameFields: two sets are compared however they are spelled, without what is below a third.
func TestSameFields(t *testing.T) {
	fields := func(text string) map[string]any { return read(t, text).(map[string]any) }
	a, b := fields(`{"f:spec":{"f:a":{},"f:b":{}}}`), fields(`{"f:spec":{"f:a":{}}}`)
	for _, tt := range []struct {
		a, b, save map[string]any
		want       bool
	}{{a, a, nil, true}, {a, b, nil, false}, {a, b, fields(`{"f:spec":{"f:b":{}}}`), true}, {nil, nil, nil, true}} {
		if got, err := ownership.SameFields(tt.a, tt.b, tt.save); err != nil || got != tt.want {
			t.Errorf("%v and %v save for %v: %t, %v", tt.a, tt.b, tt.save, got, err)
		}
	}
	if _, err := ownership.SameFields(fields(`{"k:{":{}}`), b, nil); err == nil || !strings.HasPrefix(err.Error(), "managedFields: ") {
		t.Errorf("fields that are none: %v", err)
	}
}

// TestRewrite: each way to rewrite managedFields, and that the object itself stays as it is.
func TestRewrite(t *testing.T) {
	const replicas, paused, annotation = `{"f:spec":{"f:replicas":{}}}`, `{"f:spec":{"f:paused":{}}}`, `{"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}}}`
	for _, tt := range []struct {
		reason  string
		entries []string
		do      func(r *ownership.Rewrite) error
		want    []string
	}{
		{"nothing is asked for", []string{owner("me", "Apply", replicas)}, func(*ownership.Rewrite) error { return nil }, nil},
		{"the annotation gets an owner of its own", []string{owner("me", "Apply", replicas)}, (*ownership.Rewrite).Keep,
			[]string{"me Apply " + replicas, "kubectl-last-applied Apply " + annotation}},
		{"it has one already", []string{owner("me", "Apply", replicas), owner("kubectl-last-applied", "Apply", annotation)}, (*ownership.Rewrite).Keep, nil},
		{"a value is taken from another manager", []string{owner("me", "Apply", paused), owner("scaler", "Update", replicas)},
			func(r *ownership.Rewrite) error {
				return r.Take(path(t, "spec.replicas"), json.Number("3"), deployment(t))
			},
			[]string{`me Apply {"f:spec":{"f:paused":{},"f:replicas":{}}}`}},
		{"a map is taken with all that others hold of it", []string{owner("scaler", "Update", `{"f:metadata":{"f:labels":{"f:a":{},"f:b":{}}},"f:spec":{"f:paused":{}}}`)},
			func(r *ownership.Rewrite) error {
				return r.Take(path(t, "metadata.labels"), map[string]any{"a": "1"}, deployment(t))
			},
			[]string{"scaler Update " + paused, `me Apply {"f:metadata":{"f:labels":{".":{},"f:a":{}}}}`}},
		{"updates become what was applied", []string{owner("kubectl", "Update", replicas), owner("helm", "Update", paused)},
			func(r *ownership.Rewrite) error { return r.Merge([]string{"kubectl", "helm", "nobody"}, false) },
			[]string{`me Apply {"f:spec":{"f:paused":{},"f:replicas":{}}}`}},
		{"updates in another version are given to no manager", []string{owner("me", "Apply", replicas), strings.Replace(owner("kubectl", "Update", paused), "apps/v1", "apps/v1beta1", 1)},
			func(r *ownership.Rewrite) error { return r.Merge([]string{"kubectl"}, false) }, []string{"me Apply " + replicas}},
		{"what was applied is left alone", []string{owner("flux", "Apply", paused)},
			func(r *ownership.Rewrite) error { return r.Merge([]string{"flux"}, false) }, nil},
		{"what was applied is taken over where that is asked for", []string{owner("flux", "Apply", paused), owner("me", "Apply", replicas)},
			func(r *ownership.Rewrite) error { return r.Merge([]string{"flux", "me"}, true) },
			[]string{`me Apply {"f:spec":{"f:paused":{},"f:replicas":{}}}`}},
		{"subresources are left alone", []string{strings.Replace(owner("kubectl", "Update", paused), `"apiVersion"`, `"subresource":"status","apiVersion"`, 1)},
			func(r *ownership.Rewrite) error { return r.Merge([]string{"kubectl"}, false) }, nil},
	} {
		live := managed(t, tt.entries...)
		before, err := json.Marshal(live)
		if err != nil {
			t.Fatal(err)
		}
		r := ownership.RewriteOf(live, "me")
		if err := tt.do(r); err != nil || r.Manager != "me" {
			t.Errorf("%s: %v", tt.reason, err)
		}
		if d := cmp.Diff(tt.want, entries(t, r)); d != "" {
			t.Errorf("%s: %s", tt.reason, d)
		}
		if after, err := json.Marshal(live); err != nil || string(after) != string(before) {
			t.Errorf("%s: the object has become %s", tt.reason, after)
		}
	}
	broken := ownership.RewriteOf(managed(t, owner("me", "Apply", `{"k:{":{}}`)), "me")
	if err := broken.Take(path(t, "spec.replicas"), json.Number("3"), nil); err == nil || !strings.HasPrefix(err.Error(), "managedFields: ") {
		t.Errorf("fields that are none: %v", err)
	}
}

// TestHolders: who besides the applier holds a value, or parts of it.
func TestHolders(t *testing.T) {
	r := ownership.RewriteOf(managed(t, owner("me", "Apply", `{"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:replicas":{},"f:paused":{}}}`), owner("scaler", "Update", `{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:dnsPolicy":{}}}}}`)), "me")
	var alone, others []string
	for _, text := range []string{"spec.replicas", "spec.paused", "metadata.labels", "spec.template", "status"} {
		if r.Alone(path(t, text)) {
			alone = append(alone, text)
		}
		if r.Others(path(t, text)) {
			others = append(others, text)
		}
	}
	if !slices.Equal(alone, []string{"spec.paused", "metadata.labels"}) || !slices.Equal(others, []string{"spec.replicas", "spec.template"}) {
		t.Errorf("alone %q, others %q", alone, others)
	}
}

// TestShares: what the applier holds alone is parted from what others hold, with live's values.
func TestShares(t *testing.T) {
	live := read(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"a":"1","b":"2"},"managedFields":[`+
		owner("me", "Apply", `{"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:name":{}}}}}}}`)+","+
		owner("mesh", "Update", `{"f:metadata":{"f:labels":{"f:b":{}}},"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"mesh\"}":{".":{},"f:name":{}}}}}}}`)+
		`]},"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"a","image":"x"},{"name":"mesh"}]}}}}`)
	became := read(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","managedFields":[`+
		owner("me", "Apply", `{"f:spec":{"f:template":{"f:spec":{"f:containers":{}}}}}`)+","+
		owner("mesh", "Update", `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"mesh\"}":{".":{},"f:name":{}}}}}}}`)+
		`]},"spec":{"template":{"spec":{"containers":[{"name":"a","image":"x"},{"name":"mesh"}]}}}}`)
	w := ownership.SharesOf(became, "me", deployment(t))
	s := ownership.SharesOf(live, "me", deployment(t))
	for name, c := range map[string]struct {
		got  any
		want string
	}{
		"applied":                   {s.Applied, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"labels":{"a":"1"},"name":"web"},"spec":{"template":{"spec":{"containers":[{"image":"x","name":"a"}]}}}}`},
		"a list that was one value": {w.Applied, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"spec":{"containers":[{"image":"x","name":"a"}]}}}}`},
		"others":                    {s.Others, `{"metadata":{"labels":{"b":"2"}},"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"mesh"}]}}}}`},
	} {
		if got, err := json.Marshal(c.got); err != nil || string(got) != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

// TestGive: of what the applier has written, others hold again what they held, in the entries that they have by now.
func TestGive(t *testing.T) {
	live := managed(t,
		owner("kubectl", "Update", `{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{}},"k:{\"name\":\"b\"}":{".":{},"f:image":{}}}}}}}`),
		owner("hpa", "Update", `{"f:spec":{"f:minReadySeconds":{}}}`),
		strings.Replace(owner("kubectl", "Update", `{"f:spec":{"f:paused":{}}}`), "apps/v1", "apps/v1beta1", 1))
	was := managed(t,
		owner("hpa", "Update", `{"f:spec":{"f:replicas":{},"f:paused":{}}}`),
		owner("ops", "Apply", `{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"b\"}":{".":{},"f:image":{}}}}}}}`),
		owner("kubectl", "Update", `{"f:spec":{"f:replicas":{}}}`),
		strings.Replace(owner("old", "Update", `{"f:spec":{"f:replicas":{}}}`), "apps/v1", "apps/v1beta1", 1),
		strings.Replace(owner("controller", "Update", `{"f:spec":{"f:replicas":{}}}`), `"operation"`, `"subresource":"status","operation"`, 1))
	r := ownership.RewriteOf(live, "kubectl")
	if err := r.Give(ownership.Others(was, "kubectl"), nil); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`kubectl Update {"f:spec":{"f:paused":{}}}`,
		`hpa Update {"f:spec":{"f:minReadySeconds":{},"f:replicas":{}}}`,
		`ops Apply {"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"b\"}":{".":{},"f:image":{}}}}}}}`,
		`old Update {"f:spec":{"f:replicas":{}}}`,
		`kubectl Update {"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{}}}}}}}`,
	}
	if diff := cmp.Diff(want, entries(t, r)); diff != "" {
		t.Error(diff)
	}
	r = ownership.RewriteOf(live, "kubectl")
	if err := r.Give(nil, []merge.Change{{Path: path(t, "spec.template.spec.containers[name=b]")}}); err != nil {
		t.Fatal(err)
	}
	want = []string{
		`hpa Update {"f:spec":{"f:minReadySeconds":{}}}`,
		`kubectl Update {"f:spec":{"f:paused":{}}}`,
		`kubectl Update {"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{}}}}}}}`,
	}
	if diff := cmp.Diff(want, entries(t, r)); diff != "" {
		t.Errorf("an entry without an owner: %s", diff)
	}
	r = ownership.RewriteOf(merge.With(map[string]any{}, "apps/v1", "apiVersion"), "kubectl")
	if err := r.Give(ownership.Others(managed(t, owner("ops", "Apply", `{"f:spec":{"f:paused":{}}}`)), "kubectl"), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`ops Apply {"f:spec":{"f:paused":{}}}`}, entries(t, r)); diff != "" {
		t.Errorf("an object whose fields have no owner: %s", diff)
	}
	if err := ownership.RewriteOf(live, "kubectl").Give([]any{map[string]any{"fieldsV1": map[string]any{"x": 1}}}, nil); err == nil {
		t.Error("an entry that cannot be read")
	}
	changed := []merge.Change{{Path: path(t, "spec.replicas")}}
	if within, besides := ownership.Divide(ownership.Others(live, "kubectl"), changed); within != nil || len(besides) != 1 {
		t.Errorf("of another value: %v, %v", within, besides)
	}
	if within, besides := ownership.Divide(ownership.Others(was, "ops"), changed); len(within) != 4 || len(besides) != 2 {
		t.Errorf("of that value: %v, %v", within, besides)
	}
}
