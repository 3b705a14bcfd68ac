package yamldoc

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// texts are read by us and by kubectl's reader, which must agree.
var texts = []struct{ why, text string }{
	{"nothing", ""},
	{"only a comment", "# hello\n"},
	{"a scalar", "hello\n"},
	{"a scalar over lines at column 0", "hello\nworld\n"},
	{"a mapping", "a: 1\nb: two\n"},
	{"no newline at the end", "a: 1\nb: two"},
	{"CRLF", "a: 1\r\nb:\r\n  - x\r\n  - y\r\n"},
	{"CRLF in a literal", "a: |\r\n  x\r\n  y\r\nb: 1\r\n"},
	{"a byte order mark", "\ufeffa: 1\n"},
	{"nested mappings, odd indentation", "a:\n   b:\n      c: 1\n   d: 2\ne: 3\n"},
	{"list not indented under its key", "a:\n- 1\n- 2\nb: 3\n"},
	{"list indented under its key", "a:\n  - 1\n  - 2\nb: 3\n"},
	{"list of lists", "- - 1\n  - 2\n- - 3\n"},
	{"list of mappings", "- a: 1\n  b: 2\n- c: 3\n"},
	{"dash alone, value below", "-\n  a: 1\n-\n  - 2\n"},
	{"dashes far from their values", "-   a: 1\n    b: 2\n-    c\n"},
	{"missing values", "a:\nb:\n  c:\n  d:\n- \n"},
	{"missing values are null", "a:\nb:\n  c:\n  d:\ne: 1\n"},
	{"missing list entries are null", "a:\n-\n- 1\n-\n"},
	{"yaml 1.1 booleans", "a: yes\nb: No\nc: on\nd: OFF\ne: y\nf: n\ng: true\nh: False\ni: yEs\n"},
	{"nulls", "a: ~\nb: null\nc: NULL\nd: Null\ne: nULL\n"},
	{"octal, hexadecimal, binary, underscores", "a: 0777\nb: 0x1F\nc: 0b11\nd: 1_000\ne: -0b11\nf: 0o17\ng: 08\nh: -010\n"},
	{"keys that are fractions as they are written", "01008000: a\n08: b\n1008000: c\n-0b11: d\n!!float 2008000: e\n"},
	{"numbers", "a: 1\nb: -1\nc: +1\nd: 1.5\ne: .5\nf: 1e3\ng: -1.5E-3\nh: 1.\ni: 0\nj: -0\nk: 12e03\nl: 1.e2\nm: -.5\n"},
	{"large integers", "a: 9007199254740993\nb: 18446744073709551615\nc: -9223372036854775808\n"},
	{"what only looks like a number", "a: 1.2.3\nb: 1e\nc: 0x\nd: 1e999\ne: 1:20\nf: --1\ng: 1-2\nh: .\ni: ..\nj: -\nk: +\n"},
	{"dates are text", "a: 2001-01-01\nb: 2001-12-14t21:59:43.10-05:00\n"},
	{"equals sign", "a: =\nb: <\n"},
	{"quotes", "a: 'it''s'\nb: \"tab\\there\"\nc: '1'\nd: \"yes\"\n"},
	{"escapes", `a: "\0\a\b\t\n\v\f\r\e\ \"\'\\\N\_\L\P\x41\u00e9\U0001F600"` + "\n"},
	{"quotes over lines", "a: 'one\n  two\n\n  three'\nb: \"one\n  two\\\n  three\\n\n\n  four\"\n"},
	{"quotes that do not indent", "a: 'one\ntwo'\nb: 1\n"},
	{"white space inside quotes is kept", "a: ' x  y '\nb: \"\\tx \"\n"},
	{"a plain scalar over lines", "a: one\n  two\n\n  three # c\nb: 1\n"},
	{"comments everywhere", "# a\na: 1 # b\n# c\nb: # d\n  # e\n  c: 2\n# f\n"},
	{"hash without space is no comment", "a: b#c\nd: 'e'#f\n"},
	{"colon without space is no key", "a: b:c\nd: http://x/y:z\n"},
	{"key with colon inside", "a:b: 1\n\"c: d\": 2\n'e': 3\n"},
	{"keys that are not text", "1: a\n1.5: c\non: d\n0x10: e\n"},
	{"key with spaces", "a b: 1\nc d : 2\n\"e\" : 3\n"},
	{"literal", "a: |\n  one\n    two\n\n  three\nb: 1\n"},
	{"literal, strip", "a: |-\n  one\n  two\n\nb: 1\n"},
	{"literal, keep", "a: |+\n  one\n\n\nb: 1\n"},
	{"literal, keep, at the end", "a: |+\n  one\n\n\n"},
	{"literal without a last newline", "a: |\n  one"},
	{"literal with indentation", "a: |2\n    one\n   two\nb: |1-\n  x\n"},
	{"literal with both indicators in either order", "a: |-2\n    one\nb: |2-\n    one\n"},
	{"literal with a comment", "a: | # c\n  one\n"},
	{"literal, empty", "a: |\nb: |+\nc: >-\nd: 1\n"},
	{"literal with empty lines first", "a: |\n\n\n  one\n"},
	{"literal with spaces on an empty line", "a: |\n  one\n     \n  two\n   \nb: 1\n"},
	{"literal in a list", "- |\n one\n- |\n  two\n"},
	{"literal at the root", "|\n one\n two\n"},
	{"literal with a tab", "a: |\n  \tone\n  two\tthree\n"},
	{"literal, then a comment less indented", "a: |\n  one\n # c\nb: 1\n"},
	{"folded", "a: >\n  one\n  two\n\n  three\n    four\n  five\n\n\n  six\nb: 1\n"},
	{"folded, strip and keep", "a: >-\n  one\n  two\n\nb: >+\n  one\n  two\n\n\nc: 1\n"},
	{"flow", "a: [1, two, 'three', \"four\", [5], {six: 7}]\nb: {c: 1, d: , e, \"f\":2, 'g': 3}\nc: []\nd: {}\n"},
	{"flow over lines", "a: [1,\n  2, # c\n\n3\n]\nb: {\n  c: 1,\n  d: [\n    2\n  ],\n}\n"},
	{"flow, plain over lines", "a: [one\n  two, three]\n"},
	{"flow with odd plain scalars", "a: [a:b, -1, -a, :x]\nb: {a:b: 1}\n"},
	{"flow, key without a value at the end", "a: {b:}\nc: {d: }\n"},
	{"json", "{\"a\": 1, \"b\": [true, null], \"c\": {\"d\": \"\\u00e9\"}}\n"},
	{"json over lines with tabs", "{\n\t\"a\": 1,\n\t\"b\": [\n\t\t2\n\t]\n}\n"},
	{"anchors", "a: &x 1\nb: *x\nc: &y\n  d: *x\ne: *y\nf: &z [1, *x]\ng: [*z]\n"},
	{"anchor twice", "a: &x 1\nb: *x\nc: &x 2\nd: *x\n"},
	{"anchor inside its namesake", "a: &x {b: &x 1}\nc: *x\n"},
	{"anchor on a list under its key", "a: &x\n- 1\nb: *x\n"},
	{"anchor on a key", "&k a: 1\nb: *k\n"},
	{"anchor on the first key of a list entry", "- &k a: 1\n  b: *k\n"},
	{"anchor on a missing value", "a: &x\nb: *x\nc: [&y , *y]\n"},
	{"anchor on the root", "&r\na: 1\n"},
	{"merge key", "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n"},
	{"merge key behind a key it has", "a: &x {b: 1, c: 2}\nd:\n  c: 3\n  <<: *x\n"},
	{"merge key with several", "a: &x {b: 1, c: 2}\ne: &y {b: 5, f: 6}\nd:\n  <<: [*x, *y]\n"},
	{"merge key with a mapping", "a:\n  <<: {b: 1}\n"},
	{"quoted merge key is a key", "a:\n  \"<<\": {b: 1}\n"},
	{"tags", "a: !!str 1\nb: !!int \"5\"\nc: !!float 1\nd: !!bool yes\ne: !!null ''\nf: !foo bar\ng: !!binary aGVsbG8=\nh: !!map {a: 1}\ni: !!seq\n- 1\nj: ! 5\nk: !<tag:yaml.org,2002:str> 7\n"},
	{"tag and anchor in either order", "a: !!str &x 1\nb: &y !!str 2\nc: [*x, *y]\n"},
	{"document start", "---\na: 1\n"},
	{"document start with a comment", "--- # c\na: 1\n"},
	{"document start with a value", "--- {a: 1}\n"},
	{"document start with a literal", "--- |\n one\n"},
	{"directive", "%YAML 1.1\n---\na: 1\n"},
	{"document end", "a: 1\n...\n"},
	{"document end in the middle", "a: 1\n...\n---\nb: 1\n"},
	{"several documents", "a: 1\n---\nb: 2\n"},
	{"dashes that are no document start", "a: |\n  ---\nb: ---x\n---x: 1\n"},
	{"tab behind a colon", "a:\t1\nb: \t2\t# c\n"},
	{"a tab that indents", "a:\n\tb: 1\n"},
	{"a tab behind a dash", "-\ta\n"},
	{"duplicate keys", "a: 1\nb: 2\na: 3\n"},
	{"two colons on one line", "a: b: c\n"},
	{"list on its key's line", "a: - b\n"},
	{"bad indentation", "a:\n    b: 1\n  c: 2\n"},
	{"deeper neighbour", "a: 1\n  b: 2\n"},
	{"unclosed", "a: [1, 2\nb: 3\n"},
	{"unclosed quote", "a: \"x\nb: 3\n"},
	{"unknown alias", "a: *x\n"},
	{"alias in its own value", "a: &x [*x]\n"},
	{"text behind a quote", "a: 'b' c\n"},
	{"reserved characters", "a: @b\n"},
	{"backtick", "a: `b`\n"},
	{"percent", "a: %b\n"},
	{"helm template", "a: {{ .Values.a }}\n"},
	{"helm block", "{{- if .Values.a }}\na: 1\n{{- end }}\n"},
	{"infinity", "a: .inf\n"},
	{"null key", "~: 1\n"},
	{"non-printing", "a: \x01\n"},
	{"not UTF-8", "a: \xff\n"},
	{"unicode", "a: grüße 世界 😀\nключ: значение\n"},
	{"unicode keys and plain continuation", "é: ü\n  ö\n"},
	{"question mark inside", "a: what?\nb: ?x\nc: [a?]\n"},
	{"root list with comments", "# x\n- a # y\n# z\n- b\n"},
	{"seq in map in seq, not indented", "- a:\n  - b: 1\n    c:\n    - d\n  e: 2\n"},
}

