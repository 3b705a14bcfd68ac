package apply

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// value reads YAML; nil where there is none.
func value(t *testing.T, text string) map[string]any {
	t.Helper()
	f, err := new(yamldoc.Reader).Parse(text, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Documents()) == 0 {
		return nil
	}
	v, _ := f.Documents()[0].Value().(map[string]any)
	return v
}

func TestRequest(t *testing.T) {
	long := strings.Repeat("x", bulky)
	for _, tt := range []struct {
		reason, live, final string
		action              Action
		body                string
		json                bool
	}{
		{"a new object is sent whole", ``, `{kind: A, spec: {big: 9007199254740993}}`, Create,
			`{"kind":"A","spec":{"big":9007199254740993}}` + "\n", false},
		{"a change is bound to the version that was merged", `{kind: A, metadata: {name: a, resourceVersion: "7"}, spec: {a: 1, b: 2}}`,
			`{kind: A, metadata: {name: a, resourceVersion: "7", labels: {x: <y>}}, spec: {a: 3}}`, Change,
			`{"metadata":{"labels":{"x":"<y>"},"resourceVersion":"7"},"spec":{"a":3,"b":null}}` + "\n", false},
		{"what a merge patch cannot say is a JSON patch", `{kind: A, metadata: {resourceVersion: "7"}, spec: {}}`,
			`{kind: A, metadata: {resourceVersion: "7"}, spec: {a: {b: null}}}`, Change,
			`[{"op":"test","path":"/metadata/resourceVersion","value":"7"},{"op":"test","path":"/spec/a","value":null},{"op":"add","path":"/spec/a","value":{"b":null}}]` + "\n", true},
		{"a change inside a large list is sent without the list", fmt.Sprintf(`{metadata: {resourceVersion: "7"}, l: [{a: 1, b: %s}]}`, long),
			fmt.Sprintf(`{metadata: {resourceVersion: "7"}, l: [{a: 2, b: %s}]}`, long), Change,
			`[{"op":"test","path":"/metadata/resourceVersion","value":"7"},{"op":"replace","path":"/l/0/a","value":2}]` + "\n", true},
		{"what is large itself is a merge patch", `{metadata: {resourceVersion: "7"}}`, fmt.Sprintf(`{metadata: {resourceVersion: "7"}, a: %s}`, long), Change,
			fmt.Sprintf(`{"a":"%s","metadata":{"resourceVersion":"7"}}`, long) + "\n", false},
		{"nothing to send", `{kind: A, metadata: {resourceVersion: "7"}}`, `{kind: A, metadata: {resourceVersion: "7"}}`, Nothing, ``, false},
	} {
		p := Planned{
			Subject: Subject{Name: "a/a"}, Action: tt.action, Live: value(t, tt.live), Final: value(t, tt.final),
			Output: strategy.Output{},
		}
		s, err := p.Request(false)
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
			continue
		}
		if string(s.Body) != tt.body || (s.Type == types.JSONPatchType) != tt.json || s.Version != (object.Object{Value: p.Live}).ResourceVersion() {
			t.Errorf("%s: %q (JSON patch: %t) of version %q, want %q (%t)", tt.reason, s.Body, s.Type == types.JSONPatchType, s.Version, tt.body, tt.json)
		}
	}
	if _, err := (Planned{Action: Change, Live: map[string]any{}, Final: map[string]any{"a": "b"}}).Request(false); err == nil {
		t.Error("a change that is bound to no version must not be sent")
	}
}
