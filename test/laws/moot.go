package laws

import (
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// moot: a rule of a type around the value says that the field has no meaning beside the
// rest of the result, as the node ports of a Service without a type that has some.
//
// Rule: docs/semantics.md#the-rules ("Fields that have no use any more").
func (c *checker) moot(a *at) bool {
	return (Merge{Type: c.typ, Result: c.result}).Moot(a.path())
}

// Moot reports whether the rest of the result makes what is at the path obsolete.
func (m Merge) Moot(p merge.Path) bool {
	for n := len(p) - 1; n >= 0; n-- {
		t := m.Type.At(p[:n])
		if t == nil {
			continue
		}
		is, _ := merge.Lookup(m.Result, p[:n], m.Type)
		result, ok := merge.Complete(is, t, true).(map[string]any)
		for _, d := range t.Defaults {
			if ok && d.Moot && leads(d.Path, p[n:]) && holds(d, result, p[len(p)-1].Name) {
				return true
			}
		}
	}
	return false
}

// used is a value of live without what is moot in it.
func (c *checker) used(a *at, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			if b := a.child(name); !c.moot(b) {
				out[name] = c.used(b, e)
			}
		}
		return out
	case []any:
		if isList(a.field.Type) {
			out := make([]any, len(v))
			for i, e := range v {
				out[i] = c.used(a.to(e), e)
			}
			return out
		}
	}
	return v
}

// leads: the way of a rule is the path.
func leads(way []string, p merge.Path) bool {
	if len(way) != len(p) {
		return false
	}
	for i, s := range p {
		key := i == len(p)-1 // of a map: "*" is each, and the same one in the conditions
		if way[i] != "*" && (s.Kind != merge.FieldStep || s.Name != way[i]) || way[i] == "*" && s.Kind == merge.FieldStep && !key {
			return false
		}
	}
	return true
}

// holds: the other fields have the texts that a rule asks for, or nothing where it asks for that.
func holds(d merge.Default, v map[string]any, key string) bool {
	for _, c := range d.If {
		if slices.Equal(c.Path, d.Path) {
			continue
		}
		is := v[c.Path[0]]
		if m, isMap := is.(map[string]any); isMap && len(c.Path) == 2 && c.Path[1] == "*" {
			is = m[key]
		} else if len(c.Path) != 1 {
			return false
		}
		switch same := fmt.Sprint(is) == c.Text; {
		case c.Kind == merge.IfIs && !same, c.Kind == merge.IfNot && same:
			return false
		case c.Kind == merge.IfSet && is == nil, c.Kind == merge.IfUnset && is != nil:
			return false
		}
	}
	return true
}
