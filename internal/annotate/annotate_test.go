package annotate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

const shop = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"shop","namespace":"n","labels":{"app":"shop"}},
"spec":{"replicas":3,"selector":{"matchLabels":{"app":"shop"}},"template":{"metadata":{"labels":{"app":"shop"}},"spec":{"containers":[{"name":"main","image":"nginx:1"}]}}}}`

const conf = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n"},"data":{"a":"1"}}`

var read = values.Object

func subjectOf(t *testing.T, text string) apply.Subject {
	t.Helper()
	o := object.Object{Value: read(t, text)}
	return apply.Subject{Object: o, Name: o.String()}
}

func planner(*testing.T) Planner {
	return Planner{&apply.Planner{Policy: merge.Policies[0], Manager: apply.DefaultManager, Validate: apply.Strict}}
}

// applied is an object as live after it was applied, and changed.
func applied(t *testing.T, conf string, changes ...merge.Change) map[string]any {
	t.Helper()
	text, err := lastapplied.Encode(read(t, conf), lastapplied.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := merge.Replay(lastapplied.With(read(t, conf), text), changes)
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

func set(t *testing.T, path string, value any) merge.Change {
	t.Helper()
	p, err := merge.ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	if value == nil {
		return merge.Change{Op: merge.OpRemove, Path: p}
	}
	return merge.Change{Op: merge.OpSet, Path: p, New: merge.Some(value)}
}

// annotated plans changes of what live has as the last-applied configuration.
func annotated(t *testing.T, s apply.Subject, live map[string]any, changes ...merge.Change) (apply.Planned, error) {
	was := lastapplied.Read(live)
	v, err := merge.Replay(was.Value, changes)
	if err != nil {
		t.Fatal(err)
	}
	return planner(t).Annotate(t.Context(), s, live, lastapplied.Original{Value: v, Blanking: was.Blanking})
}

func TestAnnotateChangesNothingElse(t *testing.T) {
	live := applied(t, shop, set(t, "spec.replicas", json.Number("10")))
	a, err := annotated(t, subjectOf(t, shop), live, set(t, "spec.replicas", nil))
	if err != nil || a.Action != apply.Change {
		t.Fatalf("action %q, %v", a.Action, err)
	}
	if d := cmp.Diff(lastapplied.Without(live), lastapplied.Without(a.Final)); d != "" {
		t.Error(d)
	}
	if strings.Contains(lastapplied.Read(a.Final).Text, "replicas") {
		t.Error("the field is still there")
	}
	again, err := annotated(t, subjectOf(t, shop), a.Final)
	if err != nil || again.Action != apply.Nothing {
		t.Errorf("the same again is nothing to write: action %q, %v", again.Action, err)
	}
}

func TestAnnotateRefuses(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		live    map[string]any
		changes []merge.Change
		want    string
	}{
		{"an object that is not there", nil, nil, "there is no such object"},
		{"one that goes", applied(t, shop, set(t, "metadata.deletionTimestamp", "2024-01-02T03:04:05Z")), nil, "is being deleted"},
		{"another's name", applied(t, shop), []merge.Change{set(t, "metadata.name", "other")}, "they state whose configuration it is"},
		{"another kind", applied(t, shop), []merge.Change{set(t, "kind", "StatefulSet")}, "they state whose configuration it is"},
	} {
		_, err := annotated(t, subjectOf(t, shop), tt.live, tt.changes...)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q in it", tt.reason, err, tt.want)
		}
	}
}

