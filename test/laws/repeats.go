package laws

import (
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Repeats reports whether a key is in a list twice, or a member in a set, anywhere in v, which
// is of the type typ: server-side apply takes no such list, and makes one entry of those that
// others have.
func Repeats(v any, typ *merge.Type) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if Repeats(e, typ.Field(name).Type) {
				return true
			}
		}
	case []any:
		if typ == nil || typ.Kind != merge.Keyed && typ.Kind != merge.Set {
			return false
		}
		for i, step := range schema.EntrySteps(typ, v) {
			if step.Nth > 1 || Repeats(v[i], typ.Elem) {
				return true
			}
		}
	}
	return false
}
