package replacements

import (
	"fmt"
	"strings"
	"testing"
)

// TestGrowth has a source that holds its own targets, so that each replacement doubles
// it. It ends by count, and not when the memory does.
func TestGrowth(t *testing.T) {
	var rules strings.Builder
	for range 40 {
		rules.WriteString(`
- source: {kind: A, name: a, fieldPath: spec}
  targets:
  - {select: {kind: A, name: a}, fieldPaths: [spec.one, spec.two]}`)
	}
	r, err := Parse("r.yaml", []byte("replacements:"+rules.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	object := func() any {
		return map[string]any{"apiVersion": "v1", "kind": "A", "metadata": map[string]any{"name": "a"},
			"spec": map[string]any{"one": map[string]any{"k": "v"}, "two": map[string]any{"k": "v"}}}
	}
	if _, _, err := r.Apply([]any{object()}, nil); err == nil || !strings.Contains(err.Error(), "is too large: more than 1000000 values in all") {
		t.Errorf("grows without end: %v", err)
	}
	objects := make([]any, 2000)
	for i := range objects {
		objects[i] = map[string]any{"apiVersion": "v1", "kind": "B", "metadata": map[string]any{"name": fmt.Sprintf("b%d", i)}, "spec": map[string]any{"one": "x"}}
	}
	many, err := Parse("r.yaml", []byte("replacements:\n- sourceValue: why\n  targets:\n  - {select: {kind: B}, fieldPaths: [spec.one]}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := many.Apply(objects, nil); err != nil {
		t.Errorf("many objects are no growth: %v", err)
	}
}
