package picture

import (
	"strings"
	"testing"
)

// TestText: the text of the drawing is the text that was shown, without its colours,
// in rows of the terminal's width.
func TestText(t *testing.T) {
	svg := Draw("$ \x1b[1mrun\x1b[0m <file> & \"more\"\n\x1b[31;1m-  replicas: 7\x1b[m\n\nä long lineß\n", 10)
	want := "$ run <fil\ne> & \"more\n\"\n-  replica\ns: 7\n\nä long lin\neß\n"
	if got := Text(svg); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, part := range []string{`<tspan class="bold">run</tspan>`, `<tspan class="red bold">-  replica</tspan>`, `&lt;fil`} {
		if !strings.Contains(string(svg), part) {
			t.Errorf("%s is not in %s", part, svg)
		}
	}
}
