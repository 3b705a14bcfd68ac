package object

import (
	"encoding/json"
	"fmt"
	"maps"
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
	v, err := fromGo(u.Object, nil)
	m, _ := v.(map[string]any)
	o := Object{Value: m}
	if err != nil {
		return Object{}, fmt.Errorf("%s: %w", Object{Value: u.Object}, err)
	}
	return o, nil
}

func fromGo(v any, at merge.Path) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, json.Number:
		return v, nil
	case int64:
		return json.Number(strconv.FormatInt(v, 10)), nil
	case float64:
		n, err := floatNumber(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		return n, nil
	case map[string]any:
		return eachValue(v, at, fromGo)
	case []any:
		return eachEntry(v, at, fromGo)
	}
	return nil, fmt.Errorf("%s: is a Go %T: unstructured holds nil, bool, string, int64, float64, map[string]any and []any", at, v)
}

// Unstructured returns the object for client-go and controller-runtime: whole numbers that fit
// are int64, others float64. The receiver is not modified, and shares no memory with the result.
// It is an error if a number fits neither; it names object and field, and no value.
func (o Object) Unstructured() (*unstructured.Unstructured, error) {
	v, err := toGo(o.Value, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o, err)
	}
	m, _ := v.(map[string]any)
	return &unstructured.Unstructured{Object: m}, nil
}

func toGo(v any, at merge.Path) (any, error) {
	switch v := v.(type) {
	case json.Number:
		n, err := number(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		return n, nil
	case map[string]any:
		return eachValue(v, at, toGo)
	case []any:
		return eachEntry(v, at, toGo)
	}
	return v, nil
}

// convert returns one value in the other form; at leads to it.
type convert func(v any, at merge.Path) (any, error)

func eachValue(m map[string]any, at merge.Path, to convert) (any, error) {
	out := make(map[string]any, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		v, err := to(m[k], at.Child(merge.Named(k)))
		if err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, nil
}

func eachEntry(l []any, at merge.Path, to convert) (any, error) {
	out := make([]any, len(l))
	for i, e := range l {
		v, err := to(e, at.Child(merge.Step{Kind: merge.IndexStep, Index: i}))
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}