// theirs is what kubectl's reader makes of the first document.
func theirs(text string) (any, error) {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	return merge.ReadJSON(data)
}

func TestReadAsKubectl(t *testing.T) {
	refused := 0
	for _, c := range texts {
		want, theirErr := theirs(c.text)
		f, err := Parse([]byte(c.text))
		switch {
		case err != nil && theirErr != nil:
		case err != nil:
			refused++
			t.Logf("%s: only we refuse: %v", c.why, err)
		case theirErr != nil:
			t.Errorf("%s: only kubectl refuses %q: %v", c.why, c.text, theirErr)
		default:
			if got := f.Documents()[0].Value(); !alike(got, want) {
				t.Errorf("%s: %q:\n got %s\nwant %s", c.why, c.text, show(got), show(want))
			}
		}
	}
	t.Logf("%d texts, %d of them refused by us alone", len(texts), refused)
}

// alike compares as merge.Equal does, but numbers as float64, which is all that
// kubectl's reader keeps of a fraction.
func alike(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		if !ok {
			return false
		}
		x, err1 := a.Float64()
		y, err2 := b.Float64()
		return a == b || err1 == nil && err2 == nil && x == y
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !alike(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if _, ok := b[k]; !ok || !alike(a[k], b[k]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func FuzzReadAsKubectl(f *testing.F) {
	for _, c := range texts {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ours, err := Parse([]byte(text))
		if err != nil {
			return // a refusal is always safe; the table says what must be read
		}
		first := ours.Documents()[0]
		if strings.HasPrefix(strings.TrimSpace(text), "{") {
			return // read as JSON by kubectl, with other escapes
		}
		want, err := theirs(text)
		if err != nil {
			t.Fatalf("only kubectl refuses %q: %v", text, err)
		}
		if !alike(first.Value(), want) {
			t.Fatalf("%q:\n got %s\nwant %s", text, show(first.Value()), show(want))
		}
	})
}
