package suggest_test

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
)

func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"replicas", "Replicas", 0},
		{"", "abc", 3},
		{"replcas", "replicas", 1},
		{"relpicas", "replicas", 1},
		{"kitten", "sitting", 3},
	} {
		if got, back := suggest.Edits(tt.a, tt.b), suggest.Edits(tt.b, tt.a); got != tt.want || back != tt.want {
			t.Errorf("%q, %q: %d and %d edits, want %d", tt.a, tt.b, got, back, tt.want)
		}
	}
}

func TestName(t *testing.T) {
	names := []string{"image", "imagePullPolicy", "name"}
	for name, want := range map[string]string{"IMAGE": "image", "imgae": "image", "nmae": "name", "volumes": "", "": "", "mage": "image", "ame": "name", "bane": "", "x": ""} {
		if got := suggest.Name(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
