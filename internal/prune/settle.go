package prune

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// Precedes: a missing parent is created in the namespace that the item creates. A run that ends in
// between leaves a namespace with the set's label, which the next one finds in its input.
func (p *Pruner) Precedes(item *run.Item) bool {
	t := item.Target
	return !p.Disband && !p.Parent.Exists() && t.Group == "" && t.Kind == "Namespace" && t.Name == p.Target.Namespace && item.Planned.Action == apply.Create
}

// Begin writes the parent, so that it covers all later writes: whatever happens to the run, the
// next one finds them. If nothing is to be added, but the parent will list less after the run, that
// write is tried. Otherwise pruned kinds would stay listed because the user may not write the
// parent. Errors are Store's; the run must not write then.
func (p *Pruner) Begin(ctx context.Context, plan *run.Plan) error {
	if p.Disband {
		return nil
	}
	p.decider.Parent = p.decider.Superset()
	if kept, _ := p.outcome(plan); p.Parent.Says(p.decider.Parent) {
		if after := p.decider.Exact(kept, p.down); !p.Parent.Says(after) {
			_, err := p.apply(ctx, after, cluster.Write{FieldManager: ownership.SetManager, DryRun: true})
			if cluster.IsForbidden(err) {
				return fmt.Errorf("%s: the set's parent cannot be written: %w", p.Target, err)
			}
		}
	}
	err := p.Store(ctx, func(now applyset.Parent) applyset.Parent { return p.decider.In(now).Superset() })
	p.decider.Parent.UID = p.Parent.UID
	return err
}

// End writes the set's current contents, if the run is complete. Otherwise the parent stays as
// Begin has written it. Errors are Store's. After a failed run there are none: the next run does
// the same again.
func (p *Pruner) End(ctx context.Context, plan *run.Plan) error {
	kept, complete := p.outcome(plan)
	for _, m := range p.Remaining(ctx, plan) {
		kept = append(kept, applyset.Decision{Member: m.Member, Action: applyset.Keep})
	}
	switch {
	case complete && p.Disband && len(kept)+len(p.down) == 0:
		return p.Dissolve(ctx)
	case complete:
		return p.settle(ctx, plan, func(r applyset.Run) applyset.Parent { return r.Exact(kept, p.down) })
	case !p.Disband:
		return p.settle(ctx, plan, applyset.Run.Superset)
	}
	return nil
}

// Remaining lists the members that are deleted and are still there because of their finalizers: the
// parent lists their kinds until a later run finds them gone. One that cannot be read counts.
func (p *Pruner) Remaining(ctx context.Context, plan *run.Plan) []Member {
	all := slices.Concat(p.Leaving, object.Each(run.Deletions(plan.Others), func(item *run.Item) Member { return *p.members[item] }))
	return slices.DeleteFunc(all, func(m Member) bool {
		if len(m.Finalizers) == 0 {
			return true
		}
		obj, err := p.API.GetMetadata(ctx, m.Target)
		return cluster.IsNotFound(err) || err == nil && applyset.ReadMember(m.GroupKind, obj).UID != m.UID
	})
}

// Dissolve deletes the parent of a set without members. If another run has added some since, the
// parent is created again, and that is an error.
func (p *Pruner) Dissolve(ctx context.Context) error {
	if err := p.Remove(ctx, false); err != nil {
		return err
	}
	was := p.Parent
	p.Parent = applyset.Parent{Set: was.Set}
	if err := p.recheck(ctx, was); err != nil {
		return err
	}
	if p.Parent.Exists() {
		return fmt.Errorf("%s: %s", p.Target, addedMeanwhile)
	}
	return nil
}

// outcome returns what a run has kept, and whether it is complete.
func (p *Pruner) outcome(plan *run.Plan) (kept []applyset.Decision, complete bool) {
	complete = plan.Failed() == nil
	for _, item := range plan.Others {
		if item.Action() == apply.Keep {
			kept = append(kept, applyset.Decision{Member: p.members[item].Member, Action: applyset.Keep})
		} else {
			complete = complete && item.Result.Outcome == write.Pruned
		}
	}
	return kept, complete
}

// settle writes the parent for the end of the run. If another run, which may be in progress, has
// written it since the members were listed, nothing is removed from it.
func (p *Pruner) settle(ctx context.Context, plan *run.Plan, want func(applyset.Run) applyset.Parent) error {
	begun := p.decider.Parent
	wanted := func(now applyset.Parent) applyset.Parent {
		after := want(p.decider.In(now))
		if !now.Equals(begun) {
			return now.Covers(after)
		}
		return after
	}
	// What a run has written may be members, and another run may have reduced the parent meanwhile.
	wrote := slices.ContainsFunc(plan.Items, func(i *run.Item) bool { return i.Result.Outcome.Written() })
	if wrote && p.Parent.Says(wanted(p.Parent)) {
		if _, err := p.reread(ctx); err != nil {
			return err
		}
	}
	was := p.Parent
	if err := p.Store(ctx, wanted); err != nil {
		return err
	}
	return p.recheck(ctx, was)
}

// recheck lists the members again that the parent no longer covers: another run may have created
// some since. This run lists them after it has written the parent; the other run reads the parent
// after it has created them. So one of the two sees the other's changes. An interruption does not end it.
func (p *Pruner) recheck(ctx context.Context, was applyset.Parent) error {
	ctx = context.WithoutCancel(ctx)
	in, namespaces := was, []string(nil)
	if in.Kinds, namespaces = was.Beyond(p.Parent); len(namespaces) > 0 {
		in.Kinds = was.Covers(p.Parent).Kinds
	}
	found, err := p.twice(ctx, in)
	if err != nil { // there may be some
		return errors.Join(err, p.Store(ctx, func(now applyset.Parent) applyset.Parent { return now.Covers(was) }))
	}
	left := slices.DeleteFunc(plain(found.All), func(m applyset.Member) bool { return m.Deleting != "" })
	if len(left) == 0 {
		return nil
	}
	return p.Cover(ctx, left)
}
