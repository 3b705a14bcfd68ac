package sweep

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// TestWorkers holds the seventh law, "same": however many objects are under way at
// once, whichever comes first, put away until they are shown or not, random
// objects of every kind come to the same bytes, with the same reported of them.
func TestWorkers(t *testing.T) {
	kinds := builtin(t)
	const n = 600 // more than are kept whole
	t.Logf("seed %d, %d objects of %d kinds", *seed, n, len(kinds))
	var locals []object.Object
	var lives []map[string]any
	for i := range n {
		k := kinds[i%len(kinds)]
		in := gen.New(*seed, uint64(i)).Triple(k.Kind, k.typ)
		local, _ := in.Local.(map[string]any)
		live, _ := in.Live.(map[string]any)
		if in.Original != nil && live != nil {
			text, err := lastapplied.Encode(in.Original, lastapplied.Options{Type: k.typ, On: live})
			if err != nil {
				t.Fatal(err)
			}
			live, _ = lastapplied.With(live, text).(map[string]any)
		}
		locals = append(locals, object.Object{Value: local, Origin: object.Origin{File: "made.yaml", Document: i + 1, Many: true}})
		lives = append(lives, live)
	}
	want := worked(t, locals, lives, rand.Perm(n), 1, false)
	if failed := strings.Count(strings.Join(want, "\n"), "error: "); failed > n/4 {
		t.Errorf("%d of %d are errors: the test shows less than it should", failed, n)
	}
	for _, workers := range []int{1, 2, 5, 16} {
		got := worked(t, locals, lives, rand.Perm(n), workers, true)
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s, with %d workers:\n%s\nwith one:\n%s", locals[i].Origin, workers, got[i], want[i])
			}
		}
	}
}

// worked merges the objects in an order, and gives what each comes to.
func worked(t *testing.T, locals []object.Object, lives []map[string]any, order []int, workers int, shown bool) []string {
	t.Helper()
	job := &run.Job{
		Planner:     &apply.Planner{Policy: merge.Policies[0], Manager: "kubectl-client-side-apply", Validate: apply.Warn},
		Concurrency: workers,
		Shown:       shown,
	}
	items := make([]*run.Item, len(order))
	for at, i := range order {
		items[at] = &run.Item{Object: locals[i].Packed(), Target: cluster.Target{Resource: cluster.Resource{Kind: locals[i].Kind()}, Name: locals[i].Name()}}
	}
	job.MergeWith(t.Context(), items, func(at int) (map[string]any, error) { return lives[order[at]], nil })
	got, at := make([]string, len(order)), 0
	job.Show(t.Context(), items, func(item *run.Item) {
		got[order[at]] = reported(t, item)
		at++
	})
	return got
}

// reported is all of what is known of an item.
func reported(t *testing.T, item *run.Item) string {
	t.Helper()
	if item.Err != nil {
		return "error: " + item.Err.Error()
	}
	p := item.Planned
	text, err := json.Marshal(p.Final)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("action %d\n%s\nchanges %v\nsettled %v\nremoved %v\nconflicts %v\nundecided %v\nproblems %q", p.Action, text, p.Changes, p.Settled, p.Removed, p.Conflicts, p.Undecided, p.Problems)
}
