package yamldoc_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestDeep prints a value of 9,900 levels, which indented would take 98 MB: it comes as
// JSON, which YAML reads too.
func TestDeep(t *testing.T) {
	const levels = 9900
	text := strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels)
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := yamldoc.Encode(v); err != nil || string(got) != text+"\n" {
		t.Errorf("%d bytes, %v, want %d", len(got), err, len(text))
	}
	if got, err := yamldoc.Encode([]any{v, "x"}); err != nil || string(got) != "- "+text+"\n- \"x\"\n" {
		t.Errorf("a list: %d bytes, %v", len(got), err)
	}
	if got, err := yamldoc.Encode(map[string]any{"a": map[string]any{"b": "c"}}); err != nil || !bytes.Equal(got, []byte("a:\n  b: c\n")) {
		t.Errorf("a value of few levels: %q, %v", got, err)
	}
}
