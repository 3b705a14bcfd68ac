package files

import (
	"maps"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// cleared is the result of a merge of two without the nulls that dest has where the
// source has null, too: null in the source clears the field, and for the engine a field
// that is null is absent already.
//
// Rules: kustomize cmd/config/docs/api-conventions/merge2.md ("if null, clear it").
func cleared(result, source any, t *merge.Type) any {
	switch s := source.(type) {
	case map[string]any:
		m, ok := result.(map[string]any)
		if !ok {
			return result
		}
		var out map[string]any
		for k, v := range s {
			was, there := m[k]
			if !there || was == nil && v != nil {
				continue
			}
			now := cleared(was, v, t.Field(k).Type)
			if now != nil && merge.Identical(now, was) {
				continue
			}
			if out == nil {
				out = maps.Clone(m)
			}
			if out[k] = now; now == nil {
				delete(out, k)
			}
		}
		if out != nil {
			return out
		}
	case []any:
		return clearedEntries(result, s, t)
	}
	return result
}

// clearedEntries does so in the entries of a keyed list.
func clearedEntries(result any, source []any, t *merge.Type) any {
	list, ok := result.([]any)
	if !ok || t == nil || t.Kind != merge.Keyed {
		return result
	}
	var out []any
	for _, e := range source {
		m, _ := e.(map[string]any)
		for i, r := range list {
			if len(matching([]any{r}, m, t)) == 0 {
				continue
			}
			if now := cleared(r, e, t.EntryType()); !merge.Identical(now, r) {
				if out == nil {
					out = append(out, list...)
				}
				out[i] = now
			}
		}
	}
	if out != nil {
		return out
	}
	return result
}
