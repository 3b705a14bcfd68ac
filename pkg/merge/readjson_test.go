package merge

import (
	"reflect"
	"strings"
	"testing"
)

// hard are texts with something in them that is easily read wrong.
var hard = []struct{ reason, text string }{
	{"nothing", ``},
	{"nothing but white space", " \n"},
	{"words", `[null,true,false]`},
	{"half a word", `nul`},
	{"a word that goes on", `nullnull`},
	{"empty ones", ` { "a" : { } , "b" : [ ] , "" : "" } `},
	{"a key twice: the last counts", `{"a":1,"b":2,"a":3}`},
	{"numbers keep their text", `[0,-0,1.50,9007199254740993,1e400,1E+2,-2e-3]`},
	{"a leading zero", `01`},
	{"no digit behind the point", `1.`},
	{"no digit before it", `.5`},
	{"an exponent without digits", `1e+`},
	{"a minus alone", `-`},
	{"a number that goes on", `[1x]`},
	{"escapes", `"\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\u0000"`},
	{"an escape in a key", `{"a\u002eb":1}`},
	{"a pair", `"\ud83d\ude00"`},
	{"half a pair", `"\ud83d"`},
	{"the other half alone", `"\ude00"`},
	{"an unknown escape", `"\x41"`},
	{"an escape cut short", `"\u00"`},
	{"an escape with no digits", `"\u-001"`},
	{"a quote behind a backslash at the end", `"\"`},
	{"an open string", `"abc`},
	{"a line break in a string", "\"a\nb\""},
	{"a line break behind an escape", "\"\\ta\nb\""},
	{"no UTF-8", "\"a\xffb\""},
	{"no UTF-8 behind an escape", "\"\\ta\xffb\""},
	{"no UTF-8 in a key", "{\"a\xff\":1}"},
	{"a comma too many", `[1,]`},
	{"a comma too many", `{"a":1,}`},
	{"a comma too few", `[1 2]`},
	{"no colon", `{"a" 1}`},
	{"a key that is no string", `{1:1}`},
	{"an open list", `[1`},
	{"an open object", `{"a":1`},
	{"closed by the wrong one", `[1}`},
	{"more than one value", `{} {}`},
	{"something behind it", `{}x`},
	{"deep", strings.Repeat("[", 400) + strings.Repeat("]", 400)},
	{"deeper", strings.Repeat("[", 9000) + strings.Repeat("]", 9000)},
	{"too deep", strings.Repeat("[", 11000) + strings.Repeat("]", 11000)},
	{"lists in objects in lists", `[{"a":[1,{"b":[2]},3]},4,{"c":{}}]`},
}

func TestReadJSONIsTheLibrarys(t *testing.T) {
	for _, tt := range hard {
		sameAsLibrary(t, tt.reason, []byte(tt.text))
	}
}

func sameAsLibrary(t *testing.T, reason string, text []byte) {
	t.Helper()
	want, wantErr := readJSONSlowly(text)
	got, err := ReadJSON(text)
	if !reflect.DeepEqual(got, want) || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Errorf("%s: %.60q is %v, %v; the library has %v, %v", reason, text, got, err, want, wantErr)
	}
}

func FuzzReadJSON(f *testing.F) {
	for _, tt := range hard {
		f.Add([]byte(tt.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { sameAsLibrary(t, "fuzzed", text) })
}

func TestReadJSONLeavesItsInputAlone(t *testing.T) {
	text := []byte(`{"a":"b\tc","d":"e"}`)
	v, err := ReadJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		text[i] = 'x'
	}
	if want := map[string]any{"a": "b\tc", "d": "e"}; !reflect.DeepEqual(v, want) {
		t.Errorf("%v, want %v: the value must not be the caller's bytes", v, want)
	}
}

// BenchmarkReadJSON reads what a server answers for a Deployment.
func BenchmarkReadJSON(b *testing.B) {
	text := []byte(answer)
	for name, read := range map[string]func([]byte) (any, error){"ours": ReadJSON, "encoding-json": readJSONSlowly} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := read(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
