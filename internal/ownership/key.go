package ownership

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// keyOf returns the step as FieldsV1 spells it: f:name, k:{"name":"web"}, v:"x", i:0.
func keyOf(s merge.Step) string {
	switch s.Kind {
	case merge.FieldStep:
		return "f:" + s.Name
	case merge.KeyStep:
		keys := make(map[string]any, len(s.Keys))
		for _, k := range s.Keys {
			if k.Value != nil {
				keys[k.Name] = k.Value
			}
		}
		return "k:" + compact(keys)
	case merge.ValueStep:
		return "v:" + compact(s.Value)
	}
	return "i:" + compact(s.Index)
}

// compact returns the value as FieldsV1 spells it: sorted keys, no HTML escapes.
func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// stepOf reads an entry's key of FieldsV1: k:{"name":"web"} or v:"x".
func stepOf(key string) (merge.Step, bool) {
	kind, text, ok := strings.Cut(key, ":")
	if !ok {
		return merge.Step{}, false
	}
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		return merge.Step{}, false
	}
	switch m, isMap := v.(map[string]any); {
	case kind == "v":
		return merge.Step{Kind: merge.ValueStep, Value: v}, true
	case kind == "k" && isMap:
		s := merge.Step{Kind: merge.KeyStep}
		for _, name := range slices.Sorted(maps.Keys(m)) {
			s.Keys = append(s.Keys, merge.KeyPart{Name: name, Value: m[name]})
		}
		return s, true
	}
	return merge.Step{}, false
}
