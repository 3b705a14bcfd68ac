package diff_test

import (
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestQuestions: what a user sees who is asked to settle a conflict.
func TestQuestions(t *testing.T) {
	for _, c := range []struct {
		file  string // says the width
		width int
	}{
		{"questions.txt", 0},
		{"questions-40.txt", 40},
	} {
		t.Run(c.file, func(t *testing.T) {
			var b strings.Builder
			for _, n := range diff.Conflicts(reported(t, "strict")) {
				b.WriteString(n.Path.String() + "\n")
				for _, l := range n.Sides(c.width) {
					if c.width > 0 && len([]rune(l)) > c.width {
						t.Errorf("%d columns: %s", len([]rune(l)), l)
					}
					b.WriteString("  " + l + "\n")
				}
				if err := n.Compare(&b, false); err != nil {
					t.Fatal(err)
				}
			}
			golden(t, c.file, b.String())
		})
	}
}

// TestOfWhichSide: a Secret's original is shown as the side that it is like, so
// that who changed the value can be seen without the value.
func TestOfWhichSide(t *testing.T) {
	for _, c := range []struct {
		why, original, local, live string // data.k, base64
		want                       string
	}{
		{"only live moved", "YQ==", "YQ==", "Yg==", "*** (after)"},
		{"only local moved", "YQ==", "Yg==", "YQ==", "*** (before)"},
		{"both moved", "YQ==", "Yg==", "Yw==", "***"},
		{"it was not kept", "", "Yg==", "Yw==", "***"},
	} {
		secret := func(v string) any {
			return map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"k": v}}
		}
		plan := merge.Three(merge.Triple{Original: secret(c.original), Local: secret(c.local), Live: secret(c.live)}, nil, merge.Policies[0], true)
		reported := diff.Report{Object: "secret/s", Local: secret(c.local), Live: secret(c.live), Plan: plan}
		path := merge.Path{merge.Named("data"), merge.Named("k")}
		if rows := diff.Explain(reported, path).Fields; len(rows) != 1 || rows[0].Original.Value != c.want {
			t.Errorf("%s: original is shown as %s, want %q", c.why, show(t, rows), c.want)
		}
	}
}
