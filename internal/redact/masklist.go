package redact

import (
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
	list, _ := v.([]any)
	var out []any
	for i, e := range list {
		m, _ := e.(map[string]any)
		name, _ := m["name"].(string)
		if value, ok := m["value"].(string); ok && value != "" && SensitiveName(name) {
			other, paired := others[name]
			out = replaced(out, list, i, merge.With(m, veil(value, other, paired, differs), "value"))
		}
	}
	if out == nil {
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
	var outK, outL []any
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
	return pick(outK, k), pick(outL, l)
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
	if below == nil {
		below = belowB
	}
	return m.at(below).mask(a, b)
}

func veilOr(v, other any, differs string) any {
	if v == nil {
		return nil
	}
	return veil(v, other, other != nil, differs)
}

func replaced(out, in []any, i int, v any) []any {
	if merge.Identical(in[i], v) {
		return out
	}
	if out == nil {
		out = append([]any(nil), in...)
	}
	out[i] = v
	return out
}

func pick(out, in []any) []any {
	if out != nil {
		return out
	}
	return in
}

// objectID returns the identity of an object; "" for what is not an object with a kind.
func objectID(v any) string {
	m, _ := v.(map[string]any)
	kind, _ := m["kind"].(string)
	if kind == "" {
		return ""
	}
	meta, _ := m["metadata"].(map[string]any)
	return kind + "\x00" + merge.At[string](meta, "namespace") + "\x00" + merge.At[string](meta, "name")
}
