package ownership

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Fields returns the fields that a manager owns after applying obj, as FieldsV1 spells them. It
// is the set that the server computes (ToFieldSet of structured-merge-diff/v6/typed), without
// what identifies the object. typ is the type of obj; nil knows no lists.
func Fields(obj map[string]any, typ *merge.Type) map[string]any {
	fields, _ := fieldsOf(obj, typ)
	delete(fields, "f:apiVersion")
	delete(fields, "f:kind")
	if m, _ := fields["f:metadata"].(map[string]any); m != nil {
		delete(m, "f:name")
		delete(m, "f:namespace")
		if delete(m, "."); len(m) == 0 {
			delete(fields, "f:metadata")
		}
	}
	return fields
}

// fieldsOf returns the owned fields below v, and whether v itself is owned: as one value,
// or as an empty map.
func fieldsOf(v any, typ *merge.Type) (below map[string]any, itself bool) {
	below = map[string]any{}
	switch v := v.(type) {
	case map[string]any:
		if typ != nil && (typ.Atomic || typ.Kind == merge.Scalar || typ.Kind == merge.List) {
			return below, true
		}
		for name, e := range v {
			_, declared := declares(typ, name)
			if f := ownedOf(e, typ.Field(name).Type, !declared); f != nil {
				below["f:"+name] = f
			}
		}
		return below, len(v) == 0
	case []any:
		if typ == nil || typ.Kind != merge.Keyed && typ.Kind != merge.Set {
			return below, true
		}
		for i, step := range schema.EntrySteps(typ, v) {
			below[keyOf(step, nil)] = ownedOf(v[i], typ.Elem, true)
		}
		return below, false
	}
	return below, true
}

// ownedOf returns the set of a value within the set that contains it; nil for a list without entries.
// An entry of a map or list is owned itself, a declared field with parts only by its parts.
func ownedOf(v any, typ *merge.Type, entry bool) map[string]any {
	below, itself := fieldsOf(v, typ)
	switch itself = itself || entry; {
	case len(below) == 0 && !itself:
		return nil
	case len(below) > 0 && itself:
		below["."] = map[string]any{}
	}
	return below
}

// declares reports whether the name is a declared field, and not the key of a map's entry.
func declares(typ *merge.Type, name string) (merge.Field, bool) {
	if typ == nil || typ.Kind != merge.Object {
		return merge.Field{}, false
	}
	f, ok := typ.Fields[name]
	return f, ok
}

// Nulls returns the fields that v states as null, or as a map of only nulls, as FieldsV1
// spells them: their owners mean nothing. typ is the type of v. Never nil.
func Nulls(v any, typ *merge.Type) map[string]any {
	out := map[string]any{}
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if nothing(e) {
				out["f:"+name] = map[string]any{}
			} else if below := Nulls(e, typ.Field(name).Type); len(below) > 0 {
				out["f:"+name] = below
			}
		}
	case []any:
		if typ == nil || typ.Kind != merge.Keyed {
			break
		}
		for i, step := range schema.EntrySteps(typ, v) {
			if below := Nulls(v[i], typ.Elem); len(below) > 0 {
				out[keyOf(step, nil)] = below
			}
		}
	}
	return out
}

// nothing reports whether v is null, or a map of only such values.
func nothing(v any) bool {
	m, isMap := v.(map[string]any)
	for _, e := range m {
		if !nothing(e) {
			return false
		}
	}
	return v == nil || isMap && len(m) > 0
}

// keyOf returns the step as FieldsV1 spells it: f:name, k:{"name":"web"}, v:"x", i:0. A key without a value has
// the one of absent; nil leaves it out.
func keyOf(s merge.Step, absent any) string {
	switch s.Kind {
	case merge.FieldStep:
		return "f:" + s.Name
	case merge.KeyStep:
		keys := make(map[string]any, len(s.Keys))
		for _, k := range s.Keys {
			if v := cmp.Or(k.Value, absent); v != nil {
				keys[k.Name] = v
			}
		}
		return "k:" + compact(keys)
	case merge.ValueStep:
		return "v:" + compact(s.Value)
	}
	return "i:" + compact(s.Index)
}

// compact returns the value as FieldsV1 spells it: sorted keys, no HTML escapes.
func compact(v any) string {
	text, _ := merge.WriteJSON(v, false) // values of an object are JSON
	return strings.TrimSuffix(string(text), "\n")
}

// stepOf reads a key of FieldsV1: f:name, k:{"name":"web"} or v:"x"; false for ".".
func stepOf(key string) (merge.Step, bool) {
	if name, ok := strings.CutPrefix(key, "f:"); ok {
		return merge.Named(name), true
	}
	kind, text, _ := strings.Cut(key, ":")
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		return merge.Step{}, false
	}
	switch m, isMap := v.(map[string]any); {
	case kind == "v":
		return merge.Step{Kind: merge.ValueStep, Value: v}, true
	case kind == "k" && isMap:
		s := merge.Step{Kind: merge.KeyStep}
		for _, name := range slices.Sorted(maps.Keys(m)) {
			s.Keys = append(s.Keys, merge.KeyPart{Name: name, Value: m[name]})
		}
		return s, true
	}
	return merge.Step{}, false
}
