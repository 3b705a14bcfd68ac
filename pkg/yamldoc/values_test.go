package yamldoc_test

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func read(t testing.TB, text string) any {
	t.Helper()
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func show(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
