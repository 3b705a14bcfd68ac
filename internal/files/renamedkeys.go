package files

import (
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// followKeys is a triple whose sides know a mapping or list by the one name that one of them alone has given it.
func followKeys(s merge.Triple) merge.Triple {
	of := keysFollowed([3]any{ofOriginal: s.Original, ofUpdated: s.Local, ofDest: s.Live})
	return merge.Triple{Original: of[ofOriginal], Local: of[ofUpdated], Live: of[ofDest]}
}

func keysFollowed(of [3]any) [3]any {
	var in [3]map[string]any
	for i, v := range of {
		m, ok := v.(map[string]any)
		if !ok {
			return of
		}
		in[i] = maps.Clone(m)
	}
	for _, i := range []int{ofUpdated, ofDest} {
		for was, is := range keysBecame(in[ofOriginal], in[i]) {
			other := in[ofUpdated+ofDest-i]
			_, knows := other[was]
			if _, taken := other[is]; !knows || taken {
				continue
			}
			for _, m := range []map[string]any{in[ofOriginal], other} {
				m[is] = m[was]
				delete(m, was)
			}
		}
	}
	for k := range in[ofOriginal] {
		for i, v := range keysFollowed([3]any{in[ofOriginal][k], in[ofUpdated][k], in[ofDest][k]}) {
			if _, ok := in[i][k]; ok {
				in[i][k] = v
			}
		}
	}
	return [3]any{in[ofOriginal], in[ofUpdated], in[ofDest]}
}

// keysBecame are the names that a side has given to mappings and lists in a mapping: the only one that is new
// there to the only one that is gone, else to what has most in common.
func keysBecame(original, side map[string]any) map[string]string {
	without := func(m, other map[string]any) (out []string) {
		for k, v := range m {
			if _, both := other[k]; isCollection(v) && !both {
				out = append(out, k)
			}
		}
		slices.Sort(out)
		return out
	}
	gone, come := without(original, side), without(side, original)
	if len(gone) == 1 && len(come) == 1 {
		return map[string]string{gone[0]: come[0]}
	}
	return best(gone, come, func(was, is string) float64 { return share(factsOf(original[was]), factsOf(side[is])) })
}
