package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
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
		Live:        byNumber(lives),
		Planner:     &apply.Planner{Policy: merge.Policies[0], Manager: "kubectl-client-side-apply", Validate: apply.Warn},
		Concurrency: workers,
		Shown:       shown,
	}
	plan := &run.Plan{Job: job}
	for _, i := range order {
		plan.Items = append(plan.Items, run.NewItem(locals[i].Packed(), cluster.Target{
			Resource: cluster.Resource{Kind: locals[i].Kind(), Plural: strconv.Itoa(i)}, Name: locals[i].Name(),
		}))
	}
	plan.Merge(t.Context())
	got, at := make([]string, len(order)), 0
	plan.Show(t.Context(), func(item *run.Item) {
		got[order[at]] = reported(t, item)
		at++
	})
	return got
}

// byNumber is a live.Reader of objects whose number stands in place of the resource.
type byNumber []map[string]any

func (n byNumber) Resolve(context.Context, []object.Object) ([]live.Located, error) {
	return nil, errors.New("the items are resolved")
}

func (n byNumber) Get(_ context.Context, t cluster.Target) (map[string]any, error) {
	i, err := strconv.Atoi(t.Plural)
	if err != nil {
		return nil, err
	}
	return n[i], nil
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
	return fmt.Sprintf("action %q\n%s\nchanges %v\nsettled %v\nremoved %v\nconflicts %v\nundecided %v\nproblems %q", p.Action, text, p.Changes, p.Settled, p.Removed, p.Conflicts, p.Undecided, p.Problems)
}
