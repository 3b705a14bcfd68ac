package yamldoc

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// leading are the fields that people write first, before the keys of a list's entry.
var leading = []string{"apiVersion", "kind", "metadata", "name", "namespace", "image"}

// orderOf puts the keys of a mapping in order: as the origins have them, the
// first one's order first; what none of them has comes last: what people write first,
// the keys of a list's entry, and all others, sorted.
func orderOf(m map[string]any, from origins, keys []merge.Key) []string {
	names := make([]string, 0, len(m))
	at := make(map[string]bool, len(m))
	for _, o := range from {
		n := o.n.follow()
		if n == nil || n.kind != mapNode {
			continue
		}
		var own []string
		for i := range n.entries {
			e := &n.entries[i]
			if _, wanted := m[e.name]; wanted && !e.merge {
				own = append(own, e.name)
			}
		}
		names = weave(names, own, at)
		for _, n := range own {
			at[n] = true
		}
	}
	rest := slices.DeleteFunc(slices.Collect(maps.Keys(m)), func(name string) bool { return at[name] })
	first := slices.Clone(leading)
	for _, k := range keys {
		first = append(first, k.Name)
	}
	place := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortFunc(rest, func(a, b string) int { return cmp.Or(place(a)-place(b), strings.Compare(a, b)) })
	return append(names, rest...)
}

// weave takes what is new in more into names, each behind the one it follows
// there; what stands first there comes before the first that both have.
func weave(names, more []string, have map[string]bool) []string {
	if len(names) == 0 {
		return more
	}
	behind := map[string][]string{}
	var front []string
	last, anchored := "", ""
	for _, n := range more {
		switch {
		case have[n]:
			if last == "" {
				anchored = n
			}
			last = n
		case last == "":
			front = append(front, n)
		default:
			behind[last] = append(behind[last], n)
		}
	}
	out := make([]string, 0, len(names)+len(more))
	for _, n := range names {
		if n == anchored {
			out = append(out, front...)
			front = nil
		}
		out = append(append(out, n), behind[n]...)
	}
	return append(out, front...)
}
