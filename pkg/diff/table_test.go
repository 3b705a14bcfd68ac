package diff

import (
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestSidesPart: long values that differ at their end do not read alike in a row.
func TestSidesPart(t *testing.T) {
	image := strings.Repeat("registry.example.com/", 5) + "app:"
	r := Row{differ: true, Live: merge.Some(image + "1"), Local: merge.Some(image + "2")}
	got := r.below(true, 0)[0].texts
	if !strings.HasSuffix(got[0], `app:1"`) || !strings.HasSuffix(got[1], `app:2"`) || got[2] != "original -" {
		t.Errorf("%q", got)
	}
}
