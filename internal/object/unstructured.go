package object

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// FromUnstructured returns an object with exact numbers: int64 and float64 become
// json.Number. nil gives an Object whose Value is nil. u is not modified, and shares no
// memory with the result.
//
// It is an error if u holds a Go type that unstructured does not allow. So is a float64
// that may have been rounded when it was decoded (a whole number from 2^53 on). The error
// names object and field, and no value.
func FromUnstructured(u *unstructured.Unstructured) (Object, error) {
	if u == nil || u.Object == nil {
		return Object{}, nil
	}
	v, err := converted(u.Object, nil, fromGo)
	o := Object{Value: merge.At[map[string]any](v)}
	if err != nil {
		return Object{}, fmt.Errorf("%s: %w", Object{Value: u.Object}, err)
	}
	return o, nil
}

func fromGo(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, json.Number:
		return v, nil
	case int64:
		return json.Number(strconv.FormatInt(v, 10)), nil
	case float64:
		return floatNumber(v)
	}
	return nil, fmt.Errorf("is a Go %T: unstructured holds nil, bool, string, int64, float64, map[string]any and []any", v)
}

// Unstructured returns the object for client-go and controller-runtime: whole numbers that fit
// are int64, others float64. The receiver is not modified, and shares no memory with the result.
// It is an error if a number fits neither; it names object and field, and no value.
func (o Object) Unstructured() (*unstructured.Unstructured, error) {
	v, err := converted(o.Value, nil, toGo)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o, err)
	}
	return &unstructured.Unstructured{Object: merge.At[map[string]any](v)}, nil
}

func toGo(v any) (any, error) {
	if n, ok := v.(json.Number); ok {
		return number(n)
	}
	return v, nil
}

// converted returns a value with each that has no parts in the other form; at leads to it.
func converted(v any, at merge.Path, leaf func(any) (any, error)) (out any, err error) {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if m[k], err = converted(v[k], at.Child(merge.Named(k)), leaf); err != nil {
				return nil, err
			}
		}
		return m, nil
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			if l[i], err = converted(e, at.Child(merge.Step{Kind: merge.IndexStep, Index: i}), leaf); err != nil {
				return nil, err
			}
		}
		return l, nil
	}
	if out, err = leaf(v); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return out, nil
}

// Rounded reports whether the API stores another value than text, a JSON number, states: it
// has only int64 and float64. f is the number as float64.
func Rounded(text string, f float64) bool {
	if _, err := strconv.ParseInt(text, 10, 64); err == nil || len(text) < 16 { // float64 keeps any 15 digits
		return false
	}
	was, ok := new(big.Rat).SetString(text)
	if !ok {
		return true
	}
	is, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return !ok || was.Cmp(is) != 0
}

// number returns an int64 or a float64 as unstructured holds it. An error never contains a
// number, since it may be a Secret's.
func number(n json.Number) (any, error) {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return nil, fmt.Errorf("number: is out of the API's range: quote it if it is a string")
	}
	if Rounded(string(n), f) {
		return nil, fmt.Errorf("number: float64 rounds it: quote it if it is a string")
	}
	return f, nil
}

// exactFloats is the value from which float64 cannot hold every whole number, and endInts
// is the first value above int64.
const (
	exactFloats = 1 << 53
	endInts     = 1 << 63
)

// floatNumber returns a float64 of unstructured as text. A whole one between 2^53 and 2^63
// may have been another number before it was decoded as float64, and is an error.
func floatNumber(f float64) (json.Number, error) {
	switch size := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "", fmt.Errorf("float64: is no number of JSON")
	case size >= exactFloats && size < endInts:
		return "", fmt.Errorf("float64: may have been rounded when it was decoded, as whole numbers from 2^53 on are: decode them as int64 (k8s.io/apimachinery/pkg/util/json does)")
	}
	text, err := json.Marshal(f)
	return json.Number(text), err
}
