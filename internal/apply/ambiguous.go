package apply

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// ambiguous lists the entries of lists that server-side apply cannot distinguish.
func ambiguous(v any, at merge.Path, typ *merge.Type) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		if granular(typ) {
			for _, name := range slices.Sorted(maps.Keys(v)) {
				out = append(out, ambiguous(v[name], at.Child(merge.Named(name)), typ.Field(name).Type)...)
			}
		}
	case []any:
		if !listed(typ) {
			break
		}
		for i, step := range schema.EntrySteps(typ, v) {
			p := at.Child(step)
			switch {
			case step.Nth > 1:
				out = append(out, fmt.Sprintf("%s: is in the list twice, and server-side apply takes each key once", p))
			case step.Kind == merge.IndexStep || step.Kind == merge.KeyStep && keyless(step):
				out = append(out, fmt.Sprintf("%s: has no %s, by which server-side apply knows the entries", p, typ.Keys[0].Name))
			default:
				out = append(out, ambiguous(v[i], p, typ.Elem)...)
			}
		}
	}
	return out
}

// keyless reports whether the step has none of its list's keys.
func keyless(s merge.Step) bool {
	return !slices.ContainsFunc(s.Keys, func(k merge.KeyPart) bool { return k.Value != nil })
}
