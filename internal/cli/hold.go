package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/references"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/wait"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// holding keeps objects from being deleted that pods still name.
//
// Unlike kubectl: which deletes a ConfigMap while pods of the older revision run, so that
// none of them can start again.
type holding struct {
	api     *cluster.Cluster
	types   func(ctx context.Context, group, version, kind string) (*merge.Type, error)
	note    noteFunc
	orphans bool             // dependents of deleted objects are kept
	until   func() time.Time // end of the wait for objects in use; nil: no wait

	known *wait.Users // see users
}

// hold implements run.Hold.
func (h *holding) hold(ctx context.Context, p *run.Plan, items []*run.Item) error {
	if named := namedOf(items); len(named) > 0 {
		return h.decide(ctx, p, named)
	}
	if later := namedOf(p.Others); len(later) > 0 && h.until == nil {
		_, err := h.users(p).Find(ctx, targetsOf(later)) // who belongs to whom, before that is gone
		return err
	}
	return nil
}

// decide keeps the items that are still named.
func (h *holding) decide(ctx context.Context, p *run.Plan, items []*run.Item) error {
	uses, err := h.find(ctx, p, targetsOf(items))
	if err != nil {
		return err
	}
	for i, item := range items {
		if uses[i] != (wait.Use{}) {
			keepNamed(p, item, uses[i])
		}
	}
	return nil
}

// namedOf returns the items to be deleted that pods can name.
func namedOf(items []*run.Item) []*run.Item {
	return slices.DeleteFunc(slices.Clone(items), func(i *run.Item) bool {
		return i.Action() != apply.Delete || !references.Named(i.Target.Group, i.Target.Kind)
	})
}

func targetsOf(items []*run.Item) []cluster.Target {
	return each(items, func(item *run.Item) cluster.Target { return item.Target })
}

func (h *holding) find(ctx context.Context, p *run.Plan, targets []cluster.Target) ([]wait.Use, error) {
	users := h.users(p)
	if h.until == nil {
		return users.Find(ctx, targets)
	}
	return users.Await(ctx, targets, h.until(), func(t cluster.Target, use wait.Use) {
		h.note(t.String(), "is still named by "+use.By+": it is deleted when nothing names it any more")
	})
}

// users returns a search in the kinds of the run; objects that it deletes are leaving, as far as known now.
func (h *holding) users(p *run.Plan) *wait.Users {
	if h.known == nil {
		h.known = &wait.Users{API: h.api, Type: h.types, Noted: func(text string) { h.note("prune", text) }}
		h.known.Kinds = each(slices.Concat(p.Items, p.Others), resourceOf)
	}
	h.known.Leaving = map[string]bool{}
	for _, item := range p.Others {
		h.known.Leaving[item.UID] = !h.orphans && item.Action() == apply.Delete
	}
	return h.known
}

// keepNamed keeps an item, and the Namespace whose deletion would delete it.
func keepNamed(p *run.Plan, item *run.Item, use wait.Use) {
	again := ": to have it removed, merge again "
	if pruner := prunerOf(p); pruner != nil && pruner.Disband { // nothing is merged
		again = ": to have it removed, run this again "
	}
	reason := "is still named by " + use.By + again + "when nothing names it any more; --wait waits for that"
	if use.By == "" {
		reason = fmt.Sprintf("whether pods name it cannot be known (%s)%swith that permission", use.Unknown, again)
	}
	item.Surplus = &run.Surplus{Keep: true, Reason: reason}
	for _, ns := range p.Others {
		if ns.Target.Group == "" && ns.Target.Kind == "Namespace" && ns.Target.Name == item.Target.Namespace && ns.Action() == apply.Delete {
			ns.Surplus = &run.Surplus{Keep: true, Reason: "holds " + item.Target.String() + ", which is kept" + again + "when that is gone"}
		}
	}
}

// deadline returns the end of the flags' timeout, counted from the first call; the zero time for
// none.
func (c *call) deadline() time.Time {
	if c.timeout > 0 && c.until.IsZero() {
		c.until = time.Now().Add(c.timeout)
	}
	return c.until
}

// holdNamed makes a run that prunes keep objects that are still named, after waiting with --wait.
func (c *call) holdNamed(s *session, note noteFunc) {
	if s.Pruner == nil {
		return
	}
	h := &holding{api: s.api, types: s.Planner.Schemas, note: note, orphans: c.cascade == "orphan"}
	if c.waits != waitNone {
		h.until = c.deadline
	}
	s.Hold = h.hold
}