func TestMeanings(t *testing.T) {
	live := applied(t, shop, set(t, "spec.replicas", json.Number("10")), set(t, "metadata.labels.theirs", "x"))
	local := object.Object{Value: read(t, shop), Origin: object.Origin{File: "shop.yaml"}}
	bare := object.Object{Value: applied(t, shop, set(t, "spec.replicas", nil)), Origin: object.Origin{File: "shop.yaml"}}
	for _, tt := range []struct {
		reason string
		change merge.Change
		local  *object.Object
		want   string
	}{
		{"given up, and the file is not known", set(t, "spec.replicas", nil), nil, "spec.replicas: no longer yours; live keeps 10"},
		{"given up here and in the file", set(t, "spec.replicas", nil), &bare, "spec.replicas: no longer yours; live keeps 10"},
		{"given up here only", set(t, "spec.replicas", nil), &local, "spec.replicas: no longer yours until the next merge, which takes it back: shop.yaml still has it: 3"},
		{"claimed", set(t, "metadata.labels.theirs", "y"), nil, `metadata.labels.theirs: yours; the next merge removes it from live, unless the file has it; live has "x"`},
		{"claimed, and the file is known not to have it", set(t, "metadata.labels.theirs", "y"), &local, `metadata.labels.theirs: yours, and not in shop.yaml: the next merge removes it from live, which has "x"`},
		{"claimed, and nowhere", set(t, "spec.paused", true), nil, "spec.paused: yours; live does not have it"},
		{"another value, and the file is known", set(t, "spec.replicas", json.Number("5")), &local, "spec.replicas: yours; the next merge sets it to 3, as shop.yaml states; live has 10"},
		{"another value, as live has the file's", set(t, `spec.template.spec.containers[name=main].image`, "nginx:2"), &local,
			`spec.template.spec.containers[name=main].image: yours; live already has what shop.yaml states: "nginx:1"`},
		{"another value, and the file is not known", set(t, "spec.replicas", json.Number("5")), nil, "spec.replicas: yours; the next merge sets what the file states; live has 10"},
		{"null, which is as if it were not there", merge.Change{Op: merge.OpSet, Path: merge.Path{merge.Named("spec"), merge.Named("replicas")}, New: merge.Some(nil)}, nil,
			"spec.replicas: no longer yours; live keeps 10"},
		{"nothing", merge.Change{Op: merge.OpSet, Path: merge.Path{merge.Named("kind")}, New: merge.Some("Deployment")}, nil, ""},
	} {
		p := planner(t)
		a, err := annotated(t, subjectOf(t, shop), live, tt.change)
		if err != nil {
			t.Fatalf("%s: %v", tt.reason, err)
		}
		all, err := p.Meanings(t.Context(), a, lastapplied.Read(live).Value, tt.local)
		if err != nil {
			t.Fatalf("%s: %v", tt.reason, err)
		}
		got := ""
		for _, m := range all {
			got += m.Path.String() + ": " + m.Text
		}
		if got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.reason, got, tt.want)
		}
	}
}

func TestMeaningsHideSecrets(t *testing.T) {
	const login = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"login"},"data":{"password":"aHVudGVyMg=="}}`
	live := applied(t, login)
	a, err := annotated(t, subjectOf(t, login), live, set(t, "data.password", nil), set(t, "stringData", map[string]any{"token": "hunter3"}))
	if err != nil {
		t.Fatal(err)
	}
	all, err := planner(t).Meanings(t.Context(), a, lastapplied.Read(live).Value, nil)
	if err != nil || len(all) != 2 {
		t.Fatalf("got %v, %v", all, err)
	}
	for _, m := range all {
		if strings.Contains(m.Text, "hunter") || strings.Contains(m.Text, "aHVudGVy") || m.Path[0].Name != "data" {
			t.Errorf("%s: %s: a Secret's values must not be printed, and stringData is data", m.Path, m.Text)
		}
	}
	if text := lastapplied.Read(a.Final).Text; strings.Contains(text, "hunter") {
		t.Errorf("a value is kept: %s", text)
	}
}

func TestCheck(t *testing.T) {
	p, s := planner(t), subjectOf(t, conf)
	wrong := read(t, strings.Replace(conf, `"data"`, `"dta"`, 1))
	if _, err := p.Check(t.Context(), s, lastapplied.Original{Value: wrong}, nil); err == nil || !strings.Contains(err.Error(), `unknown field "dta" (did you mean data?)`) {
		t.Errorf("got %v", err)
	}
	if _, err := p.Check(t.Context(), s, lastapplied.Original{Value: wrong}, wrong); err != nil {
		t.Errorf("what stood there before is no news: %v", err)
	}
	p.Validate = apply.Warn
	if text, err := p.Check(t.Context(), s, lastapplied.Original{Value: wrong}, nil); err != nil || !strings.Contains(text, "dta") {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestUsable(t *testing.T) {
	live := read(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","managedFields":[{"manager":"helm"},{"manager":"kubectl","subresource":"scale"},{"manager":"flux"}]}}`)
	err := Usable(lastapplied.Read(live), live)
	if err == nil || !strings.Contains(err.Error(), "(its fields were set by helm, flux)") || !strings.Contains(err.Error(), "--create-annotation") {
		t.Errorf("got %v: an object without the annotation is named with its owner, and how it is adopted", err)
	}
	all, _ := lastapplied.With(live, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","annotations":{"merge.kubectl/blanked":"all"}}}`).(map[string]any)
	if err := Usable(lastapplied.Read(all), all); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v: where only a name is kept there is nothing to change", err)
	}
	if err := Usable(lastapplied.Read(applied(t, conf)), nil); err != nil {
		t.Error(err)
	}
}
