package files

import "github.com/kubectl-merge/kubectl-merge/pkg/merge"

// alike: two values are one by the rules of the merge. The order in a list whose entries
// are known by keys or values is that of the text, unless the policy defines it.
func (m *merger) alike(a, b any, t *merge.Type) bool {
	if merge.Identical(a, b) {
		return true
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && m.alikeMaps(a, b, t)
	case []any:
		b, ok := b.([]any)
		return ok && len(a) == len(b) && m.alikeLists(a, b, t)
	}
	return merge.Identical(a, b)
}

// alikeMaps compares field by field. A null is no
// field, unless the policy clears it.
func (m *merger) alikeMaps(a, b map[string]any, t *merge.Type) bool {
	for k, v := range a {
		w, ok := b[k]
		if !ok && m.nothing(v) || v == nil && m.nothing(w) {
			continue
		}
		if !ok || !m.alike(v, w, t.Field(k).Type) {
			return false
		}
	}
	for k, w := range b {
		if _, ok := a[k]; !ok && !m.nothing(w) {
			return false
		}
	}
	return true
}

// nothing: a value is null, or a mapping of nothing but nulls.
func (m *merger) nothing(v any) bool {
	fields, ok := v.(map[string]any)
	for _, e := range fields {
		if !m.nothing(e) {
			return false
		}
	}
	return !m.Policy.ClearNulls && (v == nil || ok && len(fields) > 0)
}

func (m *merger) alikeLists(a, b []any, t *merge.Type) bool {
	free := t != nil && (t.Kind == merge.Keyed || t.Kind == merge.Set) && !m.Policy.Prepend
	at := map[string][]int{}
	for i, e := range b {
		if free {
			name := merge.Identity(t, e)
			at[name] = append(at[name], i)
		}
	}
	for i := range a {
		j := i
		if free {
			name := merge.Identity(t, a[i])
			if len(at[name]) == 0 {
				return false
			}
			j, at[name] = at[name][0], at[name][1:]
		}
		if !m.alike(a[i], b[j], t.EntryType()) {
			return false
		}
	}
	return true
}
