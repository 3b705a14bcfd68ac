package source

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestHostileInput reads texts that are made to take all of the time, or of the memory, or to
// fill the screen. Each ends soon, with one short line that names the place.
func TestHostileInput(t *testing.T) {
	const deep = 100_000
	long := strings.Repeat("x", 1_000_000)
	chain := func(first string, next func(string) string) string {
		var b strings.Builder
		b.WriteString("a: &a " + first + "\n")
		for c := 'b'; c < 'o'; c++ {
			b.WriteString(string(c) + ": &" + string(c) + " " + next("*"+string(c-1)) + "\n")
		}
		return b.String()
	}
	for _, tt := range []struct{ why, text, want string }{
		{"aliases of aliases", chain("[x, x]", func(a string) string { return "[" + strings.Repeat(a+",", 9) + "]" }), "too large"},
		{"merge keys of merge keys", chain("{x: 1}", func(a string) string { return "{<<: [" + strings.Repeat(a+",", 9) + "]}" }), "too large"},
		{"a long text, repeated: what is read shares it, what is sent does not", "a: &a " + long + "\nb: [" + strings.Repeat("*a,", 200_000) + "]\n", "line 2: b: is too large"},
		{"a long key, repeated by merge keys", "a: &a {" + long[:1000] + ": 1}\nb:\n" + strings.Repeat("- {<<: *a}\n", 200_000), "too large"},
		{"a mapping of many keys, repeated by merge keys into one", "a: &a {" + manyKeys(2000) + "}\nb: {<<: [" + strings.Repeat("*a,", 20_000) + "]}\n", "too large"},
		{"brackets without end", "x: " + strings.Repeat("[", deep), "line 1: nested more than 10000 deep"},
		{"braces without end", "x: " + strings.Repeat("{a: ", deep), "line 1: nested more than 10000 deep"},
		{"dashes without end", "x:\n " + strings.Repeat("- ", deep) + "1", "line 2: nested more than 10000 deep"},
		{"JSON lists without end", strings.Repeat("[", deep), "line 1: is nested too deep"},
		{"JSON objects without end", strings.Repeat(`{"a":`, deep), "nested too deep"},
		{"bytes that are no text, with their line", "a: 1\nb: caf\xe9\n", "line 2: is not text in UTF-8: save it as"},
		{"a control character, with its line", "a: 1\nb: \"\x00\"\n", "line 2: control character U+0000"},
		{"a long key given twice", long[:1000] + ": 1\n" + long[:1000] + ": 2\n", "given twice"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		docs, err := Decode([]byte(tt.text))
		runtime.ReadMemStats(&after)
		switch {
		case err == nil:
			t.Errorf("%s: was read: %d documents", tt.why, len(docs))
		case !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: %v: want %q in it", tt.why, clip(err.Error()), tt.want)
		case len(err.Error()) > 1000:
			t.Errorf("%s: the error has %d bytes", tt.why, len(err.Error()))
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<30 {
			t.Errorf("%s: %d MiB were taken", tt.why, used>>20)
		}
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("k" + strings.Repeat("i", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)) + ": 1, ")
	}
	return b.String()
}

// TestHostileAllowed: what looks like too much and is not.
func TestHostileAllowed(t *testing.T) {
	script := strings.Repeat("echo\n", 20_000)
	for _, tt := range []struct{ why, text string }{
		{"a script of 100 kB in a hundred ConfigMaps", "a: &a " + strings.ReplaceAll(script, "\n", " ") + "\nb: [" + strings.Repeat("*a,", 100) + "]\n"},
		{"five hundred levels", "x: " + strings.Repeat("[", 500) + strings.Repeat("]", 500)},
		{"a text of 10 MB", "a: " + strings.Repeat("x", 10<<20)},
		{"many small values, none of them an alias", "a: [" + strings.Repeat("1,", 1_500_000) + "]\n"},
	} {
		if _, err := Decode([]byte(tt.text)); err != nil {
			t.Errorf("%s: %v", tt.why, clip(err.Error()))
		}
	}
}

// TestLargeFile reads 100 MB, which is the disk's time, and no more memory than
// some copies of it.
func TestLargeFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "large.yaml")
	var b bytes.Buffer
	for i := 0; b.Len() < 100<<20; i++ {
		b.WriteString("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c" + strings.Repeat("x", i%40) + "}\ndata: {a: ")
		b.WriteString(strings.Repeat("v", 1<<20) + "}\n")
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b = bytes.Buffer{}
	objects, err := Read(t.Context(), Inputs{Files: []string{name}, Pack: true})
	if err != nil || len(objects) != 100 {
		t.Errorf("%d objects, %v", len(objects), err)
	}
}

// TestEndless: what has no end is given up before it has taken the memory.
func TestEndless(t *testing.T) {
	_, err := Read(t.Context(), Inputs{Files: []string{"-"}, Stdin: zeros{}})
	if err == nil || !strings.Contains(err.Error(), "standard input: is larger than 256 MiB: part it") {
		t.Errorf("got %v", err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
