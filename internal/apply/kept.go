package apply

import (
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/patch"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// Kept stores a plan, without local and live, in little memory. From it and the two objects
// the plan is made again without a merge.
type Kept struct {
	Patch []byte // JSON merge patch from live to the object to write; may be stored elsewhere meanwhile

	plan Planned // without its sides
}

// Keep returns the Kept of a plan that the planner has made. It is nil where only another
// merge makes the plan again: where more than the changes is reported, or where a rule, the
// user or another strategy decided something.
func (p *Planner) Keep(plan Planned) *Kept {
	o := plan.Output
	reported := len(o.Conflicts) + len(o.Settled) + len(o.Removed) + len(o.Undecided) + len(o.Extras) + len(o.Adoptable) +
		len(o.Ignored) + len(o.Uncompared) + len(o.Defaulted) + len(o.Because)
	switch {
	case plan.Action != Change || plan.Applying != nil || plan.Sensitive != nil || reported > 0,
		p.Rules != nil || len(o.Rules) > 0 || p.Strategy.Name != "" && p.Strategy.Name != strategy.Strategies[0].Name,
		!merge.Identical(lastapplied.Without(plan.Final), plan.Result):
		return nil
	}
	if _, expressible := patch.Expressible(plan.Live, plan.Final); !expressible {
		return nil
	}
	body, _ := patch.Merge(plan.Live, plan.Final)
	text, err := object.Encode(body) // in memory that it does not share
	if err != nil {
		return nil
	}
	return &Kept{Patch: text, plan: Planned{Action: plan.Action, Type: plan.Type, FromOwners: plan.FromOwners, Problems: plan.Problems}}
}

// Plan makes the plan again, from the subject and the live object of the first merge. The
// error names the object.
func (k *Kept) Plan(s Subject, live map[string]any) (Planned, error) {
	body, err := merge.ReadJSON(k.Patch)
	if err != nil {
		return Planned{}, fmt.Errorf("%s: what changes cannot be read again: %w", s.Name, err)
	}
	p := k.plan
	p.Subject, p.Live = s, live
	p.Final, _ = patch.ApplyMerge(live, body).(map[string]any)
	p.Result = lastapplied.Without(p.Final)
	typ := p.Type
	if typ == nil {
		typ = schema.Resource() // as a strategy has it where the kind is unknown
	}
	p.Changes = merge.Diff(lastapplied.Without(live), p.Result, typ)
	return p, nil
}
