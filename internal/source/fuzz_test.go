package source

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// canary stands for a password in the texts below.
const canary = "hunter2canary"

// asName: where it does not stand as a value but as a key, an anchor, an alias or a tag,
// which errors may name.
var asName = regexp.MustCompile(`[!&?*][^\n]*` + canary + `|` + canary + `[^\n]*:`)

// FuzzDecode reads whatever text: no crash, what comes out is JSON that reads as the
// same once more, and the items of a list are the same by themselves and in one piece. No
// error shows a value. Its seeds are texts that tempt.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		"a: 1\n", "a: [1, {b: c}]\n---\nb: 2\n", `{"a": 1e3, "b": -0, "c": 9007199254740993}`, "a: &x {b: 1}\nc: *x\n", "a: |\n  text\n  more\n",
		"---\n...\n---\n# nothing\n", "kind: List\nitems:\n- a: 1\n",
		"kind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: |\n     b\n",
		`{"items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}],"kind":"List"}`, "a: 0777\nb: 0x1F\nc: .5\nd: 1_000\n", "<<: {a: 1}\nb: 2\n", "a: yes\nb: ~\nc: 2024-01-01\n",
		"\ufeffa: 1\n", "a: 1\r\nb: 2\r\n", "{\"a\": 1}{\"b\": 2}", "? a\n: b\n", "a: !!binary YQ==\n", "\"a\\u0000\": \"\\ud83d\\ude00\"\n",
		"a: " + canary + "\na: 1\n", "a: \"" + canary + "\nb: 1\n", "data:\n  p: " + canary + "\n q: 1\n", `{"a": "` + canary + `", "a": 1}`, `{"a": "` + canary + `"`,
		"a: !!float " + canary + "\n", "a: [" + canary + "\nb: {\n", "a: !!binary " + canary + "-\n", "a: |\n  " + canary + "\n b: \t- c\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		same(t, "a list", string(text))
		docs, err := Decode(text)
		if err != nil {
			if strings.Contains(err.Error(), canary) && !asName.Match(text) {
				t.Errorf("%q: the error shows a value: %v", text, err)
			}
			return // a refusal is always safe
		}
		for _, d := range docs {
			out, err := json.Marshal(d.Value)
			if err != nil {
				t.Fatalf("%q: what was read is no JSON: %v", text, err)
			}
			again, err := Decode(out)
			if err != nil {
				t.Fatalf("%q: %s is not read again: %v", text, out, err)
			}
			if d.Value == nil && len(again) == 0 {
				continue
			}
			if len(again) != 1 {
				t.Fatalf("%q: %s is read again as %d documents", text, out, len(again))
			}
			if diff := cmp.Diff(d.Value, again[0].Value); diff != "" {
				t.Fatalf("%q: reads otherwise again (-first +again):\n%s", text, diff)
			}
		}
	})
}
