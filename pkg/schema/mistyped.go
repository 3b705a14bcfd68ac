package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Mistyped is a value that the server would refuse to decode.
type Mistyped struct {
	Path merge.Path
	Want string // a string, a number, true or false, a list, a mapping
	Is   string // the number 8, the boolean true; only where a string is wanted, else ""
	Fix  string // what to do about it (write 3, quote it), "" where that cannot be known
	As   any    // the value as one of the wanted type, nil where there is none
}

// MistypedIn lists the values in v that are not of the type that t declares, in path
// order; nil where there are none. Nulls, and values of which t says nothing (custom
// resources' scalars, free-form JSON), are of any type.
//
// Rule: encoding/json of the API's Go types, which is strict.
func MistypedIn(t *merge.Type, v any) []Mistyped {
	if wellTyped(t, v) {
		return nil
	}
	var out []Mistyped
	mistyped(t, v, nil, &out)
	return out
}

// wellTyped is asked about every object of a run, and allocates nothing.
func wellTyped(t *merge.Type, v any) bool {
	if t == nil || v == nil || t.Kind == merge.Unknown {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		if t.Kind != merge.Object && t.Kind != merge.Map {
			return false
		}
		for name, e := range v {
			if !wellTyped(t.Field(name).Type, e) {
				return false
			}
		}
		return true
	case []any:
		if !isList(t) {
			return false
		}
		for _, e := range v {
			if !wellTyped(t.Elem, e) {
				return false
			}
		}
		return true
	}
	if t.Kind != merge.Scalar {
		return false
	}
	want, _ := scalarAs(t, v)
	return want == ""
}

func mistyped(t *merge.Type, v any, at merge.Path, out *[]Mistyped) {
	if t == nil || v == nil {
		return
	}
	m, isMap := v.(map[string]any)
	list, isA := v.([]any)
	switch t.Kind {
	case merge.Object, merge.Map:
		if !isMap {
			*out = append(*out, Mistyped{Path: at, Want: "a mapping"})
			return
		}
		for _, name := range slices.Sorted(maps.Keys(m)) {
			mistyped(t.Field(name).Type, m[name], at.Child(merge.Named(name)), out)
		}
	case merge.List, merge.Keyed, merge.Set:
		if !isA {
			*out = append(*out, Mistyped{Path: at, Want: "a list"})
			return
		}
		for i := range list {
			mistyped(t.Elem, list[i], at.Child(EntryStep(t, list, i)), out)
		}
	case merge.Scalar:
		if want, fix := scalarAs(t, v); want != "" {
			*out = append(*out, Mistyped{Path: at, Want: want, Is: unquoted(t, v), Fix: fix, As: fitting(t, v)})
		}
	}
}

// fitting is v as a value of type t: text for a number or a boolean, and what a text spells.
func fitting(t *merge.Type, v any) any {
	switch text, isText := v.(string); {
	case t == leaves["string"]:
		return spelled(v)
	case t == leaves["number"] && isText:
		if _, err := strconv.ParseInt(text, 10, 64); err == nil && json.Valid([]byte(text)) {
			return json.Number(text)
		}
	case t == leaves["boolean"] && isText:
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	}
	return nil
}

func spelled(v any) any {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	}
	return nil
}

// scalarAs is what v should be, "" where it is; fix is how to get there.
func scalarAs(t *merge.Type, v any) (want, fix string) {
	switch t {
	case leaves["string"], leaves["bytes"], leaves["time"], leaves["microtime"], leaves["duration"]:
		return asString(t, v)
	case leaves["number"]:
		return asNumber(v)
	case leaves["boolean"]:
		return asBoolean(v)
	case leaves["int-or-string"], leaves["quantity"]:
		switch v.(type) {
		case string, json.Number:
			return "", ""
		}
		return "a string or a number", ""
	}
	return "", ""
}

// asString advises no text to write: what a file has (010, yes, 1e3) cannot be known from
// the value that YAML has read (8, true, 1000).
func asString(t *merge.Type, v any) (want, fix string) {
	if _, ok := v.(string); ok {
		return "", ""
	}
	if unquoted(t, v) != "" {
		fix = "quote it"
	}
	return "a string", fix
}

// unquoted is what v is where t is a string, "" where v is no boolean and no number.
func unquoted(t *merge.Type, v any) string {
	if t != leaves["string"] {
		return ""
	}
	switch v := v.(type) {
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case json.Number:
		return "the number " + v.String()
	}
	return ""
}

func asNumber(v any) (want, fix string) {
	switch v := v.(type) {
	case json.Number:
		return "", ""
	case string:
		if _, err := strconv.ParseInt(v, 10, 64); err == nil {
			fix = "write " + v
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
			fix = "write " + strconv.FormatBool(b)
		}
	}
	return "true or false", fix
}
