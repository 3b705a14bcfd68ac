package schema

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// leaves are the scalars of the built-in types. "any" is JSON of any form, as in
// RawExtension and a CRD's default: one value, as for the API server.
var leaves = map[string]*merge.Type{
	"any":           {Kind: merge.Unknown, Atomic: true},
	"string":        {Kind: merge.Scalar},
	"number":        {Kind: merge.Scalar}, // a whole one
	"fraction":      {Kind: merge.Scalar},
	"boolean":       {Kind: merge.Scalar},
	"int-or-string": {Kind: merge.Scalar},
	// A []byte is stored decoded; line breaks in its base64 are lost.
	"bytes": {Kind: merge.Scalar, Same: same(readBytes, bytes.Equal)},
	// The server writes every quantity in its canonical form, so "1000m", "1" and 1 are stored
	// alike, but "1Gi" and "1073741824" are not.
	"quantity": {Kind: merge.Scalar, Same: same(canonicalQuantity, equal)},
	// A metav1.Time is stored in whole seconds of UTC, a metav1.MicroTime in microseconds.
	"time":      {Kind: merge.Scalar, Same: same(readTime, func(a, b time.Time) bool { return a.Unix() == b.Unix() })},
	"microtime": {Kind: merge.Scalar, Same: same(readTime, func(a, b time.Time) bool { return a.UnixMicro() == b.UnixMicro() })},
	"duration":  {Kind: merge.Scalar, Same: same(readDuration, equal)},
}

// same compares what read makes of two leaves. One that it cannot read is like no other.
func same[T any](read func(any) (T, bool), alike func(a, b T) bool) func(a, b any) bool {
	return func(a, b any) bool {
		x, ok := read(a)
		y, ok2 := read(b)
		return ok && ok2 && alike(x, y)
	}
}

func equal[T comparable](a, b T) bool { return a == b }

// maxQuantity is the maximum length of a quantity that is parsed: the longest sensible one
// is far shorter, and parsing an exponent without bound costs memory without bound.
const maxQuantity = 64

func canonicalQuantity(v any) (string, bool) {
	text, ok := v.(string)
	if n, isNumber := v.(json.Number); isNumber {
		text, ok = n.String(), true
	}
	if !ok || len(text) > maxQuantity {
		return "", false
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return "", false
	}
	return q.String(), true
}

func readTime(v any) (time.Time, bool) {
	return readText(v, func(text string) (time.Time, error) { return time.Parse(time.RFC3339Nano, text) })
}

func readDuration(v any) (time.Duration, bool) { return readText(v, time.ParseDuration) }

func readBytes(v any) ([]byte, bool) { return readText(v, base64.StdEncoding.DecodeString) }

func readText[T any](v any, parse func(string) (T, error)) (out T, ok bool) {
	text, ok := v.(string)
	if !ok {
		return out, false
	}
	out, err := parse(text)
	return out, err == nil
}
