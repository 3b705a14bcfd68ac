package schema

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Mistyped is a value that the server would refuse to decode.
type Mistyped struct {
	Path merge.Path
	Want string // "" where it may be a text, and spells a number; a string, a number, a whole number, true or false, a list, a mapping, a quantity, a time, Base64
	Fix  string // how the value can be written instead, "" where that cannot be known
}

// Base64 is the type of a text that the server stores decoded, as a Secret's data.
const Base64 = "base64"

// MistypedIn lists the values in v that are not of the type that t declares, and texts that
// spell a number where t takes both, in path order; nil where there are none, for which nothing is allocated. Nulls, and values that t
// does not describe (custom resources' scalars, free-form JSON), are of any type.
//
// Rule: encoding/json of the API's Go types, which is strict.
func MistypedIn(t *merge.Type, v any) []Mistyped {
	if t == nil || v == nil {
		return nil
	}
	_, isMap := v.(map[string]any)
	_, isA := v.([]any)
	switch {
	case !isMap && (t.Kind == merge.Object || t.Kind == merge.Map):
		return []Mistyped{{Want: "a mapping"}}
	case !isA && isList(t):
		return []Mistyped{{Want: "a list"}}
	case t.Kind == merge.Scalar:
		if want, fix := scalarAs(t, v); want != "" || fix != "" {
			return []Mistyped{{Want: want, Fix: fix}}
		}
	case t.Kind != merge.Unknown:
		return inParts(t, v, func(_ string, t *merge.Type, e any) []Mistyped { return MistypedIn(t, e) }, func(w *Mistyped) *merge.Path { return &w.Path })
	}
	return nil
}

// inParts returns what there is in the fields, keys or entries of a value of type t, in path order. The path of each,
// which at finds, begins at the part, and then at the value: steps are made only where there is something.
func inParts[T any](t *merge.Type, v any, in func(name string, t *merge.Type, v any) []T, at func(*T) *merge.Path) (out []T) {
	add := func(to merge.Step, w T) {
		*at(&w) = append(merge.Path{to}, *at(&w)...)
		out = append(out, w)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			for _, w := range in(name, t.Field(name).Type, e) {
				add(merge.Named(name), w)
			}
		}
		slices.SortStableFunc(out, func(a, b T) int { return strings.Compare((*at(&a))[0].Name, (*at(&b))[0].Name) })
	case []any:
		var steps []merge.Step
		for i, e := range v {
			for _, w := range in("", t.EntryType(), e) {
				if steps == nil {
					steps = EntrySteps(t, v)
				}
				add(steps[i], w)
			}
		}
	}
	return out
}

// scalarAs returns what v should be, "" where it is that; fix is v written as that.
func scalarAs(t *merge.Type, v any) (want, fix string) {
	switch t {
	case leaves["bytes"]:
		_, isText := v.(string)
		if _, ok := readBytes(v); isText && !ok {
			return Base64, ""
		}
		return asString(t, v)
	case leaves["microtime"]:
		if text, ok := v.(string); ok {
			return asMicroTime(text)
		}
		return asString(t, v)
	case leaves["string"], leaves["time"], leaves["duration"]:
		return asString(t, v)
	case leaves["number"], leaves["fraction"]:
		return asNumber(t, v)
	case leaves["boolean"]:
		return asBoolean(v)
	case leaves["int-or-string"], leaves["quantity"]:
		if text, ok := v.(string); ok && t == leaves["quantity"] {
			return asQuantity(text)
		}
		switch v.(type) {
		case string:
			_, fix = asNumber(t, v)
			return "", fix
		case json.Number:
			return "", ""
		}
		return "a string or a number", ""
	}
	return "", ""
}

const microTime = "2006-01-02T15:04:05.000000Z07:00" // metav1.RFC3339Micro

// asMicroTime reports a text that a metav1.MicroTime cannot be read from: it needs its six decimals.
func asMicroTime(text string) (want, fix string) {
	if _, err := time.Parse(microTime, text); err == nil || text == "" {
		return "", ""
	}
	if t, ok := readTime(text); ok {
		fix = t.Format(microTime)
	}
	return "a time with six decimals, as 2026-01-31T08:00:00.000000Z", fix
}

// asQuantity reports a text that is not a quantity.
func asQuantity(text string) (want, fix string) {
	if _, ok := canonicalQuantity(text); ok || len(text) > maxQuantity {
		return "", ""
	}
	if joined := strings.TrimSuffix(strings.ReplaceAll(strings.Join(strings.Fields(text), ""), ",", "."), "B"); joined != text {
		if _, ok := canonicalQuantity(joined); ok {
			fix = joined
		}
	}
	return "a quantity, as 100m, 0.5 or 2Gi", fix
}

