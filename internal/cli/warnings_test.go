package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestWarnings: what differs in names and numbers alone is one line with a count, and
// of one object nothing is counted away.
func TestWarnings(t *testing.T) {
	var out bytes.Buffer
	w := &warnings{env: &env{IOStreams: genericiooptions.IOStreams{ErrOut: &out}}, all: []warning{
		{"pod/b", `container "y" runs as root`},
		{"pod/a", `container "x" runs as root`},
		{"pod/a", `container "z" runs as root`},
		{"pod/b", "v1beta1 is deprecated"},
		{"pod/c", "v1beta1 is deprecated"},
		{"", "slow"},
	}}
	w.HandleWarningHeaderWithContext(context.Background(), 199, "", "not for users")
	w.print()
	want := `Warning: slow
Warning: pod/a: container "x" runs as root (and 1 more object, with names and numbers of their own)
Warning: pod/a: container "z" runs as root
Warning: pod/b: v1beta1 is deprecated (and 1 more object)
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
	out.Reset()
	w.json = true
	w.print()
	if lines := strings.Count(out.String(), "\n"); lines != len(w.all) {
		t.Errorf("%d notes for %d warnings:\n%s", lines, len(w.all), out.String())
	}
}
