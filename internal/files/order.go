package files

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// ordered is the result of a patch with its lists in the order that the patch's
// $setElementOrder directives give them. Entries that they do not name stay behind what
// they followed in dest.
//
// Rules: the Kubernetes community's strategic-merge-patch.md ("setElementOrder").
func ordered(result, source, dest any, t *merge.Type) any {
	switch s := source.(type) {
	case map[string]any:
		return orderedFields(result, s, dest, t)
	case []any:
		was, _ := dest.([]any)
		return entrywise(result, s, t, func(r, e any) any {
			m, _ := e.(map[string]any)
			return ordered(r, e, merge.At[any](matching(was, m, t), "0"), t.EntryType())
		})
	}
	return result
}

func orderedFields(result any, source map[string]any, dest any, t *merge.Type) any {
	m, ok := result.(map[string]any)
	if !ok {
		return result
	}
	was, _ := dest.(map[string]any)
	out := m
	put := func(k string, now any) {
		if !merge.Identical(now, m[k]) {
			out = merge.With(out, now, k)
		}
	}
	for k, v := range source {
		if !schema.IsDirective(k) {
			put(k, ordered(m[k], v, was[k], t.Field(k).Type))
		}
	}
	for k, v := range source {
		name, isOrder := strings.CutPrefix(k, schema.OrderDirective)
		list, _ := out[name].([]any)
		if order, _ := v.([]any); isOrder && list != nil {
			put(name, arranged(list, order, merge.At[[]any](was[name]), t.Field(name).Type))
		}
	}
	return out
}

// arranged sorts a list. before is dest's order.
func arranged(list, order, before []any, t *merge.Type) []any {
	in := func(entries []any, e any) int {
		return slices.IndexFunc(entries, func(o any) bool { return sameEntry(o, e, t) })
	}
	named := slices.DeleteFunc(slices.Clone(list), func(e any) bool { return in(order, e) < 0 })
	slices.SortStableFunc(named, func(a, b any) int { return in(order, a) - in(order, b) })
	rest := slices.DeleteFunc(slices.Clone(list), func(e any) bool { return in(order, e) >= 0 })
	out := make([]any, 0, len(list))
	for _, e := range named {
		at := in(before, e)
		for len(rest) > 0 && at >= 0 && in(before, rest[0]) >= 0 && in(before, rest[0]) < at {
			out, rest = append(out, rest[0]), rest[1:]
		}
		out = append(out, e)
	}
	return append(out, rest...)
}

// sameEntry: a has the keys that b has too, or is the same scalar.
func sameEntry(a, b any, t *merge.Type) bool {
	x, ok := a.(map[string]any)
	if !ok {
		return merge.Equal(a, b, nil)
	}
	return len(matching([]any{b}, x, t)) > 0
}

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
		out := m
		for k, v := range s {
			was, there := m[k]
			if !there || was == nil && v != nil {
				continue
			}
			if now := cleared(was, v, t.Field(k).Type); now == nil {
				out = merge.Without(out, k)
			} else if !merge.Identical(now, was) {
				out = merge.With(out, now, k)
			}
		}
		return out
	case []any:
		return entrywise(result, s, t, func(r, e any) any { return cleared(r, e, t.EntryType()) })
	}
	return result
}

// entrywise is the result with what becomes of the entries of a keyed list that the source has, too.
func entrywise(result any, source []any, t *merge.Type, becomes func(r, e any) any) any {
	list, ok := result.([]any)
	if !ok || t == nil || t.Kind != merge.Keyed {
		return result
	}
	return merge.Rebuilt(list, func(r any) any {
		for _, e := range source {
			if len(matching([]any{r}, merge.At[map[string]any](e), t)) > 0 {
				r = becomes(r, e)
			}
		}
		return r
	})
}
