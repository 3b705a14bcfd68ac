package schema

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

func TestInfer(t *testing.T) {
	tests := []struct {
		reason string
		sides  []string
		path   string
		want   string // the key, "" for an atomic list
	}{
		{"name on every side", []string{`{"a":[{"name":"x"}]}`, `{"a":[{"name":"y"}]}`}, "a", "name"},
		{"mountPath comes before name", []string{`{"a":[{"name":"x","mountPath":"/"}]}`}, "a", "mountPath"},
		{"one element lacks it: the next key is tried", []string{`{"a":[{"name":"x","ip":"1"},{"name":"y"}]}`}, "a", "name"},
		{"one element on another side lacks it", []string{`{"a":[{"name":"x"}]}`, `{"a":[{"value":1}]}`}, "a", ""},
		{"a repeated key identifies nothing", []string{`{"a":[{"name":"x"},{"name":"x"}]}`}, "a", ""},
		{"repeated on sides, not in one", []string{`{"a":[{"name":"x"}]}`, `{"a":[{"name":"x"}]}`}, "a", "name"},
		{"scalars", []string{`{"a":["x","y"]}`}, "a", ""},
		{"mixed with null", []string{`{"a":[{"name":"x"},null]}`}, "a", ""},
		{"an object as key", []string{`{"a":[{"name":{}}]}`}, "a", ""},
		{"empty lists say nothing", []string{`{"a":[]}`, `{"a":[]}`}, "a", ""},
		{"an empty list on one side", []string{`{"a":[]}`, `{"a":[{"name":"x"}]}`}, "a", "name"},
		{"a missing side", []string{``, `{"a":[{"name":"x"}]}`}, "a", "name"},
		{"port numbers", []string{`{"a":[{"containerPort":80},{"containerPort":81}]}`}, "a", "containerPort"},
		{"a list in a list", []string{`{"a":[{"name":"x","env":[{"name":"A"}]},{"name":"y","env":[{"name":"A"}]}]}`}, "a[*].env", "name"},
		{"inner lists differ: none is keyed", []string{`{"a":[{"name":"x","env":[{"name":"A"}]},{"name":"y","env":[{"v":"A"}]}]}`}, "a[*].env", ""},
		{"a list at the top", []string{`[{"name":"x"}]`}, ".", "name"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var sides []any
			for _, text := range test.sides {
				sides = append(sides, read(t, text))
			}
			path, err := merge.ParsePath(test.path)
			if err != nil {
				t.Fatal(err)
			}
			got := walk(Infer(sides...), path)
			switch {
			case got == nil || test.want == "" && got.Kind != merge.List:
				t.Errorf("got %+v, want an atomic list", got)
			case test.want != "" && (got.Kind != merge.Keyed || got.Keys[0].Name != test.want || got.Source != merge.SourceInferred):
				t.Errorf("got %+v, want key %s", got, test.want)
			}
		})
	}
	for _, sides := range [][]any{nil, {nil, nil}, {"x"}, {map[string]any{}, []any{}}} {
		if got := Infer(sides...); got != nil {
			t.Errorf("Infer(%v) is %+v, want nothing", sides, got)
		}
	}
}

func BenchmarkInfer(b *testing.B) {
	list := make([]any, 5000)
	for i := range list {
		list[i] = map[string]any{"name": string(rune('a'+i%26)) + string(rune(i)), "value": "x"}
	}
	v := map[string]any{"env": list}
	b.ReportAllocs()
	for b.Loop() {
		Infer(v, v, v)
	}
}

var read = values.Read
