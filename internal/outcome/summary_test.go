package outcome

import (
	"errors"
	"testing"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

func item(namespace string, outcome write.Outcome, err error) *run.Item {
	return &run.Item{Target: cluster.Target{Name: "a", Namespace: namespace}, Details: &run.Details{Result: write.Result{Outcome: outcome}}, Err: err}
}

// TestSummary: every object is counted once, and the target is named.
func TestSummary(t *testing.T) {
	p := &run.Plan{
		Items: []*run.Item{
			item("shop", write.Created, nil), item("shop", write.Configured, nil), item("ops", write.Unchanged, nil), item("", write.Unsettled, nil),
			item("shop", "", errors.New("forbidden")), item("shop", "", &run.NotReached{}), item("shop", write.Recreated, nil),
		},
		Others: []*run.Item{{Surplus: &run.Surplus{}, Details: &run.Details{Result: write.Result{Outcome: write.Pruned}}}, {Details: &run.Details{}, Surplus: &run.Surplus{Keep: true}}, {Details: &run.Details{}, Surplus: &run.Surplus{}, Err: &run.NotReached{}}},
	}
	s := Summarize(Ended{Plan: p, Took: 1234 * time.Millisecond, Target: Target{Context: "prod", Namespaces: []string{"shop", "ops"}}})
	want := "7 objects: 1 created, 1 configured, 1 recreated, 1 unchanged, 2 not written, 1 failed, 1 pruned, 1 kept, 1 not pruned in 1.2s (context prod, namespaces shop, ops)"
	if got := s.String(); got != want || s.Total() != 10 {
		t.Errorf("%d: %s\nwant %s", s.Total(), got, want)
	}
}

func TestTarget(t *testing.T) {
	for want, target := range map[string]Target{
		"offline":                                {},
		"server 10.0.0.1":                        {Server: "10.0.0.1"},
		"context a, namespace b":                 {Context: "a", Server: "10.0.0.1", Namespaces: []string{"b"}},
		`context \x1b[2J`:                        {Context: "\x1b[2J"},
		"offline, namespaces a, b, c and 1 more": {Namespaces: []string{"a", "b", "c", "d"}},
	} {
		if got := target.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
