package redact

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// maskEnv masks the environment variables that hold a secret by their name.
func maskEnv(a, b any) (any, any) {
	x, y := envOf(a), envOf(b)
	if len(x) == 0 && len(y) == 0 {
		return a, b
	}
	return hideEnv(a, y, maskedBefore), hideEnv(b, x, maskedAfter)
}

// envOf returns the values of a container's env whose names are sensitive, by name.
func envOf(v any) map[string]any {
	found := map[string]any{}
	for _, e := range merge.MapsAt(v) {
		name := merge.At[string](e, "name")
		if value, ok := e["value"].(string); ok && value != "" && SensitiveName(name) {
			found[name] = value
		}
	}
	return found
}

func hideEnv(v any, others map[string]any, differs string) any {
	list, isList := v.([]any)
	out := list
	for i, e := range list {
		m, _ := e.(map[string]any)
		name, _ := m["name"].(string)
		if value, ok := m["value"].(string); ok && value != "" && SensitiveName(name) {
			other, paired := others[name]
			out = replaced(out, list, i, merge.With(m, veil(value, other, paired, differs), "value"))
		}
	}
	if !isList {
		return v
	}
	return out
}

// lists pairs objects by their identity, anything else by index.
func (m masking) lists(k, l []any) ([]any, []any) {
	places := map[string]int{}
	for i, e := range l {
		if id := objectID(e); id != "" {
			places[id] = i
		}
	}
	outK, outL := k, l
	done := make([]bool, len(l))
	for i, e := range k {
		j, ok := places[objectID(e)]
		if !ok && objectID(e) == "" && i < len(l) && objectID(l[i]) == "" {
			j, ok = i, true
		}
		if !ok || done[j] {
			v, _ := m.entry(e, nil)
			outK = replaced(outK, k, i, v)
			continue
		}
		done[j] = true
		v, w := m.entry(e, l[j])
		outK, outL = replaced(outK, k, i, v), replaced(outL, l, j, w)
	}
	for j, e := range l {
		if !done[j] {
			_, w := m.entry(nil, e)
			outL = replaced(outL, l, j, w)
		}
	}
	return outK, outL
}

// entry masks an entry of a list. A rule can name it only by its values.
func (m masking) entry(a, b any) (any, any) {
	if m.fields == nil {
		return m.mask(a, b)
	}
	whole, below := m.fields.Below(EntryStep(a))
	wholeB, belowB := m.fields.Below(EntryStep(b))
	if whole || wholeB {
		return veilOr(a, b, maskedBefore), veilOr(b, a, maskedAfter)
	}
	if m.fields = below; below == nil {
		m.fields = belowB
	}
	return m.mask(a, b)
}

func veilOr(v, other any, differs string) any {
	if v == nil {
		return nil
	}
	return veil(v, other, other != nil, differs)
}

// replaced puts a value into out, which is in until one differs.
func replaced(out, in []any, i int, v any) []any {
	if merge.Identical(in[i], v) {
		return out
	}
	if &out[0] == &in[0] {
		out = slices.Clone(in)
	}
	out[i] = v
	return out
}

// objectID returns the identity of an object; "" for what is not an object with a kind.
func objectID(v any) string {
	kind := merge.At[string](v, "kind")
	if kind == "" {
		return ""
	}
	return kind + "\x00" + merge.At[string](v, "metadata", "namespace") + "\x00" + merge.At[string](v, "metadata", "name")
}

// annotations masks the copies of objects in annotations.
func (m masking) annotations(x, y map[string]any) (map[string]any, map[string]any) {
	notes, others := annotations(x), annotations(y)
	for _, name := range eachKey(notes, others) {
		if Copies(name) {
			x, y = m.annotation(x, y, name, merge.At[string](notes, name), merge.At[string](others, name))
		}
	}
	return x, y
}

// annotation masks one that may hold an object: a is its text in x, b in y.
func (m masking) annotation(x, y map[string]any, name, a, b string) (map[string]any, map[string]any) {
	if !IsSecret(x) && !IsSecret(y) && m.fields == nil && !mayHide(a) && !mayHide(b) {
		return x, y
	}
	v, okA := decoded(a)
	w, okB := decoded(b)
	v, w = m.mask(v, w)
	whole, wholeB := veil(a, b, b != "", maskedBefore), veil(b, a, a != "", maskedAfter)
	return withText(x, name, textOf(v, okA, whole)), withText(y, name, textOf(w, okB, wholeB))
}

// decoded reads an annotation; ok is false for one that is not a JSON object.
func decoded(text string) (any, bool) {
	v, _ := merge.ReadJSON([]byte(text)) // nil for what is not JSON
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
