package write

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestRestored: a value that the server's answer has as before was not lost, whatever
// was sent.
func TestRestored(t *testing.T) {
	p := apply.Planned{Action: apply.Change, Live: value(t, `{metadata: {resourceVersion: "1"}}`)}
	p.Settled = []merge.Disagreement{
		{Path: merge.Path{merge.Named("a")}, Live: merge.Some("theirs"), Local: merge.Some("ours"), Winner: merge.LocalSide},
		{Path: merge.Path{merge.Named("b")}, Live: merge.Some("theirs"), Local: merge.Some("ours"), Winner: merge.LocalSide},
		{Path: merge.Path{merge.Named("c")}, Live: merge.Some("theirs"), Local: merge.Some("ours"), Winner: merge.LiveSide},
	}
	p.Removed = []merge.Removal{{Path: merge.Path{merge.Named("d")}, Value: "x"}, {Path: merge.Path{merge.Named("e")}, Value: "x"}}
	got := Result{Planned: p}.stored(value(t, `{metadata: {resourceVersion: "2"}, a: theirs, b: ours, c: theirs, d: x}`), "1", false)
	if len(got.Restored) != 2 || got.Restored[0].String() != "a" || got.Restored[1].String() != "d" {
		t.Errorf("got %v", got.Restored)
	}
}
