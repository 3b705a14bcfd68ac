package corpus

import (
	"context"
	"reflect"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	objects "github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestKept: a plan that is made again of what was kept of it is the plan, in every case.
func TestKept(t *testing.T) {
	kept := 0
	for _, c := range load(t) {
		local, live := object(c.Input.Triple.Local), object(c.Input.Triple.Live)
		if local == nil || live == nil {
			continue
		}
		if original := c.Input.Triple.Original; original != nil {
			text, err := lastapplied.Encode(original, lastapplied.Options{})
			if err != nil {
				continue // a blanked one
			}
			live = object(lastapplied.With(live, text))
		}
		planner := apply.Planner{
			Policy: c.Input.Policy, Strategy: c.Input.Strategy, Manager: apply.DefaultManager, Validate: apply.Ignore,
			Schemas: func(context.Context, string, string, string) (*merge.Type, error) { return c.Type, nil },
		}
		if len(c.Input.Rules) > 0 {
			planner.Rules = &apply.UserRules{Rules: c.Input.Rules}
		}
		plan, err := planner.Plan(t.Context(), apply.Subject{Object: objects.Object{Value: local}, Name: c.Name, HasStatus: c.Kind.HasStatus}, live)
		if err != nil {
			continue
		}
		k := planner.Keep(plan)
		if k == nil {
			continue
		}
		kept++
		again, err := k.Plan(plan.Subject, live)
		if err != nil || !reflect.DeepEqual(again, plan) {
			t.Errorf("%s: %v\nmade again %+v\nwas        %+v", c.Name, err, again, plan)
		}
	}
	if t.Logf("%d plans are made again", kept); kept < 50 {
		t.Errorf("of %d plans something was kept: the test shows less than it should", kept)
	}
}