func asString(t *merge.Type, v any) (want, fix string) {
	switch v := v.(type) {
	case string:
		return "", ""
	case bool:
		fix = strconv.Quote(strconv.FormatBool(v))
	case json.Number:
		fix = strconv.Quote(v.String())
	}
	if t != leaves["string"] {
		fix = ""
	}
	return "a string", fix
}

func asNumber(t *merge.Type, v any) (want, fix string) {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && f != math.Trunc(f) && t == leaves["number"] {
			return "a whole number", ""
		}
		return "", ""
	case string:
		if _, err := strconv.ParseInt(v, 10, 64); err == nil {
			fix = v
		}
	}
	return "a number", fix
}

func asBoolean(v any) (want, fix string) {
	switch v := v.(type) {
	case bool:
		return "", ""
	case string:
		if b, err := strconv.ParseBool(v); err == nil {
			fix = strconv.FormatBool(b)
		}
	}
	return "true or false", fix
}

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
	if n, isNumber := merge.PlainNumbers(v).(json.Number); isNumber { // 1e9 is sent, and stored, as 1000000000
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

// Unknown lists the fields of v that t does not declare, in path order; nil where t
// declares every field of v, for which nothing is allocated. Free maps, open objects and
// values without a type declare everything. A null counts as a field.
func Unknown(t *merge.Type, v any) []merge.Path {
	_, isMap := v.(map[string]any)
	if t == nil || isMap && t.Kind != merge.Object && t.Kind != merge.Map || !isMap && !isList(t) {
		return nil
	}
	return inParts(t, v, func(name string, of *merge.Type, e any) []merge.Path {
		if _, declared := t.Fields[name]; t.Kind == merge.Object && !declared && !t.Open {
			return []merge.Path{nil}
		}
		return Unknown(of, e)
	}, func(p *merge.Path) *merge.Path { return p })
}

// The directives of a strategic merge patch, each a key of a mapping; the last two end in
// the name of a list of the same mapping.
//
// Rules: the Kubernetes community's strategic-merge-patch.md.
const (
	PatchDirective   = "$patch"
	RetainDirective  = "$retainKeys"
	OrderDirective   = "$setElementOrder/"
	ExcludeDirective = "$deleteFromPrimitiveList/"
)

// IsDirective reports whether a key is one of these directives.
func IsDirective(key string) bool {
	return key == PatchDirective || key == RetainDirective || strings.HasPrefix(key, OrderDirective) || strings.HasPrefix(key, ExcludeDirective)
}

func isList(t *merge.Type) bool {
	return t.Kind == merge.List || t.Kind == merge.Keyed || t.Kind == merge.Set
}

// EntrySteps lead to the entries of a list of type t, which may be nil: by their keys where they
// have any, in a set by their value, else by their index.
func EntrySteps(t *merge.Type, list []any) []merge.Step {
	out := make([]merge.Step, len(list))
	seen := map[string]int{}
	for i, e := range list {
		out[i] = merge.Step{Kind: merge.IndexStep, Index: i}
		if _, isMap := e.(map[string]any); t != nil && (t.Kind == merge.Set || t.Kind == merge.Keyed && isMap) {
			if s := merge.StepOf(t, e, 0); !slices.ContainsFunc(s.Keys, noScalar) {
				out[i] = s
			}
		}
		id := out[i].String()
		if seen[id]++; seen[id] > 1 {
			out[i].Nth = seen[id]
		}
	}
	return out
}

// noScalar reports whether the key has a value that a path could not distinguish.
func noScalar(k merge.KeyPart) bool { return !merge.IsScalar(k.Value) }

// FieldAt returns what t states about the value at a path; ok is false where t
// does not declare it. The empty path is the object itself.
func FieldAt(t *merge.Type, p merge.Path) (f merge.Field, ok bool) {
	f = merge.Field{Type: t}
	for _, s := range p {
		switch t := f.Type; {
		case t == nil || t.Kind == merge.Unknown:
			return merge.Field{}, true
		case t.Kind == merge.Scalar || isList(t) == (s.Kind == merge.FieldStep):
			return merge.Field{}, false
		case t.Kind != merge.Object:
			f = merge.Field{Type: t.Elem}
		default:
			if f, ok = t.Fields[s.Name]; !ok && !t.Open {
				return merge.Field{}, false
			}
		}
	}
	return f, true
}
