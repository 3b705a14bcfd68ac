package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

var deleteRow = verb{
	use: "delete NAME", short: "Delete the members of a set, and the set",
	long: `Delete all members of a set and then its parent, by the rules of --prune: what is marked to be kept, is
owned, or holds data or anything of others is kept and reported, and the set stays with the remaining members.
It stays, too, while a deleted member waits for its finalizers; --wait waits for that first.
More than 25 objects are deleted only if that is confirmed, on the terminal or with --yes.

Exit code 0: all of it is deleted; 1: an error; 3: something is kept.`,
	example: `  # See what would be deleted
  kubectl merge applyset delete shop --dry-run

  kubectl merge applyset delete shop --wait`,
	takes: oneSet, args: (*complete.Server).OneSet, run: onSet((*setCall).delete),
}

func (v *setCall) delete(ctx context.Context) error {
	s, err := v.open(ctx, (*prune.Set).Existing, (*prune.Set).Writable)
	if err != nil {
		return err
	}
	allowed, err := v.allowed()
	if err != nil {
		return err
	}
	p := &prune.Pruner{Set: s, Allowed: allowed, Propagation: propagations[v.cascade], Disband: true}
	plan := &run.Plan{Job: &run.Job{Pruner: p, Write: cluster.Write{DryRun: v.mode == dryServer}, Concurrency: v.concurrency, Needs: run.Outcomes}}
	h := &holding{api: v.api, types: (&apply.Documents{Fetch: v.api.OpenAPI, Definition: v.api.Definition}).Type, note: s.Note, orphans: v.cascade == "orphan"}
	if v.gone {
		h.until = v.deadline
	}
	plan.Hold = h.hold
	plan.Merge(ctx)
	if err := v.confirm(ctx, plan, "--dry-run"); err != nil {
		return err
	}
	notes := v.reporter()
	if plan.Err == nil {
		v.finish(ctx, plan, plan.Send, func(item *run.Item) {
			switch item.Action() {
			case apply.Delete:
				v.outcome(item.Target, "deleted")
			case apply.Keep:
				notes.kept(item)
			}
		})
	}
	if err := plan.Failed(); err != nil {
		return err
	}
	if v.gone && v.mode == dryNone {
		if err := v.await(ctx, p, plan); err != nil {
			return err
		}
	}
	rest := p.Remaining(ctx, plan)
	if len(rest) == 0 && p.Parent.Exists() && v.mode == dryNone { // it has stayed for what is gone now
		if err := p.End(ctx, plan); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		s.Note(s.Target.String(), fmt.Sprintf("stays until %s is gone, which has the finalizers %s%s: run this again then, or with --wait", rest[0], strings.Join(rest[0].Finalizers, ", "), more(len(rest)-1)))
	}
	if unpruned(plan)+len(rest) > 0 {
		return &exit{Code: conflicted}
	}
	v.outcome(s.Target, "deleted")
	return nil
}

// await waits until objects deleted now or before are gone.
func (v *setCall) await(ctx context.Context, p *prune.Pruner, plan *run.Plan) error {
	if v.timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, v.timeout)
		defer cancel()
		ctx = limited
	}
	leaving := p.Leaving
	for _, item := range run.Deletions(plan.Others) {
		leaving = append(leaving, prune.Member{Member: applyset.Member{GroupKind: item.Target.GroupKind(), UID: item.UID}, Target: item.Target})
	}
	return p.Await(ctx, leaving)
}
