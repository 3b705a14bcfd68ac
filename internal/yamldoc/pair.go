package yamldoc

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// pairs finds for each entry of a list the one in old that it comes from, -1 if it
// is new: by the keys of a keyed list, else by its value. Where entries of a list
// without keys have changed, those between two equal ones are paired in order.
func pairs(old, list []any, t *merge.Type) []int {
	out := make([]int, len(list))
	if slices.EqualFunc(old, list, same) {
		for i := range out {
			out[i] = i
		}
		return out
	}
	by := t
	keyed := t != nil && t.Kind == merge.Keyed
	if !keyed {
		by = &merge.Type{Kind: merge.Set}
	}
	taken := make([]bool, len(old))
	byID := make(map[string][]int, len(old))
	for i, v := range old {
		id := merge.Identity(by, v)
		byID[id] = append(byID[id], i)
	}
	for i, v := range list {
		out[i] = -1
		id := merge.Identity(by, v)
		group := byID[id]
		if len(group) > 0 {
			out[i], taken[group[0]] = group[0], true
			byID[id] = group[1:]
		}
	}
	if !keyed {
		pairGaps(old, list, out, taken)
	}
	return out
}

// pairGaps pairs what is left between entries that have found each other.
func pairGaps(old, list []any, out []int, taken []bool) {
	low := -1
	for i := 0; i < len(list); {
		if out[i] >= 0 {
			low = out[i]
			i++
			continue
		}
		run := i
		for i < len(list) && out[i] < 0 {
			i++
		}
		high := len(old)
		if i < len(list) {
			high = out[i]
		}
		var free []int
		for j := low + 1; j < high; j++ {
			if !taken[j] {
				free = append(free, j)
			}
		}
		pairRun(old, list[run:i], out[run:i], free)
		for _, j := range out[run:i] {
			if j >= 0 {
				taken[j] = true
			}
		}
	}
}

// pairRun pairs the entries of one gap in order: all if there are as many on both
// sides, else those that have something in common.
func pairRun(old, list []any, out, free []int) {
	next := 0
	for i, v := range list {
		for k := next; k < len(free); k++ {
			if alikeKinds(old[free[k]], v) && (len(list) == len(free) && k == i || common(old[free[k]], v)) {
				out[i], next = free[k], k+1
				break
			}
		}
	}
}

func alikeKinds(a, b any) bool {
	_, isMap := a.(map[string]any)
	_, map2 := b.(map[string]any)
	return isMap == map2 && merge.IsScalar(a) == merge.IsScalar(b)
}

// common reports whether two mappings have a text or number in common.
func common(a, b any) bool {
	bm := merge.At[map[string]any](b)
	for k, v := range merge.At[map[string]any](a) {
		switch v.(type) {
		case string, json.Number:
			if bm[k] == v {
				return true
			}
		}
	}
	return false
}

// longest marks the entries of a sequence of distinct numbers that can stay where
// they are while the others move around them: a longest increasing subsequence.
// Negative numbers are not part of it.
func longest(seq []int) []bool {
	tails := make([]int, 0, len(seq)) // index into seq of the smallest tail per length
	before := make([]int, len(seq))
	for i, v := range seq {
		if v < 0 {
			continue
		}
		lo, hi := 0, len(tails)
		for lo < hi {
			if mid := (lo + hi) / 2; seq[tails[mid]] < v {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		before[i] = -1
		if lo > 0 {
			before[i] = tails[lo-1]
		}
		if lo == len(tails) {
			tails = append(tails, i)
		} else {
			tails[lo] = i
		}
	}
	stay := make([]bool, len(seq))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = before[i] {
			stay[i] = true
		}
	}
	return stay
}

// items pairs the entries of a new list with those of its origins, once one is asked for.
func (o origins) items(list []any, t *merge.Type) func(int) origins {
	type paired struct {
		s  text
		in *node
		at []int
	}
	all := sync.OnceValue(func() (all []paired) {
		for _, from := range o {
			if n := from.n.follow(); n != nil && n.kind == seqNode {
				all = append(all, paired{from.s, n, pairs(merge.At[[]any](n.value), list, t)})
			}
		}
		return all
	})
	return func(i int) (below origins) {
		for _, p := range all() {
			if p.at[i] >= 0 {
				e := &p.in.entries[p.at[i]]
				below = append(below, origin{p.s, e.value, e, p.in})
			}
		}
		return below
	}
}
