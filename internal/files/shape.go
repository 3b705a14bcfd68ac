package files

import (
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// shape is the type that files are merged by: how t splits the values that the
// sides have, with keys inferred (if wanted) for what t does not know. Two values
// are equal only if they are equal as written: a file may state a default, and a
// merge of files has no server that would complete it.
func shape(t *merge.Type, infer bool, sides ...any) *merge.Type {
	if t == nil || t.Kind == merge.Unknown {
		if infer {
			return schema.Infer(sides...)
		}
		return nil
	}
	out := &merge.Type{Name: t.Name, Kind: t.Kind, Atomic: t.Atomic, Open: t.Open, Keys: t.Keys, OneOf: t.OneOf, Source: t.Source}
	switch {
	case t.Atomic:
	case t.Kind == merge.Object:
		out.Fields = shapeFields(t, infer, sides)
	case t.Kind == merge.Map, t.Kind == merge.Keyed:
		out.Elem = shape(t.Elem, infer, entries(sides)...)
	}
	return out
}

func shapeFields(t *merge.Type, infer bool, sides []any) map[string]merge.Field {
	values := map[string][]any{}
	for _, s := range sides {
		m, _ := s.(map[string]any)
		for k, v := range m {
			if v != nil {
				values[k] = append(values[k], v)
			}
		}
	}
	fields := make(map[string]merge.Field, len(values))
	for name, list := range values {
		f := t.Fields[name]
		if inner := shape(f.Type, infer, list...); inner != nil {
			fields[name] = merge.Field{Type: inner, Default: f.Default}
		}
	}
	return fields
}

// entries are the values of all maps, or the entries of all lists.
func entries(sides []any) []any {
	var out []any
	for _, s := range sides {
		switch s := s.(type) {
		case map[string]any:
			for _, v := range s {
				out = append(out, v)
			}
		case []any:
			out = append(out, s...)
		}
	}
	return out
}
