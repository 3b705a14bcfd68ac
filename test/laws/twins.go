package laws

import (
	"maps"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// withTwins is a triple in which original and local state both names of a field that has
// two, where they state one of them and live has the other: the server keeps them alike,
// so that the sides mean that.
//
// Rules: docs/unlike-kubectl.md (a service account that was removed from the file).
func withTwins(t merge.Triple, typ *merge.Type) merge.Triple {
	t.Original, t.Local = twinned(typ, t.Original, t.Live), twinned(typ, t.Local, t.Live)
	return t
}

func twinned(typ *merge.Type, side, live any) any {
	m, isMap := side.(map[string]any)
	v, _ := live.(map[string]any)
	if !isMap || v == nil || typ == nil {
		return side
	}
	out := maps.Clone(m)
	for name, e := range m {
		out[name] = twinned(typ.Field(name).Type, e, v[name])
	}
	for _, pair := range typ.Mirrored {
		for i, name := range pair {
			twin := pair[1-i]
			e, stated := m[name]
			if _, both := m[twin]; stated && !both && v[twin] != nil {
				out[twin] = e
			}
		}
	}
	return out
}
