// Package contexts finds what the clusters of several contexts have in common. It refuses to know
// what they have, and to contact them.
package contexts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
)

// Shared is something that some contexts have.
type Shared[T any] struct {
	All []T   // of each context in In; they are the same
	In  []int // contexts, ascending
}

// Group finds what is the same in several lists, one of each context. Values with one key stand
// together, in about the order of the lists. What a list has more than once, it has once. The lists
// are not modified.
func Group[T any, K comparable](lists [][]T, key func(T) K, same func(a, b T) bool) (out []Shared[T]) {
	var order []K
	groups := map[K][]Shared[T]{}
	for context, list := range lists {
		at := 0 // behind the place of the value before
		for _, value := range list {
			k := key(value)
			if groups[k] == nil {
				if at == 0 {
					at = len(order)
				}
				order = slices.Insert(order, at, k)
			}
			at += slices.Index(order[at:], k) + 1 // as it was, if the order is another
			i := slices.IndexFunc(groups[k], func(s Shared[T]) bool { return same(s.All[0], value) })
			if i < 0 {
				i, groups[k] = len(groups[k]), append(groups[k], Shared[T]{})
			}
			if g := &groups[k][i]; !slices.Contains(g.In, context) {
				g.All, g.In = append(g.All, value), append(g.In, context)
			}
		}
	}
	for _, k := range order {
		out = append(out, groups[k]...)
	}
	return out
}

// Label names contexts, given as indexes of names: all of them by their number, and nearly all by
// those that are not among them.
func Label(in []int, names []string) string {
	var these, others []string
	for i, name := range names {
		if slices.Contains(in, i) {
			these = append(these, escape.Line(name))
		} else {
			others = append(others, escape.Line(name))
		}
	}
	all := fmt.Sprintf("all %d contexts", len(names))
	switch {
	case len(names) > 1 && len(others) == 0:
		return all
	case len(these) > 3 && len(others) < 3 && len(others) > 0:
		return all + " but " + strings.Join(others, ", ")
	}
	return strings.Join(these, ", ")
}
