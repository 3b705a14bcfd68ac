package gen

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Place is where a type has a list, a map, an atomic value or an object with
// one-of groups: what can be edited there depends on its type alone.
type Place struct {
	Names []string // fields from the top; "*" is any entry of a list or map
	Field merge.Field
}

// String is the place as a path, with [*] for entries.
func (p Place) String() string {
	return strings.ReplaceAll(strings.Join(p.Names, "."), ".*", "[*]")
}

// Places lists the places of a type, in order of their fields' names. A type that
// is inside itself is gone into once.
func Places(t *merge.Type) []Place {
	var w walker
	w.walk(nil, merge.Field{Type: t})
	return w.found
}

type walker struct {
	found []Place
	above []*merge.Type
}

func (w *walker) walk(names []string, f merge.Field) {
	t := f.Type
	if t == nil || slices.Contains(w.above, t) {
		return
	}
	if len(names) > 0 && (t.Atomic || t.Kind > merge.Object || len(t.OneOf) > 0) {
		w.found = append(w.found, Place{slices.Clone(names), f})
	}
	if t.Atomic || t.Kind == merge.List {
		return // one value: what is inside is no place of its own
	}
	w.above = append(w.above, t)
	defer func() { w.above = w.above[:len(w.above)-1] }()
	switch t.Kind {
	case merge.Object:
		for _, name := range sortedFields(t) {
			w.walk(append(names, name), t.Fields[name])
		}
	case merge.Map, merge.Keyed:
		w.walk(append(names, "*"), merge.Field{Type: t.Elem})
	}
}

// Wrap gives an object of type t with v at the place and nothing else in it but
// the identity of the entries it is inside; without a value, with nothing there.
func (p Place) Wrap(t *merge.Type, v merge.Opt) map[string]any {
	out, _ := wrap(t, p.Names, v).(map[string]any)
	return out
}

func wrap(t *merge.Type, names []string, v merge.Opt) any {
	if len(names) == 0 {
		return v.Value
	}
	last := len(names) == 1
	if t.Kind == merge.Keyed {
		e, _ := wrap(t.Elem, names[1:], v).(map[string]any)
		return []any{identified(t, e, 0)}
	}
	out := map[string]any{}
	name := names[0]
	if name == "*" {
		name = "key"
	}
	if !last || v.Set {
		out[name] = wrap(t.Field(names[0]).Type, names[1:], v)
	}
	return out
}

// identified gives an entry the nth set of keys: the first key without a default
// reports it from others.
func identified(t *merge.Type, e map[string]any, n int) map[string]any {
	out := make(map[string]any, len(e)+len(t.Keys))
	for k, v := range e {
		out[k] = v
	}
	varied := false
	for _, k := range t.Keys {
		if k.Default != nil {
			continue
		}
		first := spellings[keyForm(t, k)][0]
		if out[k.Name] = nth(first, 0); !varied {
			out[k.Name], varied = nth(first, n), true
		}
	}
	return out
}

func keyForm(t *merge.Type, k merge.Key) form {
	if t.Elem == nil {
		return text
	}
	if f := kindOf(t.Elem.Fields[k.Name].Type); f == number {
		return number
	}
	return text
}
