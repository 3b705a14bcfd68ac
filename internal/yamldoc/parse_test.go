package yamldoc

import (
	"encoding/json"
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/texts"
)

// theirs reads the first document by kubectl's reader.
func theirs(text string) (any, error) {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	return merge.ReadJSON(data)
}

func TestReadAsKubectl(t *testing.T) {
	for _, c := range texts.All {
		want, theirErr := theirs(c.YAML)
		f, err := Parse([]byte(c.YAML))
		differs := (err == nil) != (theirErr == nil) || err == nil && !alike(f.Documents()[0].Value(), want)
		switch {
		case differs && c.Differs == "":
			t.Errorf("%s: %q: we read %s (%v), kubectl %s (%v)", c.Why, c.YAML, first(f), err, show(want), theirErr)
		case !differs && c.Differs != "":
			t.Errorf("%s: no difference any more: %q", c.Why, c.Differs)
		}
	}
}

// first shows the first document of a file that may be nil.
func first(f *File) string {
	if f == nil {
		return "nothing"
	}
	return show(f.docs[0].value)
}

// alike compares as merge.Equal does, but numbers as float64, which is all that
// kubectl's reader keeps of a fraction.
func alike(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		if !ok {
			return false
		}
		x, err1 := a.Float64()
		y, err2 := b.Float64()
		return a == b || err1 == nil && err2 == nil && x == y
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !alike(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if _, ok := b[k]; !ok || !alike(a[k], b[k]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestEscapesOfJSON: they are read in a document that begins as JSON, and not in the one behind it.
func TestEscapesOfJSON(t *testing.T) {
	for text, ok := range map[string]bool{
		`{a: "x\/y"}`: true, `--- "x\/y"`: false, "{a: 1}\n--- \"x\\/y\"\n": false, "{a: 1}\n---\n{a: \"x\\/y\"}\n": true,
	} {
		if _, err := Parse([]byte(text)); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
