// Package values reads and prints JSON values in tests, and makes of a request what a server would.
package values

import (
	"encoding/json"
	"errors"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4" // the API server's own

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/patch"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Read is a JSON text as a value, with numbers as json.Number; nil for "".
func Read(t testing.TB, text string) any {
	t.Helper()
	if text == "" {
		return nil
	}
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// Object is Read of a text that is an object.
func Object(t testing.TB, text string) map[string]any {
	t.Helper()
	m, ok := Read(t, text).(map[string]any)
	if !ok {
		t.Fatalf("%s: is no object", text)
	}
	return m
}

// Show is a value as JSON.
func Show(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Path is a parsed path.
func Path(t testing.TB, text string) merge.Path {
	t.Helper()
	p, err := merge.ParsePath(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Sent is the body of a request, as the value that a server decodes.
func Sent(body any) (map[string]any, error) {
	text, err := object.Encode(body)
	if err != nil {
		return nil, err
	}
	v, err := merge.ReadJSON(text)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("a body that is no object")
	}
	return m, nil
}

// Patched is an object after a JSON merge patch.
func Patched(obj, change map[string]any) map[string]any {
	return patch.ApplyMerge(obj, change).(map[string]any)
}

// ApplyJSON is v after the operations of a JSON patch, by the code that the API server has it from.
func ApplyJSON(v any, ops []patch.Op) (any, error) {
	was, err := json.Marshal(v)
	if err != nil || len(ops) == 0 {
		return v, err
	}
	body, err := json.Marshal(ops)
	if err != nil {
		return nil, err
	}
	p, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, err
	}
	is, err := p.Apply(was)
	if err != nil {
		return nil, err
	}
	return merge.ReadJSON(is)
}
