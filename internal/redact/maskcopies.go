package redact

import (
	"encoding/json"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// annotations masks the copies of objects in annotations.
func (m masking) annotations(x, y map[string]any) (map[string]any, map[string]any) {
	notes, others := annotations(x), annotations(y)
	for _, name := range eachKey(notes, others) {
		if Copies(name) {
			x, y = m.annotation(x, y, copied{name, merge.At[string](notes, name), merge.At[string](others, name)})
		}
	}
	return x, y
}

// copied is an annotation that may hold an object, of both forms.
type copied struct{ name, a, b string }

func (m masking) annotation(x, y map[string]any, c copied) (map[string]any, map[string]any) {
	secret := IsSecret(x) || IsSecret(y)
	if !secret && m.fields == nil && !mayHide(c.a) && !mayHide(c.b) {
		return x, y
	}
	v, okA := decoded(c.a)
	w, okB := decoded(c.b)
	v, w = m.mask(v, w)
	return withText(x, c.name, textOf(v, okA, maskedIf(c.a, c.b, maskedBefore))), withText(y, c.name, textOf(w, okB, maskedIf(c.b, c.a, maskedAfter)))
}

func maskedIf(text, other, differs string) string {
	if other != "" && text != other {
		return differs
	}
	return masked
}

// decoded reads an annotation; ok is false for one that is not a JSON object.
func decoded(text string) (any, bool) {
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		return nil, false
	}
	_, ok := v.(map[string]any)
	return v, ok
}

// textOf returns the text of a masked object; one that could not be read is hidden whole.
func textOf(v any, ok bool, whole string) string {
	if now, err := json.Marshal(v); ok && err == nil {
		return string(now) + "\n"
	}
	return whole
}

// withText puts a text into the annotation, where obj has it.
func withText(obj map[string]any, name, text string) map[string]any {
	if was, _ := annotations(obj)[name].(string); was == "" {
		return obj
	}
	return merge.With(obj, text, "metadata", "annotations", name)
}

func annotations(obj map[string]any) map[string]any {
	return merge.At[map[string]any](obj, "metadata", "annotations")
}

// mayHide reports whether a text may have something to hide: it then has one of these words.
func mayHide(text string) bool {
	return strings.Contains(text, "ecret") || strings.Contains(text, `"env"`) || strings.Contains(text, `"stringData"`)
}
