package strategy

import (
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// defaulted lists the fields that local sets to null, that may be null, and that have a
// default. The write cannot express null (RFC 7386), so the server fills the default in.
// Fields that are null in live are left out.
func defaulted(local, live any, typ *merge.Type, at merge.Path) (out []merge.Path) {
	m, ok := local.(map[string]any)
	if !ok || typ == nil || typ.Atomic {
		return nil
	}
	for name, l := range m {
		f, p := typ.Field(name), at.Child(merge.Named(name))
		is, there := merge.At[map[string]any](live)[name]
		if l == nil && f.Nullable && f.Default != nil && !(there && is == nil) {
			out = append(out, p)
		}
		out = append(out, defaulted(l, is, f.Type, p)...)
	}
	merge.SortByPath(out, func(p merge.Path) merge.Path { return p })
	return out
}
