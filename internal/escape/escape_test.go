package escape_test

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
)

// TestText: what a terminal would obey, or show as another text, is spelled out, and
// nothing else is.
func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext, ü, 日本\n": "plain\ttext, ü, 日本\n",
		"\x1b[2J":              `\x1b[2J`,
		"a\u009bb":             `a\x9bb`,
		"\u202egnp.exe":        `\u202egnp.exe`,
		"\U000e0041":           `\U000e0041`,
		"broken \xff":          "broken \ufffd",
	} {
		if got := escape.Text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := escape.Line("a\n\tb"); got != `a\n\tb` {
		t.Errorf("a line break within a line: %q", got)
	}
}

// TestJSON: an escaped text is the same JSON value.
func TestJSON(t *testing.T) {
	const in = "\u202e\u009b\U000e0041 and text"
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	out := escape.JSON(text)
	var back string
	if err := json.Unmarshal(out, &back); err != nil || back != in {
		t.Errorf("%s: %q, %v", out, back, err)
	}
	if got := escape.Text(string(out)); got != string(out) {
		t.Errorf("not escaped: %q", out)
	}
}
