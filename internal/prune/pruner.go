package prune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
)

// Pruner deletes the members of a set that the input of a run no longer has. It is a run.Pruner for
// one run.
type Pruner struct {
	*Set
	Allowed     []applyset.GroupKind // kinds that hold data and may be pruned nevertheless
	Propagation cluster.Propagation
	Disband     bool // the whole set is deleted, its parent last
	Whole       bool // objects to be deleted are read whole, to be shown

	// Kept reports whether an object that is kept is read, too, with Whole; it may be nil.
	Kept func(cluster.Target) bool

	Unread func() map[applyset.Identity]string // see Run.Unread

	decider applyset.Run
	members map[*run.Item]*Member // of the members missing in the input, as they are now
	size    int                   // members and objects of the input
	down    []applyset.GroupKind

	Leaving []Member // the members that were being deleted already when Decide found them

	mu      sync.Mutex                    // of witness
	witness map[applyset.GroupKind]Member // a member of each kind that the run has read
}

// Admit refuses an item that is part of another set, and names that one.
func (p *Pruner) Admit(item *run.Item, live map[string]any) error {
	switch id := lastapplied.SetOf(live); id {
	case "":
		return nil
	case p.Parent.ID():
		p.attest(item.Target, live)
		return nil
	default:
		return p.ofAnother(context.Background(), item.Target, id)
	}
}

// Decide lists the set's members, and decides about those that the run has not merged. The items
// are in the order of applyset.Sorted, none if the input has all members. The error is that of a
// list or of reading a member.
func (p *Pruner) Decide(ctx context.Context, plan *run.Plan) ([]*run.Item, error) {
	p.decider = p.deciding(plan.Items)
	found, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	p.down = found.Down
	decisions := p.decider.Decide(plain(found.All))
	decisions = p.decider.Contain(decisions, p.Contents(ctx, decisions))
	targets, objects := map[string]Member{}, maps.Clone(p.decider.Objects)
	for _, m := range found.All {
		targets[m.UID], objects[m.Identity()] = m, true
	}
	p.Leaving, p.size = nil, len(objects)
	p.members = map[*run.Item]*Member{}
	var items []*run.Item
	for _, d := range applyset.Sorted(decisions) {
		if d.Action == applyset.Terminating {
			p.Note(d.String(), d.Reason)
			p.Leaving = append(p.Leaving, targets[d.UID])
			continue
		}
		m := targets[d.UID]
		item := run.NewItem(object.Object{}, m.Target)
		item.UID, item.Surplus = m.UID, surplus(d)
		item.Own()
		item.Planned = apply.Planned{Subject: apply.Subject{Name: m.Target.String()}}
		items, p.members[item] = append(items, item), &m
	}
	return items, p.read(ctx, items)
}

func surplus(d applyset.Decision) *run.Surplus {
	s := &run.Surplus{Keep: d.Action != applyset.Delete, Reason: d.Reason, File: d.File}
	if d.Fix != "" {
		s.Reason += ": to have it removed, " + d.Fix
	}
	return s
}

// deciding returns the facts for decisions in a run over items.
func (p *Pruner) deciding(items []*run.Item) applyset.Run {
	r := applyset.Run{Parent: p.Parent, Disband: p.Disband, Unread: p.Unread, UIDs: map[string]bool{}, Objects: map[applyset.Identity]bool{}, Allowed: map[applyset.GroupKind]bool{}}
	for _, item := range items {
		if item.UID != "" {
			r.UIDs[item.UID] = true
		}
		if id := (applyset.Identity{GroupKind: item.Target.Resource.GroupKind(), Namespace: item.Target.Namespace, Name: item.Target.Name}); id != applyset.Identity(p.Parent.Set) {
			r.Objects[id] = true
		}
	}
	for _, gk := range p.Allowed {
		r.Allowed[gk] = true
	}
	return r
}

