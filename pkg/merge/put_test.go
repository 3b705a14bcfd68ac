package merge

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPut: what is missing on the way to a value is made, with what identifies it.
func TestPut(t *testing.T) {
	obj := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": "a"}}}}
	for path, want := range map[string]string{
		"spec.containers[name=app].image":               `{"spec":{"containers":[{"image":"new","name":"app"}]}}`,
		"spec.containers[name=log].image":               `{"spec":{"containers":[{"image":"a","name":"app"},{"image":"new","name":"log"}]}}`,
		"spec.template.metadata.labels.app":             `{"spec":{"containers":[{"image":"a","name":"app"}],"template":{"metadata":{"labels":{"app":"new"}}}}}`,
		"spec.initContainers[name=first].image":         `{"spec":{"containers":[{"image":"a","name":"app"}],"initContainers":[{"image":"new","name":"first"}]}}`,
		"spec.containers[name=app].resources.limits.me": `{"spec":{"containers":[{"image":"a","name":"app","resources":{"limits":{"me":"new"}}}]}}`,
	} {
		p, err := ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Put(obj, p, "new")
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if text := asText(t, got); text != want {
			t.Errorf("%s:\n%s, want\n%s", path, text, want)
		}
	}
	p, err := ParsePath("spec.containers.name")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Put(obj, p, "new"); err == nil || !strings.Contains(err.Error(), "no object to hold it") {
		t.Errorf("a field of a list: %v", err)
	}
}

func asText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
