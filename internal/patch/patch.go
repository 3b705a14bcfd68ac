// Package patch writes the difference of two objects as a JSON merge patch (RFC 7386) or a
// JSON patch (RFC 6902), and applies the first. It refuses to decide what should change, and
// to mask anything: a patch is data.
//
// Values are JSON values as merge.ReadJSON gives them; none is ever modified.
package patch

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Merge returns the smallest JSON merge patch (RFC 7386) that turns live into result, both
// objects, and whether it does so on an API server. Without a difference the patch is nil.
// Lists and everything in them are replaced as a whole, since RFC 7386 cannot express more.
// Values are compared literally: a caller that does not want a respelled value written
// keeps live's spelling in result.
//
// A merge patch cannot set a field or a map's entry to null. A null that live has in the same
// place does not have to be expressed. RFC 7386 lets a list hold objects with nulls, but the
// API server's library (evanphx/json-patch v4) drops them, so they count too. A null that is
// itself the entry of a list is kept. The patch leaves out what cannot be expressed.
func Merge(live, result any) (patch map[string]any, expressible bool) {
	from, _ := live.(map[string]any)
	to, _ := result.(map[string]any)
	if merge.Identical(from, to) {
		return nil, true
	}
	patch, expressible = map[string]any{}, true
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
		_, isMap := v.(map[string]any)
		_, wasMap := old.(map[string]any)
		if isMap && wasMap {
			below, all := Merge(old, v)
			patch[k], expressible = below, expressible && all
			continue
		}
		if v != nil || had { // a null would do nothing where there is none
			patch[k] = v
		}
		_, null := merge.First(v, func(s merge.Step, v any) bool { return v == nil && s.Kind == merge.FieldStep })
		expressible = expressible && !null
	}
	return patch, expressible
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

// Op is one operation of a JSON patch (RFC 6902): test, add, replace or remove.
type Op struct {
	Op    string
	Path  string // a JSON pointer (RFC 6901)
	Value any    // of test, add and replace
}

// MarshalJSON writes the operation as RFC 6902 requires: a value of null is written, the
// value of a remove is not. Encode it with HTML escapes on (json.Marshal): the API server
// compares a test's strings as they are spelled. The error is that of a value that is not
// JSON.
func (o Op) MarshalJSON() ([]byte, error) {
	m := map[string]any{"op": o.Op, "path": o.Path}
	if o.Op != "remove" {
		m["value"] = o.Value
	}
	return json.Marshal(m)
}

// JSON returns the operations that turn live into result, in path order. Each follows a test
// of the value that it replaces or removes, or, where it adds one, a test for null: the API
// server's library (evanphx/json-patch v4) treats a missing value as that, though RFC 6902 has
// no test for absence. The patch then fails as a whole if one of these values has changed
// meanwhile. No operation means no difference.
//
// If it is bound there are no tests, and single values are changed inside the entries of a list
// that keeps its length. It suits an object whose state is tested by other means.
func JSON(live, result any, bound bool) []Op {
	p := jsonPatcher{bound: bound}
	p.patchValue("", live, result)
	return p.ops
}

type jsonPatcher struct {
	bound bool
	ops   []Op
}

func (p *jsonPatcher) patchValue(at string, old, now any) {
	if merge.Identical(old, now) {
		return
	}
	switch was := old.(type) {
	case map[string]any:
		if m, ok := now.(map[string]any); ok {
			p.patchObject(at, was, m)
			return
		}
	case []any:
		if l, ok := now.([]any); ok && p.bound && len(l) == len(was) {
			for i := range l {
				p.patchValue(at+"/"+strconv.Itoa(i), was[i], l[i])
			}
			return
		}
	}
	p.pin(at, old)
	p.ops = append(p.ops, Op{"replace", at, now})
}

func (p *jsonPatcher) patchObject(at string, old, now map[string]any) {
	names := maps.Clone(old)
	maps.Copy(names, now)
	for _, k := range slices.Sorted(maps.Keys(names)) {
		path := at + "/" + escapePointer(k)
		was, had := old[k]
		v, has := now[k]
		switch {
		case !has:
			p.pin(path, was)
			p.ops = append(p.ops, Op{Op: "remove", Path: path})
		case had:
			p.patchValue(path, was, v)
		default:
			if !p.bound {
				p.ops = append(p.ops, Op{"test", path, nil})
			}
			p.ops = append(p.ops, Op{"add", path, v})
		}
	}
}

// pin tests for a value as a whole. The API server's library fails when it compares
// lists that have null as an entry, so these are pinned entry by entry.
func (p *jsonPatcher) pin(at string, v any) {
	switch {
	case p.bound:
		return
	case !merge.Any(v, func(e any) bool { return slices.Contains(merge.At[[]any](e), nil) }):
		p.ops = append(p.ops, Op{"test", at, v})
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			p.pin(at+"/"+escapePointer(k), v[k])
		}
	case []any:
		for i, e := range v {
			p.pin(at+"/"+strconv.Itoa(i), e)
		}
	}
}

func escapePointer(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}
