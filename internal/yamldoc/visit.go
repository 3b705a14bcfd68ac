package yamldoc

import (
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Gone stands for an entry of a list that is taken out.
type Gone struct{}

// Visit calls do for a value and all below it, with the names on the way, where "-" stands for an entry
// of a list, and with what returns the whole with another value there, or without an entry (Gone).
func Visit(v any, do func(v any, at []string, with func(any) any)) {
	visit(v, nil, func(v any) any { return v }, do)
}

func visit(v any, at []string, with func(any) any, do func(v any, at []string, with func(any) any)) {
	do(v, at, with)
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			visit(e, append(at[:len(at):len(at)], "-"), func(e any) any {
				if _, out := e.(Gone); out {
					return with(slices.Delete(slices.Clone(v), i, i+1))
				}
				return with(slices.Concat(v[:i], []any{e}, v[i+1:]))
			}, do)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			visit(v[name], append(at[:len(at):len(at)], name), func(e any) any { return with(merge.With(v, e, name)) }, do)
		}
	}
}
