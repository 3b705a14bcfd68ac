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

// TestNoPath: without a path or names nothing is below an object, and nothing panics.
func TestNoPath(t *testing.T) {
	obj := map[string]any{"a": "b"}
	for _, path := range []Path{nil, {}} {
		for _, value := range []any{"secret", nil, []any{}} {
			if got, err := Put(obj, path, value); err == nil || err.Error() != ".: only an object can stand in place of the object" {
				t.Errorf("%v: got %v, %v", value, got, err)
			}
		}
		if got, err := Put(obj, path, map[string]any{"c": "d"}); err != nil || asText(t, got) != `{"c":"d"}` {
			t.Errorf("an object: got %v, %v", got, err)
		}
	}
	if got := asText(t, Without(obj)); got != `{"a":"b"}` {
		t.Errorf("Without: got %s", got)
	}
	copied := With(obj, "x")
	if copied["c"] = "d"; asText(t, copied) != `{"a":"b","c":"d"}` || len(obj) != 1 {
		t.Errorf("With: got %v of %v", copied, obj)
	}
	if got := asText(t, With(nil, "x")); got != `{}` {
		t.Errorf("With: got %s of nil", got)
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
