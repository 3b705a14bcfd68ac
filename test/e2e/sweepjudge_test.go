package e2e

import (
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
)

// judge requires that live obeys the laws, and is as planned.
func (r *round) judge() {
	parallel(r.left(), func(o *sweptObject) {
		k := o.kind
		before, after, planned := k.configuration(o.before), k.configuration(o.after), k.configuration(o.planned)
		t := merge.Triple{Original: o.v1, Local: o.v2, Live: known(k.typ, before, before), Blanked: k.kind == "Secret"}
		m := laws.Merge{Triple: t, Type: k.typ, Result: known(k.typ, after, o.v1, o.v2, before)}
		for _, b := range m.Breaches() {
			r.t.Errorf("%s\n%s", r.culprit(o, b.Path), b)
		}
		r.sound(o, planned, after, before)
	})
}

// sound: after is as planned, from before.
func (r *round) sound(o *sweptObject, planned, after, before any) {
	typ := o.kind.typ
	planned = known(typ, planned, planned)
	for _, c := range merge.Diff(planned, known(typ, after, planned, before), typ) {
		if f, _ := schema.FieldAt(typ, c.Path); !comeTo(f, c.Old, c.New) {
			r.t.Errorf("%s\nsound: %s: planned %v, is %v", r.culprit(o, c.Path), c.Path, c.Old, c.New)
		}
	}
}

// comeTo: the server may have made one value of the other. A list in which entries
// share an identity is reported as a whole.
func comeTo(f merge.Field, planned, made merge.Opt) bool {
	p, ok := planned.Value.([]any)
	l, ok2 := made.Value.([]any)
	if !ok || !ok2 || len(p) != len(l) || f.Type == nil || f.Type.Kind != merge.Keyed {
		return laws.Alike(planned, made, f)
	}
	for i := range p {
		if !merge.Equal(p[i], known(f.Type.Elem, l[i], p[i]), f.Type.Elem) {
			return false
		}
	}
	return true
}

// culprit names the list that a path is in.
func (r *round) culprit(o *sweptObject, path merge.Path) string {
	for i := len(o.edits) - 1; i >= 0; i-- {
		names := strings.Split(strings.ReplaceAll(o.edits[i].list.String(), "[*]", ""), ".")
		var at []string
		for _, step := range path {
			if step.Kind == merge.FieldStep {
				at = append(at, step.Name)
			}
		}
		if strings.HasPrefix(strings.Join(at, ".")+".", strings.Join(names, ".")+".") {
			return fmt.Sprintf("%s %s: %s: %s", o.kind, o.name, o.edits[i].list, o.edits[i].sides.Name)
		}
	}
	return o.String()
}

// known is v without the fields that none of the sides has, defaults that the server
// puts into what has come, and without its words for nothing, null and {}. Inside of
// what is one value nothing is taken away.
func known(t *merge.Type, v any, sides ...any) any {
	switch v := v.(type) {
	case map[string]any:
		if t != nil && (t.Atomic || t.Kind == merge.Scalar) {
			return v
		}
		out := map[string]any{}
		for name, e := range v {
			below, has := children(name, sides)
			f := t.Field(name)
			if m, isMap := e.(map[string]any); !has || e == nil || isMap && laws.Alike(merge.Opt{}, merge.Some(m), f) {
				continue
			}
			out[name] = known(f.Type, e, below...)
		}
		return out
	case []any:
		if t == nil || t.Kind != merge.Keyed {
			return v
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = known(t.Elem, e, alike(t, e, sides)...)
		}
		return out
	}
	return v
}

// children are the values of a field in those sides that have it.
func children(name string, sides []any) (values []any, has bool) {
	for _, side := range sides {
		m, _ := side.(map[string]any)
		if e, ok := m[name]; ok {
			values, has = append(values, e), true
		}
	}
	return values, has
}

// alike are the entries of the sides' lists that have the keys of e.
func alike(t *merge.Type, e any, sides []any) []any {
	var found []any
	for _, side := range sides {
		list, _ := side.([]any)
		for _, other := range list {
			if keysOf(t, other) == keysOf(t, e) {
				found = append(found, other)
			}
		}
	}
	return found
}

func keysOf(t *merge.Type, e any) string {
	m, _ := e.(map[string]any)
	var all []any
	for _, k := range t.Keys {
		v := m[k.Name]
		if v == nil || v == "" {
			v = k.Default
		}
		all = append(all, v)
	}
	return short(all)
}
