package merge

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func writeJSONSlowly(v any, html bool) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	err := e.Encode(v)
	return b.Bytes(), err
}

func writesAsLibrary(t *testing.T, reason string, v any) {
	t.Helper()
	for _, html := range []bool{true, false} {
		want, wantErr := writeJSONSlowly(v, html)
		got, err := WriteJSON(v, html)
		if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Errorf("%s: html %t: %.80q, %v; the library has %.80q, %v", reason, html, got, err, want, wantErr)
		}
	}
}

func TestWriteJSONIsTheLibrarys(t *testing.T) {
	var every strings.Builder
	for c := range 0x180 {
		every.WriteByte(byte(c))
		every.WriteRune(rune(c))
	}
	for _, tt := range []struct {
		reason string
		value  any
	}{
		{"every byte and its character", every.String()},
		{"characters beyond", "a\u2028b\u2029c\ufeffd\U0001f600e\ufffdf\xe2\x80"},
		{"a key with escapes, and order", map[string]any{"b\n<": 1.5, "a": nil, "": true, "a\x00": false}},
		{"nothing in them, and none", []any{map[string]any{}, []any{}, map[string]any(nil), []any(nil), nil}},
		{"numbers", []any{json.Number("-0"), json.Number("1.50"), json.Number("9007199254740993"), json.Number("1E+400"), json.Number("")}},
		{"a number that is none", map[string]any{"a": json.Number("0x10")}},
		{"a number that goes on", json.Number("1x")},
		{"values that ReadJSON does not give", []any{1, int64(2), float32(3), []string{"<"}, map[string]string{"b": "c", "a": "&"}, json.RawMessage(`{ "a" : 1 }`)}},
		{"a struct inside", map[string]any{"a": struct {
			B string `json:"b,omitempty"`
		}{"<"}}},
		{"what JSON cannot hold", map[string]any{"a": func() {}}},
		{"deep", deepList(5000)},
	} {
		writesAsLibrary(t, tt.reason, tt.value)
	}
}

func deepList(n int) any {
	v := any(json.Number("1"))
	for range n {
		v = []any{v}
	}
	return v
}

func FuzzWriteJSON(f *testing.F) {
	for _, tt := range hard {
		f.Add([]byte(tt.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if v, err := readJSONSlowly(text); err == nil {
			writesAsLibrary(t, "fuzzed", v)
		}
		writesAsLibrary(t, "as one string", string(text))
	})
}

// BenchmarkWriteJSON writes what a server answers for a Deployment.
func BenchmarkWriteJSON(b *testing.B) {
	v, err := ReadJSON([]byte(answer))
	if err != nil {
		b.Fatal(err)
	}
	for name, write := range map[string]func(any, bool) ([]byte, error){"ours": WriteJSON, "encoding-json": writeJSONSlowly} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(answer)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := write(v, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