// list lists the members of all kinds of the set and of the input.
func (p *Pruner) list(ctx context.Context) (Members, error) {
	if err := p.resolve(ctx); err != nil {
		return Members{}, err
	}
	p.decider.Parent = p.Parent
	if !p.Parent.Exists() && p.decider.Elsewhere() != "" {
		p.Note(p.Target.String(), "the set is created in the namespace "+p.Target.Namespace+", and the objects are in "+p.decider.Elsewhere()+": -n or --applyset-namespace gives it another")
	}
	all := p.decider.Superset()
	found, err := p.Members(ctx, all)
	if err == nil {
		err = p.believe(ctx, all, &found)
	}
	if len(found.All) > 0 && !p.Parent.Exists() {
		p.Note(p.Target.String(), fmt.Sprintf("is not there, and %s is a member: members of kinds that the input lacks are not looked for: after this run, kubectl merge applyset verify %s --fix finds them", found.All[0].Target, p.Target))
	}
	made, _ := p.decider.Merged()
	for _, gk := range found.Gone {
		if !slices.Contains(made, gk) { // otherwise its definition may be in the input, too
			p.Note(p.Target.String(), fmt.Sprintf("%s: the server does not have this kind any more, and so the set has no members of it", gk))
		}
	}
	return found, err
}

// read reads the objects that are to be deleted, to be shown.
func (p *Pruner) read(ctx context.Context, items []*run.Item) error {
	errs := make([]error, len(items))
	parallel.Each(ctx, parallel.Steps{N: len(items), Limit: p.Limit}, func(i int) {
		item := items[i]
		item.Planned.Live = item.Target.Identity().Value
		if !p.Whole || item.Surplus.Keep && (p.Kept == nil || !p.Kept(item.Target)) {
			return
		}
		obj, err := p.API.Get(ctx, item.Target)
		switch {
		case err == nil:
			item.Planned.Live = obj
		case !cluster.IsNotFound(err):
			errs[i] = fmt.Errorf("%s: %w", item.Target, err)
		}
	})
	return errors.Join(errs...)
}

// Delete deletes one member, or has the server try it. A member that must be kept now is not an
// error: its item has the reason then. The error names the member.
func (p *Pruner) Delete(ctx context.Context, item *run.Item, trial bool) error {
	keep := func(d applyset.Decision) error {
		item.Surplus = surplus(d)
		return nil
	}
	r := p.removal(p.members[item], cluster.Deletion{Propagation: p.Propagation, DryRun: trial}, p.again, keep)
	r.Recorded = item.Surplus.Recorded
	if err := r.Do(ctx); err != nil {
		return fmt.Errorf("%s: was not pruned: %w", item.Target, err)
	}
	return nil
}

// again decides about a member that was changed since it was listed.
func (p *Pruner) again(m applyset.Member) applyset.Decision {
	for _, d := range p.decider.Decide([]applyset.Member{m}) {
		return d
	}
	return applyset.Decision{Member: m, Action: applyset.Left, Reason: "has become an object of the input"}
}

// Surprising returns why the deletions of a run are to be confirmed first, see
// applyset.Run.Surprising and Widened; "" if they need no confirmation.
func (p *Pruner) Surprising(plan *run.Plan) string {
	deletions := object.Each(run.Deletions(plan.Others), func(item *run.Item) applyset.Member { return p.members[item].Member })
	return cmp.Or(p.decider.Widened(deletions), p.decider.Surprising(len(deletions), p.size))
}

// Incomplete reports whether a kind could not be listed: its members are left for another run.
func (p *Pruner) Incomplete() bool { return len(p.down) > 0 }

// API is the part of a server that a set needs; see cluster.Cluster for each method. An absent
// object is an error that is cluster.IsNotFound.
type API interface {
	// Find, FindKind and FindPlural return the resource of a kind, or of a name in URLs.
	Find(ctx context.Context, group, version, kind string) (cluster.Resource, error)
	FindKind(ctx context.Context, group, kind string) (cluster.Resource, error)
	FindPlural(ctx context.Context, group, plural string) (cluster.Resource, error)

	// Deletable returns the resources whose objects can be listed and deleted; with an error, those
	// that are known.
	Deletable(ctx context.Context) ([]cluster.Resource, error)

	// Refresh drops the cached kinds of the server.
	Refresh(ctx context.Context)

	// Get reads an object, GetMetadata its metadata, ListMetadata those of many.
	Get(ctx context.Context, t cluster.Target) (map[string]any, error)
	GetMetadata(ctx context.Context, t cluster.Target) (map[string]any, error)
	ListMetadata(ctx context.Context, r cluster.Resource, namespace, selector string) ([]map[string]any, error)

	// Send writes an object and returns it as stored.
	Send(ctx context.Context, t cluster.Target, as cluster.Way, body any, w cluster.Write) (map[string]any, error)

	// Delete deletes an object. left is the object with its finalizers; nil if it no longer exists.
	Delete(ctx context.Context, t cluster.Target, d cluster.Deletion) (left map[string]any, err error)
}
