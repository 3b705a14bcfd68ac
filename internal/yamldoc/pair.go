package yamldoc

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// pairs finds for each entry of a list the one in old that it comes from, -1 if it
// is new: by the keys of a keyed list, else by its value. Where entries have changed,
// those between two equal ones are paired in order: of a keyed list those that can be
// one entry with another key, and then those of them that have been moved, too.
func pairs(old, list []any, t *merge.Type) []int {
	out := make([]int, len(list))
	if slices.EqualFunc(old, list, same) {
		for i := range out {
			out[i] = i
		}
		return out
	}
	by, may := t, func(a, b any) bool { return merge.Rekeyed(t, a, b) }
	if t == nil || t.Kind != merge.Keyed {
		by, may = &merge.Type{Kind: merge.Set}, alikeKinds
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
	pairGaps(old, list, out, taken, may)
	if by == t && len(t.Keys) > 1 { // with a single key, what is alike elsewhere may be another one
		pairMoved(old, list, out, taken, may)
	}
	return out
}

// pairMoved pairs what is left anywhere in the list.
func pairMoved(old, list []any, out []int, taken []bool, may func(any, any) bool) {
	var free, at, found []int
	var left []any
	for j := range old {
		if !taken[j] {
			free = append(free, j)
		}
	}
	for i, j := range out {
		if j < 0 {
			at, left, found = append(at, i), append(left, list[i]), append(found, -1)
		}
	}
	pairRun(old, left, found, free, may)
	for n, i := range at {
		out[i] = found[n]
	}
}

// pairGaps pairs what is left between entries that have found each other.
func pairGaps(old, list []any, out []int, taken []bool, may func(any, any) bool) {
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
		pairRun(old, list[run:i], out[run:i], free, may)
		for _, j := range out[run:i] {
			if j >= 0 {
				taken[j] = true
			}
		}
	}
}

// mostPairs is the number of comparisons up to which the entries of a gap are paired by what they have
// in common.
const mostPairs = 1 << 16

// pairRun pairs the entries of one gap that may be paired, in order: those that have most in common, and,
// where there are as many on both sides, others in the same place.
func pairRun(old, list []any, out, free []int, may func(any, any) bool) {
	n, m := len(list), len(free)
	switch {
	case n*m == 0 || n*m > mostPairs:
		return
	case n*m == 1: // no other is to be compared with: what is deeply nested is not read at each level
		if may(old[free[0]], list[0]) {
			out[0] = free[0]
		}
		return
	}
	has, facts := make([]map[string]int, m), make([]map[string]int, n) // of those that may be paired
	best := make([][]float64, n+1)                                     // what the entries from here on have in common with the old ones from here on
	best[n] = make([]float64, m+1)
	for i := n - 1; i >= 0; i-- {
		best[i] = make([]float64, m+1)
		for k := m - 1; k >= 0; k-- {
			best[i][k] = max(best[i+1][k], best[i][k+1])
			if !may(old[free[k]], list[i]) {
				continue
			}
			if has[k] == nil {
				has[k] = Facts(old[free[k]])
			}
			if facts[i] == nil {
				facts[i] = Facts(list[i])
			}
			if alike := common(has[k], facts[i]); alike > 0 || n == m && i == k {
				best[i][k] = max(best[i][k], best[i+1][k+1]+max(alike, 1e-6))
			}
		}
	}
	for i, k := 0, 0; i < n && k < m; {
		switch best[i][k] {
		case best[i+1][k]:
			i++
		case best[i][k+1]:
			k++
		default:
			out[i] = free[k]
			i, k = i+1, k+1
		}
	}
}

func alikeKinds(a, b any) bool {
	_, isMap := a.(map[string]any)
	_, map2 := b.(map[string]any)
	return isMap == map2 && merge.IsScalar(a) == merge.IsScalar(b)
}

// common returns how much two entries have in common, from 0 to 1; it counts most where they are
// the same but for a field or two.
func common(a, b map[string]int) float64 {
	both, ofA, ofB := Common(a, b)
	return float64(both*both) / float64(max(1, ofA*ofB))
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
		lo, _ := slices.BinarySearchFunc(tails, v, func(i, v int) int { return seq[i] - v })
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

// Facts are the scalars of an object with their fields, counted, without what identifies
// it; of a text its lines. A null is none, and a number in quotes is another one.
func Facts(v any) map[string]int {
	out := map[string]int{}
	facts(v, "", out)
	return out
}

func facts(v any, at string, out map[string]int) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for k, e := range v {
			facts(e, at+"."+k, out)
		}
	case []any:
		for _, e := range v {
			facts(e, at+"[]", out)
		}
	default:
		switch at {
		case ".apiVersion", ".kind", ".metadata.name", ".metadata.namespace":
		default:
			for line := range strings.Lines(fmt.Sprint(v)) {
				out[fmt.Sprintf("%s=%T %s", at, v, strings.TrimSpace(line))]++
			}
		}
	}
}

// Common returns how many facts two objects share, and how many each has.
func Common(a, b map[string]int) (both, ofA, ofB int) {
	for f, n := range a {
		both += min(n, b[f])
		ofA += n
	}
	for _, n := range b {
		ofB += n
	}
	return both, ofA, ofB
}
