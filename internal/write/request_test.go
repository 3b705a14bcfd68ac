package write

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

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

func TestSeal(t *testing.T) {
	for _, tt := range []struct {
		reason, live, final string
		action              apply.Action
		body                string
		json                bool
	}{
		{"a new object is sent whole", ``, `{kind: A, spec: {big: 9007199254740993}}`, apply.Create,
			`{"kind":"A","spec":{"big":9007199254740993}}` + "\n", false},
		{"a change is bound to the version that was merged", `{kind: A, metadata: {name: a, resourceVersion: "7"}, spec: {a: 1, b: 2}}`,
			`{kind: A, metadata: {name: a, resourceVersion: "7", labels: {x: <y>}}, spec: {a: 3}}`, apply.Change,
			`{"metadata":{"labels":{"x":"<y>"},"resourceVersion":"7"},"spec":{"a":3,"b":null}}` + "\n", false},
		{"what a merge patch cannot say is a JSON patch", `{kind: A, metadata: {resourceVersion: "7"}, spec: {}}`,
			`{kind: A, metadata: {resourceVersion: "7"}, spec: {a: {b: null}}}`, apply.Change,
			`[{"op":"test","path":"/metadata/resourceVersion","value":"7"},{"op":"test","path":"/spec/a","value":null},{"op":"add","path":"/spec/a","value":{"b":null}}]` + "\n", true},
		{"nothing to send", `{kind: A, metadata: {resourceVersion: "7"}}`, `{kind: A, metadata: {resourceVersion: "7"}}`, apply.Nothing, ``, false},
	} {
		p := apply.Planned{
			Subject: apply.Subject{Name: "a/a"}, Action: tt.action, Live: value(t, tt.live), Final: value(t, tt.final),
			Output: strategy.Output{}, Problems: []string{"told"},
		}
		got, err := Seal(p)
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
			continue
		}
		s := got.Sealed
		if string(s.Body) != tt.body || s.JSON != tt.json || s.Version != version(p.Live) {
			t.Errorf("%s: %q (JSON patch: %t) of version %q, want %q (%t)", tt.reason, s.Body, s.JSON, s.Version, tt.body, tt.json)
		}
		if got.Live != nil || got.Final != nil || got.Action != tt.action || len(got.Problems) != 1 {
			t.Errorf("%s: %+v: the objects are to go, the rest is to stay", tt.reason, got)
		}
		if tt.action == apply.Nothing {
			continue
		}
		if again, err := request(got, false); err != nil || again.JSON != tt.json || string(again.text) != tt.body {
			t.Errorf("%s: sends %q, %v", tt.reason, again.text, err)
		}
	}
	if _, err := Seal(apply.Planned{Action: apply.Change, Live: map[string]any{}, Final: map[string]any{"a": "b"}}); err == nil {
		t.Error("a change that is bound to no version must not be sent")
	}
}
