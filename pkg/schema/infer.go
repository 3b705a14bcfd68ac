package schema

import (
	"encoding/json"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// inferable lists the keys that a list without a schema may be merged by; the first that
// fits is used.
//
// Rules: kustomize's associative keys (kyaml's AssociativeSequenceKeys) and the
// fields page of the kubectl book.
var inferable = []string{"mountPath", "devicePath", "ip", "type", "topologyKey", "name", "containerPort"}

// Infer makes a type from the values themselves. A list is keyed by the first of
// kustomize's seven keys that every element of every side has and that is unique on every
// side; every other list is atomic. A side may be nil. Elements that are paired by the key
// are inferred together, so that a list inside them is keyed alike on all sides. Only lists
// get a type.
//
// Unlike kustomize: its code infers only name, and loses elements that lack the key.
func Infer(sides ...any) *merge.Type {
	objects := make([]map[string]any, 0, len(sides))
	lists := make([][]any, 0, len(sides))
	for _, s := range sides {
		switch s := s.(type) {
		case nil:
		case map[string]any:
			objects = append(objects, s)
		case []any:
			lists = append(lists, s)
		default:
			return nil
		}
	}
	switch {
	case len(objects) > 0 && len(lists) == 0:
		return inferMap(objects)
	case len(lists) > 0 && len(objects) == 0:
		return inferList(lists)
	}
	return nil
}

// inferMap returns a type with only the fields that have something to state; an open object
// merges key by key anyway.
func inferMap(sides []map[string]any) *merge.Type {
	names := map[string]bool{}
	for _, m := range sides {
		for name := range m {
			names[name] = true
		}
	}
	fields := map[string]merge.Field{}
	for name := range names {
		values := make([]any, 0, len(sides))
		for _, m := range sides {
			values = append(values, m[name])
		}
		if t := Infer(values...); t != nil {
			fields[name] = merge.Field{Type: t}
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return &merge.Type{Kind: merge.Object, Open: true, Fields: fields, Source: merge.SourceInferred}
}

func inferList(sides [][]any) *merge.Type {
	for _, key := range inferable {
		if identifies(key, sides) {
			return &merge.Type{ // one for all elements: a list inside them is keyed only where the key fits in each of every side
				Kind: merge.Keyed, Keys: []merge.Key{{Name: key}}, Elem: Infer(slices.Concat(sides...)...),
				Source: merge.SourceInferred,
			}
		}
	}
	return &merge.Type{Kind: merge.List, Source: merge.SourceInferred}
}

// identifies reports whether every element of every side has the key, as a scalar, and no
// two elements of one side have it alike. Lists without any element decide nothing.
func identifies(key string, sides [][]any) (found bool) {
	for _, list := range sides {
		seen := make(map[any]bool, len(list))
		for _, e := range list {
			v := merge.At[any](e, key)
			_, isText := v.(string)
			_, isNumber := v.(json.Number)
			if !isText && !isNumber || seen[v] {
				return false
			}
			seen[v], found = true, true
		}
	}
	return found
}
