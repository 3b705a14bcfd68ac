package merge

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Equal reports whether the server would store a and b alike, as far as typ knows;
// a nil typ compares literally (numbers by value). The order of list entries
// counts.
func Equal(a, b any, typ *Type) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalMaps(a, b, typ)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		if len(a) > 0 && &a[0] == &b[0] {
			return true
		}
		elem := typ.EntryType()
		decoded := elem != nil && elem.Kind != Unknown && typ.Source == SourceBuiltin // null into the zero value
		return slices.EqualFunc(a, b, func(x, y any) bool {
			return Equal(x, y, elem) || decoded && (x == nil && isZero(y, elem) || y == nil && isZero(x, elem))
		})
	}
	return equalScalars(a, b, typ)
}

func equalMaps(a, b map[string]any, typ *Type) bool {
	for k, av := range a {
		if !equalOpt(Opt{av, true}, key(b, k), typ.Field(k)) {
			return false
		}
	}
	for k, bv := range b {
		if _, ok := a[k]; !ok && !equalOpt(Opt{}, Opt{bv, true}, typ.Field(k)) {
			return false
		}
	}
	return true
}

func equalScalars(a, b any, typ *Type) bool {
	switch {
	case !IsScalar(a) || !IsScalar(b):
		return false
	case a == nil || b == nil || a == b:
		return a == b
	}
	x, isNumber := a.(json.Number)
	y, too := b.(json.Number)
	return isNumber && too && sameNumber(string(x), string(y)) || typ != nil && typ.Same != nil && typ.Same(a, b)
}

// equalOpt compares two values of one field, either of which may be absent.
func equalOpt(a, b Opt, f Field) bool {
	if Equal(a.Value, b.Value, f.Type) {
		return true
	}
	alike := a.Value == nil || b.Value == nil || IsScalar(a.Value) == IsScalar(b.Value)
	return f.ZeroIsAbsent && alike && isZero(a.Value, f.Type) && isZero(b.Value, f.Type)
}

// isZero reports whether this is the value of an unset Go field of this type.
func isZero(v any, typ *Type) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case json.Number:
		return sameNumber(string(v), "0")
	case []any:
		return len(v) == 0
	case map[string]any:
		if typ == nil || typ.Kind != Object {
			return len(v) == 0
		}
		for k, e := range v {
			if f := typ.Field(k); e != nil && !(f.ZeroIsAbsent && isZero(e, f.Type)) {
				return false
			}
		}
		return true
	}
	return false
}

// HasEntries reports whether v is a map or a list with something in it.
func HasEntries(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	}
	return false
}

// IsScalar reports whether v is neither an object or map nor a list; null is a scalar.
func IsScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// sameNumber compares numbers by value. Exponents that would cost memory to expand are
// compared as text.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	if x, err := strconv.ParseInt(a, 10, 64); err == nil {
		if y, err := strconv.ParseInt(b, 10, 64); err == nil {
			return x == y
		}
	}
	x, ok := number(a)
	y, too := number(b)
	return ok && too && x.Cmp(y) == 0
}

func number(s string) (*big.Rat, bool) {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if e, err := strconv.Atoi(s[i+1:]); err != nil || e > 400 || e < -400 {
			return nil, false
		}
	}
	if len(s) > 1000 {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// PlainNumbers returns v with its numbers as kubectl sends them: int64, or else what encoding/json
// prints of a float64, so that 1e+06 and 3.0 are 1000000 and 3. A whole number that float64 would
// change keeps its digits. v is not modified, and is returned itself where no number changes.
func PlainNumbers(v any) any {
	n, isNumber := v.(json.Number)
	if !isNumber {
		return Rebuilt(v, PlainNumbers)
	}
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		if text := strconv.FormatInt(i, 10); text != string(n) { // +3, -0
			return json.Number(text)
		}
		return v // of every object of a run: nothing is allocated for its copy
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return n
	}
	text, err := json.Marshal(f)
	if r, ok := number(string(n)); err != nil || ok && r.IsInt() && !sameNumber(string(n), string(text)) {
		return n
	}
	return json.Number(text)
}

// some returns a value as an Opt in which null means absence: in original and live, and as a whole
// local, which is no request to remove the object.
func some(v any) Opt { return Opt{Value: v, Set: v != nil} }

// stripNulls removes the nulls from a value that is about to be added, except inside atomic
// values, where null is data. It also removes them there where the type is compiled in, as
// a map of strings would take null for "".
func stripNulls(v any, typ *Type) any {
	switch v := v.(type) {
	case map[string]any:
		if typ != nil && typ.Atomic && typ.Source != SourceBuiltin {
			return v
		}
		return stripMap(v, typ)
	case []any:
		if typ == nil || typ.Kind != Keyed {
			return v
		}
		return Rebuilt(v, func(e any) any { return stripNulls(e, typ.Elem) })
	}
	return v
}

// Rebuilt returns a map or list with what to makes of each value directly in it, without modifying
// it: itself where that is always the value that is there. Any other v is returned as it is.
func Rebuilt(v any, to func(any) any) any {
	switch v := v.(type) {
	case map[string]any:
		out := edited{fields: v}
		for k, e := range v {
			if n := to(e); !shared(n, e) {
				out.put(k, Some(n))
			}
		}
		return out.fields
	case []any:
		out := v
		for i, e := range v {
			if n := to(e); !shared(n, e) {
				if shared(out, v) {
					out = slices.Clone(v)
				}
				out[i] = n
			}
		}
		return out
	}
	return v
}

func stripMap(m map[string]any, typ *Type) map[string]any {
	out := edited{fields: m}
	for k, e := range m {
		s := some(stripNulls(e, typ.Field(k).Type))
		if !s.Set || !shared(s.Value, e) {
			out.put(k, s)
		}
	}
	return out.fields
}

func cloneMap(m map[string]any) map[string]any {
	c := make(map[string]any, len(m)+1)
	maps.Copy(c, m)
	return c
}

// Put returns an object with a value at the path, and the maps, lists and entries on the way that
// are missing. The error names a step that leads into a value of another kind.
func Put(obj map[string]any, path Path, value any) (map[string]any, error) {
	var steps []Change
	for i := 1; i < len(path); i++ {
		if at, ok := Lookup(obj, path[:i], nil); !ok || at == nil {
			steps = append(steps, Change{Op: OpSet, Path: path[:i], New: Some(empty(path[i-1], path[i]))})
		}
	}
	out, err := Replay(obj, append(steps, Change{Op: OpSet, Path: path, New: Some(value)}))
	m, ok := out.(map[string]any)
	if err == nil && !ok {
		err = fmt.Errorf("%s: only an object can stand in place of the object", path)
	}
	return m, err
}

// empty returns a new value at a step, with its identifying keys, to hold the next one.
func empty(at, next Step) any {
	if next.Kind != FieldStep {
		return []any{}
	}
	m := map[string]any{}
	for _, k := range at.Keys {
		if k.Value != nil {
			m[k.Name] = k.Value
		}
	}
	return m
}

// shared reports, at the cost of a pointer comparison, whether a and b are one piece of
// memory (or one scalar). On false, they may still be equal.
func shared(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
	case []any:
		b, ok := b.([]any)
		return ok && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
	}
	return IsScalar(b) && a == b
}

// Identical reports whether a and b are the same JSON value to the letter: absence differs
// from null, numbers are compared by their text. Memory that both share costs one
// comparison of pointers.
func Identical(a, b any) bool {
	if shared(a, b) {
		return true
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, Identical)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Identical)
	}
	return false
}
