package source

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	n := func(s string) json.Number { return json.Number(s) }
	for _, tt := range []struct {
		reason, in string
		want       []any
	}{
		{"an empty file has no documents", "", nil},
		{"comments, separators and directives are no documents", "%YAML 1.1\n---\n# only a comment\n---\n...\n", nil},
		{"empty documents between others are skipped", "---\n---\na: 1\n---\n\n---\nb: 2\n", []any{map[string]any{"a": n("1")}, map[string]any{"b": n("2")}}},
		{"a byte order mark is no key", "\xef\xbb\xbfa: x\n", []any{map[string]any{"a": "x"}}},
		{"byte order marks of files that were put together", "\xef\xbb\xbfa: x\n---\n\xef\xbb\xbfb: w\n\xef\xbb\xbf---\nc: z\n", []any{map[string]any{"a": "x"}, map[string]any{"b": "w"}, map[string]any{"c": "z"}}},
		{"UTF-16, as PowerShell writes it", "\xff\xfea\x00:\x00 \x00\xfc\x00\n\x00", []any{map[string]any{"a": "ü"}}},
		{"UTF-16 of the other order", "\xfe\xff\x00a\x00:\x00 \x00b", []any{map[string]any{"a": "b"}}},
		{"CRLF ends lines", "a: x\r\nb: |\r\n  one\r\n  two\r\n", []any{map[string]any{"a": "x", "b": "one\ntwo\n"}}},
		{"--- inside a block scalar is text", "a: |\n  ---\n  b\n", []any{map[string]any{"a": "---\nb\n"}}},
		{"YAML 1.1 words are booleans, as kubectl reads them", "a: [yes, No, on, OFF, y, 'yes']\n", []any{map[string]any{"a": []any{true, false, true, false, true, "yes"}}}},
		{"integers in every base", "a: [0777, 0x1F, 0b11, 1_000, +5, -0, 0o17]\n", []any{map[string]any{"a": []any{n("511"), n("31"), n("3"), n("1000"), n("5"), n("0"), n("15")}}}},
		{"fractions keep their digits", "a: [1.10, .5, 5., 1e3, +2.5, 007.5]\n", []any{map[string]any{"a": []any{n("1.10"), n("0.5"), n("5"), n("1e3"), n("2.5"), n("7.5")}}}},
		{"a fraction may have more digits than the API keeps", "a: 0.1234567890123456789\n", []any{map[string]any{"a": n("0.1234567890123456789")}}},
		{"a zero has no sign, which kubectl's reader loses as well", "a: [-0.0, -0, -.0e3]\n", []any{map[string]any{"a": []any{n("0.0"), n("0"), n("0.0e3")}}}},
		{"2^53+1 is not rounded", "a: 9007199254740993\n", []any{map[string]any{"a": n("9007199254740993")}}},
		{"the largest and smallest integers of the API", "a: [9223372036854775807, -9223372036854775808]\n", []any{map[string]any{"a": []any{n("9223372036854775807"), n("-9223372036854775808")}}}},
		{"a float that float64 holds exactly may be long", "a: 100000000000000000000\n", []any{map[string]any{"a": n("100000000000000000000")}}},
		{"dates and versions are strings", "a: [2024-01-02, 1.2.3, 12:30:45, 1e, _1, 08]\n", []any{map[string]any{"a": []any{"2024-01-02", "1.2.3", "12:30:45", "1e", "_1", n("8")}}}},
		{"null in every spelling", "a: [~, null, '', ]\nb:\n", []any{map[string]any{"a": []any{nil, nil, ""}, "b": nil}}},
		{"keys that are no strings are spelled out", "1: a\ntrue: b\n2.5: d\n", []any{map[string]any{"1": "a", "true": "b", "2.5": "d"}}},
		{"aliases and merge keys", "x: &x {a: 1, b: 2}\nm: {<<: *x, b: 3}\nz: *x\n", []any{map[string]any{
			"x": map[string]any{"a": n("1"), "b": n("2")}, "m": map[string]any{"a": n("1"), "b": n("3")}, "z": map[string]any{"a": n("1"), "b": n("2")}}}},
		{"tags", "a: !!str 5\nb: !!binary aGk=\nc: !!float 3\n", []any{map[string]any{"a": "5", "b": "hi", "c": n("3")}}},
		{"JSON, one after the other", `{"a": 1.0}` + "\n" + `{"b": [null, true]}`, []any{map[string]any{"a": n("1.0")}, map[string]any{"b": []any{nil, true}}}},
		{"a replacement character that is meant", `{"a": "\uFFFD\ud83d\ude00` + "\ufffd" + `"}`, []any{map[string]any{"a": "\ufffd\U0001f600\ufffd"}}},
		{"JSON indented by tabs", "{\n\t\"a\": 1\n}", []any{map[string]any{"a": n("1")}}},
		{"flow YAML looks like JSON", "{a: b}\n", []any{map[string]any{"a": "b"}}},
		{"JSON documents apart by ---", "{\"a\": 1}\n---\n{\"b\": 2}\n", []any{map[string]any{"a": n("1")}, map[string]any{"b": n("2")}}},
	} {
		docs, err := Decode([]byte(tt.in))
		var got []any
		for _, d := range docs {
			got = append(got, d.Value)
		}
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s:\n%s", tt.reason, d)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, tt := range []struct{ reason, in, want string }{
		{"a key twice, with both lines", "a:\n  b: 1\n  c: 2\n  b: 3\n", `line 4: a.b: key "b" is given twice: first on line 2; keep one of them`},
		{"a key twice, by other words", "a:\n  on: 1\n  yes: 2\n", `line 3: a.true: key "true" is given twice: first on line 2; without quotes y, yes and on are true, n, no and off false: quote what is meant as text`},
		{"a key twice in JSON", "{\"a\": {\"b\": 1,\n\"b\": 2}}", `line 2: a.b: key "b" is given twice`},
		{"lines count from the top of the file, not of the document", "a: 1\n---\nb: 1\nb: 2\n", "document 2, line 4: b: key"},
		{"on and true are one key to kubectl", "on: 1\ntrue: 2\n", `key "true" is given twice`},
		{"a tab", "a:\n\tb: 1\n", "YAML is indented by spaces, never by tabs"},
		{"an integer that the API would round", "a: 18446744073709551615\n", "line 1: a: number 18446744073709551615: would be stored as 1.8446744073709552e+19"},
		{"the same in JSON", `{"a": 9223372036854775809}`, "a: number 9223372036854775809: would be stored as"},
		{"the same with a point", "a: 9007199254740993.0\n", "would be stored as 9.007199254740992e+15"},
		{"one that may be a Secret's is not shown", "data: {pin: 98765432109876543210}\n", "line 1: data.pin: number: the API rounds it"},
		{"what some readers take for the end of a comment", "# note\u2028a: 1\n", "line 1: line break U+2028"},
		{"a carriage return alone", "a: 1\n---\n# note\rb: 1\n", "document 2, line 3: a carriage return"},
		{"infinity", "a: .inf\n", "JSON knows neither infinity nor NaN"},
		{"a number out of range, in JSON; in YAML it is text", `{"a": 1e999}`, "out of the API's range"},
		{"an alias inside its own anchor", "a: &a [*a]\n", "line 1: the value of this anchor contains itself"},
		{"JSON and a comma", `{"a": 1},`, "line 1: unexpected text behind a value"},
		{"half a character, which would become another", `{"a": {"b": "x\ud83dy"}}`, "line 1: the escape in double quotes is no character, or half of one"},
		{"half a character in a key", `{"\udc00": 1}`, "or half of one"},
		{"bytes that are no text", "a: \xff\xfa\n", "not text in UTF-8"},
		{"a mapping as a key", "{a: 1}: b\n", "must be a single value"},
		{"a foreign tag on a list", "a: !!float x\n", "does not fit the value"},
	} {
		_, err := Decode([]byte(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q in it", tt.reason, err, tt.want)
		}
	}
}

func TestDecodeTellsEveryBadDocument(t *testing.T) {
	docs, err := Decode([]byte("a: 1\na: 2\n---\nb: ok\n---\nc: [\n---\nd: ok\n"))
	if len(docs) != 2 {
		t.Errorf("the good documents are lost: %v", docs)
	}
	for _, want := range []string{"document 1, line 2", "document 3, line"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func TestDecodeBoundsAliases(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 12 {
		b.WriteString("a" + string(rune('b'+i)) + ": &a" + string(rune('b'+i)) + " [")
		prev := "*a" + string(rune('b'+i-1))
		if i == 0 {
			prev = "*a0"
		}
		b.WriteString(strings.Repeat(prev+",", 9) + prev + "]\n")
	}
	if _, err := Decode([]byte(b.String())); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a bomb of aliases was read: %v", err)
	}
}
