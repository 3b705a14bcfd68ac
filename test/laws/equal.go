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

// zero: the value is that of an unset Go field of this type.
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

// refilled: if what local says were sent, beside all else that the result has, the server
// would store what the result has: live's value, kept as it is.
func (c *checker) refilled(a *at, q quad) bool {
	change := merge.Change{Op: merge.OpRemove, Path: a.path(), Old: q.r}
	if q.l.Value != nil {
		change = merge.Change{Op: merge.OpSet, Path: a.path(), Old: q.r, New: withoutNulls(a.field.Type, q.l)}
	}
	sent, err := merge.Replay(c.result, []merge.Change{change})
	if err != nil {
		return false
	}
	stored, ok := merge.Lookup(merge.Complete(sent, c.typ, true), a.path(), c.typ)
	return ok && made(a.field, change.New, merge.Opt{Value: stored, Set: true}, q.r)
}

// withoutNulls: in a value of a built-in type null is absence, in others it is data.
func withoutNulls(t *merge.Type, v merge.Opt) merge.Opt {
	m, ok := v.Value.(map[string]any)
	if !ok || t != nil && t.Atomic && t.Source != merge.SourceBuiltin {
		return v
	}
	out := map[string]any{}
	for k, e := range m {
		if f, _ := fieldOf(t, k); e != nil {
			out[k] = withoutNulls(f.Type, merge.Opt{Value: e, Set: true}).Value
		}
	}
	return merge.Opt{Value: out, Set: true}
}

// made: each part of v is l's, or what the server stores where l has none.
func made(f merge.Field, l, stored, v merge.Opt) bool {
	if same(l, v, f) || same(stored, v, f) {
		return true
	}
	switch sv := stored.Value.(type) {
	case map[string]any:
		vm, ok := v.Value.(map[string]any)
		lm, _ := l.Value.(map[string]any)
		for _, m := range []map[string]any{sv, vm} {
			for k := range m {
				inner, _ := fieldOf(f.Type, k)
				ok = ok && made(inner, some(lm[k]), some(sv[k]), some(vm[k]))
			}
		}
		return ok
	case []any:
		vl, ok := v.Value.([]any)
		ll, isList := l.Value.([]any)
		if !ok || !isList || len(vl) != len(sv) || len(ll) > len(vl) {
			return false
		}
		entry := merge.Field{Type: f.Type.EntryType()}
		for i := range vl {
			if i < len(ll) && !made(entry, some(ll[i]), some(sv[i]), some(vl[i])) || i >= len(ll) && !same(some(sv[i]), some(vl[i]), entry) {
				return false
			}
		}
		return true
	}
	return false
}
