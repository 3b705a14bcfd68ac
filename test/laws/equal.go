package laws

import (
	"encoding/json"
	"math/big"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func fieldOf(t *merge.Type, name string) (f merge.Field, declared bool) {
	switch {
	case t == nil:
		return merge.Field{}, false
	case t.Kind == merge.Object:
		f, declared = t.Fields[name]
		return f, declared
	}
	return merge.Field{Type: t.Elem}, false
}

// splitsMaps: a map of this type is merged key by key.
func splitsMaps(t *merge.Type) bool {
	return t == nil || !t.Atomic && (t.Kind == merge.Unknown || t.Kind == merge.Object || t.Kind == merge.Map)
}

func isList(t *merge.Type) bool { return t != nil && (t.Kind == merge.Keyed || t.Kind == merge.Set) }

// Alike says whether the server stores two values of a field alike; either may be
// absent.
func Alike(a, b merge.Opt, f merge.Field) bool { return same(a, b, f) }

func same(a, b merge.Opt, f merge.Field) bool {
	a, b = some(a.Value), some(b.Value)
	if a.Set && b.Set && merge.Equal(a.Value, b.Value, f.Type) {
		return true
	}
	absent := func(o merge.Opt) bool { return !o.Set || f.ZeroIsAbsent && zero(o.Value, f.Type) }
	return absent(a) && absent(b)
}

// zero: what a Go field of this type holds when nobody has set it.
func zero(v any, t *merge.Type) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case json.Number:
		n, ok := new(big.Float).SetString(v.String())
		return ok && n.Sign() == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		for name, e := range v {
			f, declared := fieldOf(t, name)
			if e != nil && !(declared && f.ZeroIsAbsent && zero(e, f.Type)) {
				return false
			}
		}
		return true
	}
	return false
}

// nothing: a map that local states comes to nothing, so that its absence says the
// same.
func nothing(f merge.Field, l map[string]any) bool { return f.ZeroIsAbsent && zero(l, f.Type) }

// madeOf: live's value is what a server may have made of local's. An allocated
// field stated as empty, "" where the server put its default, or an atomic value
// in which everything that local states is, lists going on where local's end.
func madeOf(f merge.Field, q quad) bool {
	if f.Allocated && zero(q.l.Value, f.Type) {
		return true
	}
	if q.l.Value == "" {
		return f.ZeroIsAbsent && same(q.l, q.o, f)
	}
	return made(f.Type, q.l.Value, q.o, q.v.Value)
}

func made(t *merge.Type, l any, o merge.Opt, v any) bool {
	switch l := l.(type) {
	case map[string]any:
		vm, ok := v.(map[string]any)
		if !ok {
			return false
		}
		om, _ := o.Value.(map[string]any)
		for name, lv := range l {
			f, _ := fieldOf(t, name)
			q := quad{o: some(om[name]), l: some(lv), v: some(vm[name])}
			if !same(q.l, q.v, f) && !madeField(f, q) {
				return false
			}
		}
		for name := range om {
			if _, stated := l[name]; !stated && om[name] != nil && vm[name] != nil {
				return false
			}
		}
		return true
	case []any:
		vl, ok := v.([]any)
		if !ok || len(l) > len(vl) {
			return false
		}
		ol, _ := o.Value.([]any)
		for i := range l {
			var had merge.Opt
			if len(ol) == len(l) {
				had = some(ol[i])
			}
			var elem *merge.Type
			if t != nil {
				elem = t.Elem
			}
			if !made(elem, l[i], had, vl[i]) {
				return false
			}
		}
		return true
	}
	return merge.Equal(l, v, t)
}

// madeField is made inside an atomic value, where what local leaves empty may be
// filled in.
func madeField(f merge.Field, q quad) bool {
	if !q.l.Set {
		return !q.o.Set // null, where the server has a default
	}
	if f.ZeroIsAbsent && zero(q.l.Value, f.Type) {
		switch q.l.Value.(type) {
		case bool, json.Number:
			return false
		}
		return true
	}
	return q.v.Set && made(f.Type, q.l.Value, q.o, q.v.Value)
}
