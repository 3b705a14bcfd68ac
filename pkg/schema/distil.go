package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Distil removes everything from an OpenAPI document that does not concern merging: paths,
// descriptions, patterns, examples. FromOpenAPI makes the same types of the result, which
// has a fraction of the size. It is an error if doc has no schemas, or one that is not
// JSON.
func Distil(doc []byte) ([]byte, error) {
	schemas, err := findSchemas(doc)
	if err != nil {
		return nil, fmt.Errorf("OpenAPI document: %w", err)
	}
	kept := make(map[string]any, len(schemas))
	for _, m := range schemas {
		v, err := merge.ReadJSON(m.raw)
		if err != nil {
			return nil, fmt.Errorf("OpenAPI document: %s: %w", m.key, err)
		}
		kept[m.key] = distilled(v)
	}
	return json.Marshal(map[string]any{"components": map[string]any{"schemas": kept}})
}

// distilled returns a schema with only those keywords that a node has.
func distilled(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v // additionalProperties may be a boolean
	}
	out := make(map[string]any, len(m))
	for word, v := range m {
		if !keywords()[word] {
			continue
		}
		switch sub := v.(type) {
		case map[string]any:
			switch word {
			case "properties":
				v = each(sub)
			case "items", "additionalProperties":
				v = distilled(sub)
			}
		case []any:
			if word == "allOf" {
				v = all(sub)
			}
		}
		out[word] = v
	}
	return out
}

func each(schemas map[string]any) map[string]any {
	out := make(map[string]any, len(schemas))
	for name, v := range schemas {
		out[name] = distilled(v)
	}
	return out
}

func all(schemas []any) []any {
	out := make([]any, len(schemas))
	for i, v := range schemas {
		out[i] = distilled(v)
	}
	return out
}

// keywords are the keywords that matter for merging: a node's, and the one that names a
// kind.
var keywords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{strings.Trim(string(kindMark), `"`): true}
	t := reflect.TypeFor[node]()
	for i := range t.NumField() {
		words[t.Field(i).Tag.Get("json")] = true
	}
	return words
})
