// Package patch writes the difference of two objects as a JSON merge patch (RFC 7386) or a
// JSON patch (RFC 6902), and applies the first. It refuses to decide what should change, and
// to mask anything: a patch is data.
//
// Values are JSON values as merge.ReadJSON gives them; none is ever modified.
package patch

import (
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Merge returns the smallest JSON merge patch (RFC 7386) that turns live into result, both
// objects, and whether there is anything to patch. Without a difference the patch is nil.
// Lists and everything in them are replaced as a whole, since RFC 7386 cannot express more.
// Values are compared literally: a caller that does not want a respelled value written
// keeps live's spelling in result.
//
// Where Expressible is false, no merge patch leads to result; the returned one leaves out
// what cannot be expressed.
func Merge(live, result any) (patch map[string]any, changed bool) {
	from, _ := live.(map[string]any)
	to, _ := result.(map[string]any)
	if merge.Identical(from, to) {
		return nil, false
	}
	return mergePatch(from, to), true
}

func mergePatch(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for k := range from {
		if _, ok := to[k]; !ok {
			patch[k] = nil
		}
	}
	for k, v := range to {
		old, had := from[k]
		if had && merge.Identical(old, v) {
			continue
		}
		m, isMap := v.(map[string]any)
		was, wasMap := old.(map[string]any)
		switch {
		case isMap && wasMap:
			patch[k] = mergePatch(was, m)
		case v == nil && !had: // not expressible, and a null would do nothing
		default:
			patch[k] = v
		}
	}
	return patch
}

// Expressible reports whether a merge patch can lead from live to result on an API server.
// It cannot set a field or a map's entry to null; the path of the first such null is
// returned. A null that live has in the same place does not have to be expressed. RFC 7386
// lets a list hold objects with nulls, but the API server's library (evanphx/json-patch v4)
// drops them, so they count too. A null that is itself the entry of a list is kept.
func Expressible(live, result any) (merge.Path, bool) {
	to, ok := result.(map[string]any)
	if !ok {
		return nil, result != nil || live == nil
	}
	for _, k := range slices.Sorted(maps.Keys(to)) {
		old, had := merge.At[map[string]any](live)[k]
		if had && merge.Identical(old, to[k]) {
			continue
		}
		p, found := merge.First(to[k], func(s merge.Step, v any) bool { return v == nil && s.Kind == merge.FieldStep })
		if _, deeper := old.(map[string]any); deeper && found {
			p, found = Expressible(old, to[k])
			found = !found
		}
		if found {
			return append(merge.Path{{Kind: merge.FieldStep, Name: k}}, p...), false
		}
	}
	return nil, true
}

// ApplyMerge returns v with an RFC 7386 patch applied. A patch that is not an object
// replaces v.
func ApplyMerge(v, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out := maps.Clone(merge.At[map[string]any](v))
	if out == nil {
		out = make(map[string]any, len(p))
	}
	for k, e := range p {
		if e == nil {
			delete(out, k)
			continue
		}
		out[k] = ApplyMerge(out[k], e)
	}
	return out
}
