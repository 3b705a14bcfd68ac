package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// decode reads YAML or JSON into JSON values with exact numbers.
func decode(text []byte) (any, error) {
	j, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	return decodeJSON(j)
}

func decodeJSON(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// mismatch says where got is not as want says, or "". Objects match if every
// field of want does; lists match in length and order. Three words in want:
//
//	$absent            no such field (null counts as none)
//	$unordered: [...]  a list of just these, in any order
//	$contains: [...]   a list with at least these
func mismatch(want, got any, path string) string {
	if want == "$absent" {
		if got != nil {
			return path + ": should be absent, is " + short(got)
		}
		return ""
	}
	switch want := want.(type) {
	case map[string]any:
		if list, ok := only(want, "$contains"); ok {
			return without(list, got, path, false)
		}
		if list, ok := only(want, "$unordered"); ok {
			return without(list, got, path, true)
		}
		return fieldMismatch(want, got, path)
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Sprintf("%s: want %s, is %s", path, short(want), short(got))
		}
		for i := range want {
			if why := mismatch(want[i], list[i], fmt.Sprintf("%s[%d]", path, i)); why != "" {
				return why
			}
		}
		return ""
	default:
		if !sameScalar(want, got) {
			return fmt.Sprintf("%s: want %s, is %s", path, short(want), short(got))
		}
		return ""
	}
}

func fieldMismatch(want map[string]any, got any, path string) string {
	m, ok := got.(map[string]any)
	if !ok {
		return fmt.Sprintf("%s: want %s, is %s", path, short(want), short(got))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) { // so that it is always the same that is reported
		if why := mismatch(want[name], m[name], path+"."+name); why != "" {
			return why
		}
	}
	return ""
}

// only gives the list of an object that has just the one field.
func only(m map[string]any, name string) ([]any, bool) {
	list, ok := m[name].([]any)
	return list, ok && len(m) == 1
}

// without says which entry of want the list lacks, each entry of the list
// counting once; whole asks for as many entries as want has.
func without(want []any, got any, path string, whole bool) string {
	list, ok := got.([]any)
	if !ok || whole && len(list) != len(want) {
		return fmt.Sprintf("%s: want the entries %s, is %s", path, short(want), short(got))
	}
	rest := slices.Clone(list)
	for _, w := range want {
		i := slices.IndexFunc(rest, func(g any) bool { return mismatch(w, g, "") == "" })
		if i < 0 {
			return fmt.Sprintf("%s: lacks %s, is %s", path, short(w), short(got))
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return ""
}

// sameScalar compares numbers by exact value: 2^53 and 2^53+1 differ.
func sameScalar(a, b any) bool {
	na, aok := a.(json.Number)
	nb, bok := b.(json.Number)
	if !aok || !bok {
		return a == b
	}
	x, okx := new(big.Rat).SetString(na.String())
	y, oky := new(big.Rat).SetString(nb.String())
	return okx && oky && x.Cmp(y) == 0
}

func short(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if len(b) > 300 {
		return string(b[:300]) + "..."
	}
	return string(b)
}

// TestMismatch keeps the judge honest: a matcher that lets all through would
// make every story pass.
func TestMismatch(t *testing.T) {
	tests := []struct {
		why, want, got string
		match          bool
	}{
		{"fields that want does not name are free", `a: 1`, `{a: 1, b: 2}`, true},
		{"a missing field is none", `a: 1`, `{b: 2}`, false},
		{"a string is no number", `a: "1"`, `a: 1`, false},
		{"true is no string", `a: "true"`, `a: true`, false},
		{"numbers are exact above 2^53", `a: 9007199254740993`, `a: 9007199254740992`, false},
		{"numbers match by value", `a: 1.0`, `a: 1`, true},
		{"$absent and missing", `a: $absent`, `{}`, true},
		{"$absent and null", `a: $absent`, `a: null`, true},
		{"$absent and an empty string", `a: $absent`, `a: ""`, false},
		{"$absent and a value", `a: $absent`, `a: 0`, false},
		{"a list matches in length", `[1]`, `[1, 2]`, false},
		{"a list matches in order", `[1, 2]`, `[2, 1]`, false},
		{"$unordered in another order", `$unordered: [1, 2]`, `[2, 1]`, true},
		{"$unordered has the length", `$unordered: [1]`, `[1, 2]`, false},
		{"$unordered counts each once", `$unordered: [1, 1]`, `[1, 2]`, false},
		{"$contains leaves the rest free", `$contains: [2]`, `[1, 2]`, true},
		{"$contains nothing of the kind", `$contains: [3]`, `[1, 2]`, false},
		{"$contains in no list", `$contains: [3]`, `{}`, false},
		{"an empty object wants an object", `a: {}`, `a: 1`, false},
	}
	for _, tt := range tests {
		want, err := decode([]byte(tt.want))
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode([]byte(tt.got))
		if err != nil {
			t.Fatal(err)
		}
		if why := mismatch(want, got, ""); (why == "") != tt.match {
			t.Errorf("%s: match %v wanted, said %q", tt.why, tt.match, why)
		}
	}
}
