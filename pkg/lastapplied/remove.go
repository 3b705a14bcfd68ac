package lastapplied

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Remove returns original without the value at p: the applier no longer owns the field, and
// live keeps its value. Entries of keyed lists and sets are found by their keys, typ being
// the type of original. Objects, maps and lists that are then empty are removed, too, since
// their absence from local would otherwise remove what others put there.
//
// It is an error if p has no value (the message suggests near names), or leads into an atomic
// value, which is owned as a whole. So is a p that is part of what names the object or a list's
// entry.
func Remove(original any, p merge.Path, typ *merge.Type) (any, error) {
	if slices.Contains([]string{".", "apiVersion", "kind", "metadata", "metadata.name", "metadata.namespace"}, p.String()) {
		return nil, fmt.Errorf("%s: it names the object, and cannot be given up", p)
	}
	v, exact, gone := original, make(merge.Path, len(p)), 0
	for n, s := range p {
		known := typ != nil && n > 0
		byKeys := known && (typ.Kind == merge.Keyed || typ.Kind == merge.Set)
		if known && (typ.Atomic || typ.Kind == merge.List) || s.Kind == merge.IndexStep && !byKeys {
			return nil, fmt.Errorf("%s: %s is one value: give it up as a whole: %s", p[:n+1], p[:n], p[:n])
		}
		in := holder{at: p[:n], typ: typ}
		if s.Kind == merge.FieldStep {
			in.fields, _ = v.(map[string]any)
		} else {
			in.list, _ = v.([]any)
		}
		var err error
		if v, exact[n], err = in.find(p[n:]); err != nil {
			return nil, err
		}
		if n == 0 || len(in.fields)+len(in.list) > 1 { // otherwise it would be empty, and is removed, too
			gone = n + 1
		}
		typ = typ.At(merge.Path{s})
	}
	return merge.Replay(original, []merge.Change{{Op: merge.OpRemove, Path: exact[:gone]}})
}

// holder is an object, map or list on the way to what is removed.
type holder struct {
	at     merge.Path
	typ    *merge.Type
	fields map[string]any
	list   []any
}

// find returns what the first of the steps leads to, with the step to its place.
func (h holder) find(rest merge.Path) (v any, to merge.Step, err error) {
	if rest[0].Kind != merge.FieldStep {
		return h.entry(rest)
	}
	if v, ok := h.fields[rest[0].Name]; ok {
		return v, rest[0], nil
	}
	near := suggestFields(h.at, h.fields, rest[0].Name)
	switch {
	case h.typ == nil || h.typ.Kind != merge.Object:
	case h.typ.Fields[rest[0].Name].Type != nil: // the field exists in the type
		return nil, to, fmt.Errorf(notThere+": it has been given up, or was never applied", h.at.Child(rest[0]))
	case len(near) == 0 && !h.typ.Open:
		return nil, to, fmt.Errorf(notThere+": the kind has no such field", h.at.Child(rest[0]))
	}
	return nil, to, missing(h.at, rest[0], near)
}

func (h holder) entry(rest merge.Path) (v any, to merge.Step, err error) {
	i := merge.EntryAt(h.list, rest[0], h.typ)
	if i < 0 || rest[0].Kind == merge.IndexStep {
		return nil, to, missing(h.at, rest[0], suggestEntries(h.at, h.list, h.typ))
	}
	if len(rest) == 2 && h.typ != nil && slices.ContainsFunc(h.typ.Keys, func(k merge.Key) bool { return k.Name == rest[1].Name }) {
		return nil, to, fmt.Errorf("%s: it identifies the entries of the list: give up the whole entry: %s",
			h.at.Child(rest[0]).Child(rest[1]), h.at.Child(rest[0]))
	}
	return h.list[i], merge.Step{Kind: merge.IndexStep, Index: i}, nil
}

const notThere = "%s: not in last-applied, so it is not yours to give up"

// missing returns the error of a missing name, with those that may be meant instead.
func missing(at merge.Path, step merge.Step, near []string) error {
	switch {
	case len(near) == 0:
		return fmt.Errorf(notThere+": see kubectl merge view-last-applied", at.Child(step))
	case len(near) == 1:
		return fmt.Errorf(notThere+": did you mean %s?", at.Child(step), near[0])
	}
	return fmt.Errorf(notThere+": did you mean one of %s?", at.Child(step), strings.Join(near, ", "))
}

// suggestions is the maximum number of names in an error.
const suggestions = 5

// suggestFields lists the fields that are spelled most like name.
func suggestFields(at merge.Path, m map[string]any, name string) (out []string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if suggest.Edits(k, name) <= suggest.Most(name) {
			out = append(out, at.Child(merge.Named(k)).String())
		}
	}
	return out[:min(len(out), suggestions)]
}

// suggestEntries lists entries by their keys. It returns nothing for lists without keys,
// since the members of a set are values.
func suggestEntries(at merge.Path, list []any, typ *merge.Type) (out []string) {
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok || typ == nil || len(out) == suggestions {
			break
		}
		s := merge.Step{Kind: merge.KeyStep}
		for _, k := range typ.Keys {
			if v, ok := m[k.Name]; ok {
				s.Keys = append(s.Keys, merge.KeyPart{Name: k.Name, Value: v})
			}
		}
		if len(s.Keys) > 0 {
			out = append(out, at.Child(s).String())
		}
	}
	return out
}
