package schema

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Unknown lists the fields of v that t does not declare, in path order; nil where t
// declares every field of v, for which nothing is allocated. Free maps, open objects and
// values without a type declare everything. A null counts as a field.
func Unknown(t *merge.Type, v any) []merge.Path {
	if t == nil {
		return nil
	}
	var out []merge.Path
	switch v := v.(type) {
	case map[string]any:
		if t.Kind != merge.Object && t.Kind != merge.Map {
			return nil
		}
		for name, e := range v {
			if _, declared := t.Fields[name]; t.Kind == merge.Object && !declared && !t.Open {
				out = append(out, merge.Path{merge.Named(name)})
				continue
			}
			for _, p := range Unknown(t.Field(name).Type, e) {
				out = append(out, append(merge.Path{merge.Named(name)}, p...))
			}
		}
		slices.SortStableFunc(out, func(p, q merge.Path) int { return strings.Compare(p[0].Name, q[0].Name) })
	case []any:
		var steps []merge.Step
		for i := 0; isList(t) && i < len(v); i++ {
			for _, p := range Unknown(t.Elem, v[i]) {
				if steps == nil {
					steps = EntrySteps(t, v)
				}
				out = append(out, append(merge.Path{steps[i]}, p...))
			}
		}
	}
	return out
}

// The directives of a strategic merge patch, each a key of a mapping; the last two end in
// the name of a list of the same mapping.
//
// Rules: the Kubernetes community's strategic-merge-patch.md.
const (
	PatchDirective   = "$patch"
	RetainDirective  = "$retainKeys"
	OrderDirective   = "$setElementOrder/"
	ExcludeDirective = "$deleteFromPrimitiveList/"
)

// IsDirective reports whether a key is one of these directives.
func IsDirective(key string) bool {
	return key == PatchDirective || key == RetainDirective || strings.HasPrefix(key, OrderDirective) || strings.HasPrefix(key, ExcludeDirective)
}

func isList(t *merge.Type) bool {
	return t.Kind == merge.List || t.Kind == merge.Keyed || t.Kind == merge.Set
}

// EntrySteps lead to the entries of a list of type t, which may be nil: by their keys where they
// have any, in a set by their value, else by their index.
func EntrySteps(t *merge.Type, list []any) []merge.Step {
	out := make([]merge.Step, len(list))
	seen := map[string]int{}
	for i, e := range list {
		out[i] = merge.Step{Kind: merge.IndexStep, Index: i}
		if _, isMap := e.(map[string]any); t != nil && (t.Kind == merge.Set || t.Kind == merge.Keyed && isMap) {
			if s := merge.StepOf(t, e, 0); !slices.ContainsFunc(s.Keys, noScalar) {
				out[i] = s
			}
		}
		id := out[i].String()
		if seen[id]++; seen[id] > 1 {
			out[i].Nth = seen[id]
		}
	}
	return out
}

// noScalar reports whether the key has a value that a path could not distinguish.
func noScalar(k merge.KeyPart) bool { return !merge.IsScalar(k.Value) }

// FieldAt returns what t states about the value at a path; ok is false where t
// does not declare it. The empty path is the object itself.
func FieldAt(t *merge.Type, p merge.Path) (f merge.Field, ok bool) {
	f = merge.Field{Type: t}
	for _, s := range p {
		switch t := f.Type; {
		case t == nil || t.Kind == merge.Unknown:
			return merge.Field{}, true
		case t.Kind == merge.Scalar || isList(t) == (s.Kind == merge.FieldStep):
			return merge.Field{}, false
		case t.Kind != merge.Object:
			f = merge.Field{Type: t.Elem}
		default:
			if f, ok = t.Fields[s.Name]; !ok && !t.Open {
				return merge.Field{}, false
			}
		}
	}
	return f, true
}
