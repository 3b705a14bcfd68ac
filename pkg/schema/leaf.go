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
	"number":        {Kind: merge.Scalar},
	"boolean":       {Kind: merge.Scalar},
	"int-or-string": {Kind: merge.Scalar},
	"bytes":         {Kind: merge.Scalar, Same: sameBytes},
	"quantity":      {Kind: merge.Scalar, Same: sameQuantity},
	"time":          {Kind: merge.Scalar, Same: sameTime},
	"microtime":     {Kind: merge.Scalar, Same: sameMicroTime},
	"duration":      {Kind: merge.Scalar, Same: sameDuration},
}

// sameQuantity compares quantities. The server writes every quantity in its canonical form,
// so "1000m", "1" and 1 are stored alike, but "1Gi" and "1073741824" are not.
func sameQuantity(a, b any) bool {
	x, ok := canonicalQuantity(a)
	y, ok2 := canonicalQuantity(b)
	return ok && ok2 && x == y
}

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

// sameTime compares times. A metav1.Time is stored in whole seconds of UTC.
func sameTime(a, b any) bool {
	x, ok := readTime(a)
	y, ok2 := readTime(b)
	return ok && ok2 && x.Unix() == y.Unix()
}

// sameMicroTime compares times. A metav1.MicroTime is stored in microseconds.
func sameMicroTime(a, b any) bool {
	x, ok := readTime(a)
	y, ok2 := readTime(b)
	return ok && ok2 && x.UnixMicro() == y.UnixMicro()
}

func readTime(v any) (time.Time, bool) {
	text, ok := v.(string)
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, err == nil
}

func sameDuration(a, b any) bool {
	x, ok := readDuration(a)
	y, ok2 := readDuration(b)
	return ok && ok2 && x == y
}

func readDuration(v any) (time.Duration, bool) {
	text, ok := v.(string)
	if !ok {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

// sameBytes compares base64. A []byte is stored decoded; line breaks in its base64 are lost.
func sameBytes(a, b any) bool {
	x, ok := readBytes(a)
	y, ok2 := readBytes(b)
	return ok && ok2 && bytes.Equal(x, y)
}

func readBytes(v any) ([]byte, bool) {
	text, ok := v.(string)
	if !ok {
		return nil, false
	}
	data, err := base64.StdEncoding.DecodeString(text)
	return data, err == nil
}
