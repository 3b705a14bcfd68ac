package files

import (
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// shape is the type that files are merged by: how t splits the values that the
// sides have, with keys inferred (if wanted) for what t does not know. Two values
// are equal only if they are equal as written: a file may state a default, and a
// merge of files has no server that would complete it. In a merge of three, no entries are
// paired by a key that one of them lacks, or by a file's path that several have (a Kustomization's
// patches: one file may patch several targets); named: they
// are by a name that each has, although the server replaces the list as a whole (the versions
// of a CustomResourceDefinition). What is no text where the type has one (the values of a ConfigMap
// that only kustomize reads) is merged by what it is. In a merge of two, a mapping is merged by its fields also where
// the server has it as one value, as by kubectl patch and kustomize, unless a comment says otherwise.
func (m *merger) shape(named bool, t *merge.Type, sides ...any) *merge.Type {
	if t == nil || t.Kind == merge.Unknown || t.Kind == merge.Scalar && slices.ContainsFunc(sides, isCollection) {
		if m.Infer {
			return schema.Infer(sides...)
		}
		return nil
	}
	atomic := t.Atomic && (m.Original != nil || t.Source == merge.SourceComment)
	out := &merge.Type{Name: t.Name, Kind: t.Kind, Atomic: atomic, Open: t.Open, Keys: t.Keys, OneOf: t.OneOf, Source: t.Source}
	if m.Original != nil && (t.Kind == merge.Keyed || named && t.Kind == merge.List) {
		if t.Kind == merge.Keyed {
			all := entries(sides)
			if slices.ContainsFunc(t.Keys, func(k merge.Key) bool { return lacks(k, all) }) || t.Keys[0].Name == "path" && (!named || repeats("path", sides)) {
				out.Kind, out.Keys = merge.List, nil
			}
		} else if by := schema.Infer(sides...); by != nil && by.Kind == merge.Keyed && by.Keys[0].Name == "name" {
			out.Kind, out.Keys = merge.Keyed, by.Keys
		}
	}
	switch {
	case atomic:
	case t.Kind == merge.Object:
		out.Fields = m.shapeFields(named, t, sides)
	case t.Kind == merge.Map, out.Kind == merge.Keyed:
		out.Elem = m.shape(named, t.Elem, entries(sides)...)
	}
	return out
}

func isCollection(v any) bool { return !merge.IsScalar(v) }

// lacks: an entry has no value for a key, and none is assumed.
func lacks(k merge.Key, entries []any) bool {
	return k.Default == nil && slices.ContainsFunc(entries, func(e any) bool { return merge.At[any](e, k.Name) == nil })
}

// repeats: two entries of a list have the same value for a key.
func repeats(key string, lists []any) bool {
	return slices.ContainsFunc(lists, func(list any) bool {
		names := object.Each(entries([]any{list}), func(e any) string { return merge.At[string](e, key) })
		return len(slices.Compact(slices.Sorted(slices.Values(names)))) < len(names)
	})
}

func (m *merger) shapeFields(named bool, t *merge.Type, sides []any) map[string]merge.Field {
	values := map[string][]any{}
	for _, s := range sides {
		fields, _ := s.(map[string]any)
		for k, v := range fields {
			if v != nil {
				values[k] = append(values[k], v)
			}
		}
	}
	fields := make(map[string]merge.Field, len(values))
	for name, list := range values {
		f := t.Fields[name]
		if inner := m.shape(named, f.Type, list...); inner != nil {
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
			out = slices.AppendSeq(out, maps.Values(s))
		case []any:
			out = append(out, s...)
		}
	}
	return out
}

// checkRules returns an error for rules that can match nothing in the files: a path that a
// kind does not have, and a kind that is misspelt. What no schema knows may have anything.
func (m *merger) checkRules() error {
	var typed []schema.Typed
	seen := map[string]bool{}
	for _, r := range append(m.updated.list[:len(m.updated.list):len(m.updated.list)], m.dest.list...) {
		if name := r.id.group + "/" + r.version + " " + r.id.kind; r.id.kind != "" && !seen[name] {
			seen[name] = true
			typed = append(typed, schema.Typed{Group: r.id.group, Kind: r.id.kind, Type: m.Rules.Shape(m.known(r))})
		}
	}
	return m.Rules.Check("rules", typed, nil)
}

// known is the type of a resource's kind; nil if it is not known.
func (m *merger) known(r *resource) *merge.Type {
	switch {
	case r.isKustomization():
		return KustomizationType()
	case m.Schema == nil || r.id.kind == "":
		return nil
	}
	return m.Schema(r.id.group, r.version, r.id.kind)
}
