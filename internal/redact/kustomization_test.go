package redact

import (
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestMaskKustomization: what a kustomization makes or patches Secrets with is hidden, and what it
// makes ConfigMaps with is not.
func TestMaskKustomization(t *testing.T) {
	form := func(value string) any {
		v, err := merge.ReadJSON([]byte(`{"secretGenerator":[{"name":"a","literals":["p=` + value + `"]}],
			"patches":[{"target":{"kind":"Secret"},"patch":"- {op: add, path: /data/p, value: ` + value + `}"}],
			"configMapGenerator":[{"name":"b","literals":["open=shown"]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	was, is := Mask(form("hunter1"), form("hunter2"), nil)
	for _, v := range []any{was, is} {
		text, err := merge.WriteJSON(v, false)
		if err != nil || strings.Contains(string(text), "hunter") || !strings.Contains(string(text), "open=shown") {
			t.Errorf("%v: %s", err, text)
		}
	}
	if merge.Identical(was, is) {
		t.Error("that they differ is hidden, too")
	}
}
