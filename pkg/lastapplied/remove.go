package lastapplied

import (
	"errors"
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
	return without(original, nil, p, typ)
}

// errEmpty reports that nothing is left, so that the value is removed from its parent too.
var errEmpty = errors.New("nothing left")

// without removes rest from v, the value at path at.
func without(v any, at, rest merge.Path, typ *merge.Type) (any, error) {
	known := typ != nil && len(at) > 0
	byKeys := known && (typ.Kind == merge.Keyed || typ.Kind == merge.Set)
	if known && (typ.Atomic || typ.Kind == merge.List) || rest[0].Kind == merge.IndexStep && !byKeys {
		return nil, fmt.Errorf("%s: %s is one value: give it up as a whole: %s", at.Child(rest[0]), at, at)
	}
	if rest[0].Kind == merge.FieldStep {
		return withoutField(v, at, rest, typ)
	}
	return withoutEntry(v, at, rest, typ)
}

func withoutField(v any, at, rest merge.Path, typ *merge.Type) (any, error) {
	m, _ := v.(map[string]any)
	name := rest[0].Name
	old, ok := m[name]
	if !ok {
		if typ != nil && typ.Kind == merge.Object && typ.Fields[name].Type != nil { // the field exists in the type
			return nil, fmt.Errorf(notThere+": it has been given up, or was never applied", at.Child(rest[0]))
		}
		return nil, missing(at, rest[0], suggestFields(at, m, name))
	}
	out := maps.Clone(m)
	if len(rest) == 1 {
		delete(out, name)
	} else {
		now, err := without(old, at.Child(rest[0]), rest[1:], typ.Field(name).Type)
		switch {
		case errors.Is(err, errEmpty):
			delete(out, name)
		case err != nil:
			return nil, err
		default:
			out[name] = now
		}
	}
	if len(out) == 0 && len(at) > 0 {
		return nil, errEmpty
	}
	return out, nil
}

func withoutEntry(v any, at, rest merge.Path, typ *merge.Type) (any, error) {
	list, _ := v.([]any)
	i := merge.EntryAt(list, rest[0], typ)
	if i < 0 || rest[0].Kind == merge.IndexStep {
		return nil, missing(at, rest[0], suggestEntries(at, list, typ))
	}
	out := slices.Clone(list)
	if len(rest) == 1 {
		out = slices.Delete(out, i, i+1)
	} else {
		if typ != nil && slices.ContainsFunc(typ.Keys, func(k merge.Key) bool { return len(rest) == 2 && k.Name == rest[1].Name }) {
			return nil, fmt.Errorf("%s: it identifies the entries of the list: give up the whole entry: %s",
				at.Child(rest[0]).Child(rest[1]), at.Child(rest[0]))
		}
		now, err := without(list[i], at.Child(rest[0]), rest[1:], typ.EntryType())
		switch {
		case errors.Is(err, errEmpty):
			out = slices.Delete(out, i, i+1)
		case err != nil:
			return nil, err
		default:
			out[i] = now
		}
	}
	if len(out) == 0 {
		return nil, errEmpty
	}
	return out, nil
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

// suggestFields lists the fields that are spelled most like name, else those that exist.
func suggestFields(at merge.Path, m map[string]any, name string) []string {
	all := slices.Sorted(maps.Keys(m))
	near := slices.DeleteFunc(slices.Clone(all), func(k string) bool { return suggest.Edits(k, name) > suggest.Most(name) })
	if len(near) > 0 {
		all = near
	}
	var out []string
	for _, k := range all {
		out = append(out, at.Child(merge.Named(k)).String())
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
