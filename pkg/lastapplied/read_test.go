package lastapplied_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
)

func live(t *testing.T, annotation string) any {
	t.Helper()
	return lastapplied.With(read(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"prod"}}`), annotation)
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		reason, annotation string
		state              lastapplied.State
		blanking           lastapplied.Blanking
		value              string
		problem            string
	}{
		{
			reason: "what kubectl wrote", state: lastapplied.OK,
			annotation: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"name":"web","namespace":"prod"},"spec":{"replicas":9007199254740993}}` + "\n",
			value:      `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"name":"web","namespace":"prod"},"spec":{"replicas":9007199254740993}}`,
		},
		{reason: "an empty annotation is none, as for kubectl", annotation: "", state: lastapplied.None, value: "null"},
		{
			reason: "another version is the same object", state: lastapplied.OK,
			annotation: `{"apiVersion":"extensions/v1beta1","kind":"Deployment","metadata":{"name":"web"}}`,
			value:      `{"apiVersion":"extensions/v1beta1","kind":"Deployment","metadata":{"name":"web"}}`,
		},
		{
			reason: "kubectl create --save-config of a generated name", state: lastapplied.OK,
			annotation: `{"kind":"Deployment","metadata":{"generateName":"w"}}`, value: `{"kind":"Deployment","metadata":{"generateName":"w"}}`,
		},
		{reason: "another kind", annotation: `{"kind":"Pod","metadata":{"name":"web"}}`, state: lastapplied.Foreign, value: "null", problem: "another kind"},
		{reason: "another name", annotation: `{"kind":"Deployment","metadata":{"name":"api"}}`, state: lastapplied.Foreign, value: "null", problem: "another name"},
		{
			reason: "another namespace", annotation: `{"kind":"Deployment","metadata":{"name":"web","namespace":"test"}}`,
			state: lastapplied.Foreign, value: "null", problem: "another namespace",
		},
		{reason: "truncated", annotation: `{"kind":"Deployment","data":"hunter2`, state: lastapplied.Garbage, value: "null", problem: "cut off"},
		{reason: "no JSON at all", annotation: `hunter2`, state: lastapplied.Garbage, value: "null", problem: "after byte 1 of 7"},
		{reason: "two documents", annotation: `{} {}`, state: lastapplied.Garbage, value: "null", problem: "not valid JSON"},
		{reason: "JSON of a string", annotation: `"hunter2"`, state: lastapplied.Garbage, value: "null", problem: "not of an object"},
		{reason: "an object of nothing", annotation: `{"spec":{"a":"hunter2"}}`, state: lastapplied.Garbage, value: "null", problem: "no kind or no name"},
		{
			reason: "blanked values", state: lastapplied.Blanked, blanking: lastapplied.BlankLeaves,
			annotation: `{"kind":"Deployment","metadata":{"annotations":{"a":"","merge.kubectl/blanked":"values"},"name":"web"}}`,
			value:      `{"kind":"Deployment","metadata":{"annotations":{"a":""},"name":"web"}}`,
		},
		{
			reason: "the marker leaves nothing of itself", state: lastapplied.Blanked, blanking: lastapplied.BlankSecret,
			annotation: `{"kind":"Deployment","metadata":{"annotations":{"merge.kubectl/blanked":"secret"},"name":"web"}}`,
			value:      `{"kind":"Deployment","metadata":{"name":"web"}}`,
		},
		{
			reason: "a marker of a later version: trust nothing", state: lastapplied.Blanked, blanking: lastapplied.BlankAll,
			annotation: `{"kind":"Deployment","metadata":{"annotations":{"merge.kubectl/blanked":"gzip"},"name":"web"}}`,
			value:      `{"kind":"Deployment","metadata":{"name":"web"}}`,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got := lastapplied.Read(live(t, c.annotation))
			if got.State != c.state || got.Blanking != c.blanking || got.Text != c.annotation {
				t.Errorf("got state %v, blanking %q, text %q", got.State, got.Blanking, got.Text)
			}
			if d := cmp.Diff(c.value, show(t, got.Value)); d != "" {
				t.Error(d)
			}
			if !strings.Contains(got.Problem, c.problem) || (got.Problem == "") != (c.problem == "") {
				t.Errorf("problem %q, want %q", got.Problem, c.problem)
			}
			if strings.Contains(got.Problem, "hunter2") || c.problem != "" && !strings.Contains(got.Problem, "set-last-applied") {
				t.Errorf("problem quotes the annotation, or names no way out: %q", got.Problem)
			}
		})
	}
	for reason, obj := range map[string]any{
		"no object": nil, "no metadata": map[string]any{}, "no annotations": read(t, `{"metadata":{"annotations":null}}`),
	} {
		if got := lastapplied.Read(obj); got.State != lastapplied.None {
			t.Errorf("%s: %v", reason, got.State)
		}
	}
	t.Run("an annotation that is no string", func(t *testing.T) {
		if got := lastapplied.Read(read(t, `{"metadata":{"annotations":{"`+lastapplied.Annotation+`":7}}}`)); got.State != lastapplied.Garbage {
			t.Errorf("got %v", got.State)
		}
	})
}

func TestReadUndoesEncode(t *testing.T) {
	in := `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"web","annotations":{"a":"b"}},"stringData":{"p":"hunter2"}}`
	text, err := lastapplied.Encode(read(t, in), lastapplied.Options{Namespace: "prod"})
	if err != nil {
		t.Fatal(err)
	}
	got := lastapplied.Read(lastapplied.With(read(t, in), text))
	again, err := lastapplied.Encode(got.Value, lastapplied.Options{Blanked: got.Blanking})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(text, again); d != "" {
		t.Errorf("a configuration that was read and written again is another one:\n%s", d)
	}
}
