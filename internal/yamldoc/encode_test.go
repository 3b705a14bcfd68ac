package yamldoc_test

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"sigs.k8s.io/yaml"
)

func TestYAML(t *testing.T) {
	for _, c := range []struct{ reason, in, want string }{
		{"keys in order, lists not indented", `{"b":[{"x":1}],"a":{"c":"d"}}`, "a:\n  c: d\nb:\n- x: 1\n"},
		{"2^53+1", `{"a":9007199254740993}`, "a: 9007199254740993\n"},
		{"beyond uint64", `{"a":[184467440737095516150,100000000000000000000]}`, "a:\n- 184467440737095516150\n- 100000000000000000000\n"},
		{"more digits than a float has", `{"a":0.12345678901234567890}`, "a: 0.12345678901234567890\n"},
		{"what a float only respells", `{"a":[1.50,1e3,1.0]}`, "a:\n- 1.5\n- 1000\n- 1\n"},
		{"strings that look like something else are quoted", `{"a":"1","b":"true","c":"","d":"yes","e":"1e3","f":null}`, "a: \"1\"\nb: \"true\"\nc: \"\"\nd: \"yes\"\ne: \"1e3\"\nf: null\n"},
		{"numbers in keys count as numbers", `{"a10":1,"a9":2,"a1b":3,"a":4,"a-":5,"007":6,"7":7}`, "\"7\": 7\n\"007\": 6\na: 4\na-: 5\na1b: 3\na9: 2\na10: 1\n"},
		{"several lines", `{"a":"x\ny\n"}`, "a: |\n  x\n  y\n"},
		{"a long line is not folded", `{"a":"` + strings.Repeat("word ", 30) + `x"}`, "a: " + strings.Repeat("word ", 30) + "x\n"},
		{"C1 control characters, at which kubectl fails", `{"a":"x\u009b"}`, "a: \"x\\x9B\"\n"},
		{"text that would read as another", `{"a":"\u202egnp.exe"}`, "a: \"\\u202Egnp.exe\"\n"},
		{"a scalar", `7`, "7\n"},
		{"nothing", `{}`, "{}\n"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got, err := yamldoc.Encode(read(t, c.in))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, string(got)); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("what is no JSON value is an error that does not quote it", func(t *testing.T) {
		for _, v := range []any{map[string]any{"a": json.Number("hunter2: x")}, make(chan int)} {
			if got, err := yamldoc.Encode(v); err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s, %v", got, err)
			}
		}
	})
}

// words are pieces of which texts are made that YAML could misread.
var words = []string{
	"a", "B", "z9", "10", "9", "0", "007", "-", "--", "---", "...", ".", "+", "_", ":", ": ", " #", "#", " ", "  ", "\n", "\n\n", "\t", "'", "\"", "\\",
	"{", "}", "[", "]", ",", "&", "*", "!", "|", ">", "%", "@", "`", "?", "? ", "- ", "~", "null", "yes", "N", "true", "on", "<<", "=", "1e3", "1.5", ".5", ".inf",
	"0x1f", "0b11", "0o7", "1_000", "12:30", "190:20:30", "2026-01-02", "2026-01-02T03:04:05Z", "2026-1-2 3:4:5", "é", "日本", "\u00a0", "😀", "\x00", "\x1b", "\x7f", "\r", "\ufeff",
}

var digitLetter = regexp.MustCompile(`(\d)(\pL)`)

func wordText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(5) {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

func wordValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(10); {
	case n < 5 || depth == 0:
		return wordText(r)
	case n == 5:
		return []any{json.Number("12"), json.Number("-0.5"), json.Number("1e+30"), true, nil}[r.IntN(5)]
	case n < 8:
		l := make([]any, r.IntN(4))
		for i := range l {
			l[i] = wordValue(r, depth-1)
		}
		return l
	}
	m := map[string]any{}
	for range r.IntN(5) {
		// The library has blocks for keys of several lines; no object has such keys.
		// Nor has its order a place for numbers that letters follow.
		k := strings.NewReplacer("\n", "", "\r", "").Replace(wordText(r))
		m[digitLetter.ReplaceAllString(k, "$1-$2")] = wordValue(r, depth-1)
	}
	if r.IntN(20) == 0 {
		m[strings.Repeat("long ", 30)+"key"] = wordValue(r, depth-1)
	}
	return m
}

// TestYAMLIsKubectls: the same bytes as the library that kubectl prints with, but
// for what YAML says it does otherwise, and kubectl's reader gives the value back.
func TestYAMLIsKubectls(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	same := 0
	for range 20000 {
		v := wordValue(r, 3)
		ours, err := yamldoc.Encode(v)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		back, err := yaml.YAMLToJSON(ours)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, show(t, v), ours)
		}
		if !merge.Equal(v, read(t, string(back)), nil) {
			t.Fatalf("seed %d: %s is read back as %s from\n%s", seed, show(t, v), back, ours)
		}
		theirs, err := yaml.Marshal(v)
		if err != nil || folds(theirs) || strings.Contains(string(theirs), "<<") || strings.Contains(string(theirs), "FEFF") {
			continue // << would be a merge key, so we quote it; after a byte order mark they escape everything
		}
		same++
		if d := cmp.Diff(string(theirs), string(ours)); d != "" {
			t.Fatalf("seed %d: %s: -kubectl +ours\n%s", seed, show(t, v), d)
		}
	}
	if same < 10000 {
		t.Errorf("seed %d: only %d of 20000 compared", seed, same)
	}
}

// folds: the library breaks lines at 80 columns.
func folds(text []byte) bool {
	for line := range strings.Lines(string(text)) {
		if len(line) > 80 {
			return true
		}
	}
	return false
}

func FuzzYAML(f *testing.F) {
	for _, w := range words {
		f.Add(w)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		v := map[string]any{"k": s, "l": []any{s}}
		text, err := yamldoc.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		back, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatalf("%v\n%q", err, text)
		}
		if d := cmp.Diff(v, read(t, string(back))); d != "" {
			t.Fatalf("%s\n%q", d, text)
		}
	})
}
