package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/references"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Pruner decides about live objects that the input does not contain (any more), and deletes them.
// The run only knows when; the Pruner determines which objects belong to a set, and finds and
// deletes them. Its methods are called in this order.
type Pruner interface {
	// Admit returns an error if an item must not be merged with the given live object.
	// The object must not be modified. Admit may be called by several goroutines.
	Admit(item *Item, live map[string]any) error

	// Decide returns an item for each live object that the input does not contain, with
	// Target, Surplus and Planned.Live. It is called once, when all items are merged, and
	// only if none failed: a failed item could be one of these objects.
	Decide(ctx context.Context, p *Plan) ([]*Item, error)

	// Precedes reports whether an item has to be written before Begin is called.
	Precedes(item *Item) bool

	// Begin is called before the first write of all others, after the server has accepted all writes
	// and deletions in a trial. It is not called in a dry run.
	Begin(ctx context.Context, p *Plan) error

	// Delete deletes an item or, in a trial, has the server try it. It may set
	// Surplus.Keep and its Reason if the object has changed meanwhile. The error is an ErrChanged if
	// the object is to be deleted in another state than Surplus.Recorded.
	Delete(ctx context.Context, item *Item, trial bool) error

	// End is called once after Begin, when the deletions are done or were abandoned. Each item of
	// Others then has the Outcome Pruned, or an Err.
	End(ctx context.Context, p *Plan) error
}

// Surplus is the decision about a live object that the input does not contain.
type Surplus struct {
	Keep   bool
	Reason string // why it is deleted, or why it is kept and how to remove it
	File   string // for which it is kept: one that has it, and is not read; "" for none

	// Recorded is the resourceVersion of the state that was recorded last before its deletion; "" if
	// none was.
	Recorded string
}

// ErrNotPruned reports that the objects to prune were not determined, because of the
// errors before it.
var ErrNotPruned = errors.New("nothing is pruned because of that: fix it, and merge again")

// ErrChanged reports that an object is not deleted yet, since others have changed it after it was
// recorded.
var ErrChanged = errors.New("others have changed it meanwhile")

// decide asks the Pruner. Objects are deleted in the reverse order of writing.
func (p *Plan) decide(ctx context.Context) {
	if p.Pruner == nil {
		return
	}
	if p.undecided = p.Failed() != nil; p.undecided {
		return
	}
	others, err := p.Pruner.Decide(ctx, p)
	if err != nil {
		p.Err = err
		return
	}
	slices.SortStableFunc(others, func(a, b *Item) int { return b.turn() - a.turn() })
	p.Others = others
	for _, item := range Deletions(others) {
		item.Err = p.deletes(ctx, item, item.Planned.Live)
	}
}

// deletes sets the state in which an item would be deleted, and returns the error of Bind about that.
func (j *Job) deletes(ctx context.Context, item *Item, live map[string]any) error {
	item.Own()
	item.Planned.Live = live
	if s := (apply.Subject{Object: object.Object{Value: live}, Name: item.Target.String()}); j.Planner != nil {
		item.Planned.Sensitive = j.Planner.Sensitive(s, merge.Triple{Live: live})
		if j.Bind != nil { // it compares lists whole where the type is unknown
			item.Planned.Type, _ = j.Planner.TypeOf(ctx, s, live)
		}
	}
	return j.bound(item, item.Planned)
}

// turn orders deletions, the highest first: the reverse of writing, and objects that pods name
// after the owners of these pods.
func (i *Item) turn() int {
	turn := 2 * int(i.stage())
	if !references.Named(i.Target.Group, i.Target.Kind) {
		turn++
	}
	return turn
}

// begin has the server try the deletions, then calls Pruner.Begin.
func (w *writer) begin(ctx context.Context) {
	if w.Pruner == nil || w.Write.DryRun || w.stop {
		return
	}
	if w.delete(ctx, w.Others, Trying); w.stop {
		return
	}
	if first := slices.DeleteFunc(w.in(ready), func(i *Item) bool { return !w.Pruner.Precedes(i) }); len(first) > 0 {
		w.send(ctx, first, definitions)
	}
	if w.stop {
		return
	}
	if err := w.Pruner.Begin(ctx, w.Plan); err != nil {
		w.Err, w.stop = errors.Join(w.Err, err), true
		return
	}
	w.begun = true
}

// prune deletes once all else is done: the objects of one stage at once, the stages one
// after the other.
func (w *writer) prune(ctx context.Context) {
	for rest := w.Others; len(rest) > 0 && !w.stop && ctx.Err() == nil && w.complete(); {
		n := 1
		for n < len(rest) && rest[n].turn() == rest[0].turn() {
			n++
		}
		if w.hold(ctx, rest[:n]); !w.stop {
			w.delete(ctx, rest[:n], Pruning)
		}
		rest = rest[n:]
	}
	if w.begun {
		w.Err = errors.Join(w.Err, w.Pruner.End(parallel.Outlasting(ctx), w.Plan))
	}
}

// hold keeps the items that are still used.
func (w *writer) hold(ctx context.Context, items []*Item) {
	if items = Deletions(items); w.Hold == nil || w.Write.DryRun || len(items) == 0 {
		return
	}
	if err := w.Hold(ctx, w.Plan, items); err != nil && ctx.Err() == nil {
		w.Err, w.stop = errors.Join(w.Err, err), true
	}
	w.stop = w.stop || ctx.Err() != nil
}

// complete reports whether every item of the input is as it should be. In a dry run
// conflicts stop nothing; Held reports what they would stop.
func (w *writer) complete() bool {
	return !slices.ContainsFunc(w.Items, func(i *Item) bool {
		return i.state != done || i.Err != nil || i.Late != nil || i.Result.Outcome == write.Unsettled && !w.Write.DryRun
	})
}

// delete has the Pruner delete the items whose action is Delete, or try it.
func (w *writer) delete(ctx context.Context, items []*Item, phase Phase) {
	items = Deletions(items)
	long := parallel.Outlasting(ctx)
	begun := parallel.Each(ctx, parallel.Steps{N: len(items), Limit: w.Concurrency, Adapt: w.Adapt, Done: w.count(phase, len(items))}, func(i int) {
		item := items[i]
		item.Err = w.deleteOne(item.Meter.In(long), item, phase == Trying || w.Write.DryRun)
		if errors.Is(item.Err, context.Canceled) {
			item.Err = fmt.Errorf("%s: %w", item.Target, ErrUnpruned)
		}
		if item.Action() == apply.Delete && phase == Pruning {
			item.Own()
			item.state, item.Result = done, write.Removed(item.Planned)
		}
	})
	w.stop = w.stop || begun < len(items) || slices.ContainsFunc(items[:begun], func(i *Item) bool { return i.Err != nil })
}

// deleteOne has the Pruner delete an item, which is checked and recorded as it is read just before, and anew if
// others have changed it since: an undo restores what was deleted.
func (w *writer) deleteOne(ctx context.Context, item *Item, trial bool) error {
	if w.Journal == nil && w.Bind == nil || trial {
		return w.Pruner.Delete(ctx, item, trial)
	}
	for try := 0; ; try++ {
		obj, err := w.Live.Get(ctx, item.Target)
		switch item.Surplus.Recorded = (object.Object{Value: obj}).ResourceVersion(); {
		case err != nil:
			return fmt.Errorf("%s: was not pruned: %w", item.Target, err)
		case obj == nil: // others have deleted it: there is nothing that an undo of this run could restore
			return w.Pruner.Delete(ctx, item, trial)
		}
		if err := w.deletes(ctx, item, obj); err != nil {
			return err
		}
		end := func(map[string]any, error) {}
		if w.Journal != nil {
			if end, err = w.Journal.Begin(item, item.Planned); err != nil {
				return fmt.Errorf("%s: was not pruned: %w", item.Target, err)
			}
		}
		err = w.Pruner.Delete(ctx, item, false)
		if err == nil && item.Action() == apply.Keep {
			err = errors.New(item.Reason())
		}
		end(nil, err)
		switch {
		case item.Action() == apply.Keep:
			return nil
		case !errors.Is(err, ErrChanged) || try == MostChanges:
			return err
		}
	}
}

// MostChanges is how often a deletion is decided about and recorded anew, since others have changed
// the object.
const MostChanges = 10

// finishOthers reports the objects that the input does not contain; hindrance is the
// error of those that were to be deleted and were not.
func (w *writer) finishOthers(ctx context.Context, hindrance Hindrance) {
	for _, item := range w.Others {
		switch {
		case item.state == done || item.Action() != apply.Delete:
		case ctx.Err() != nil:
			item.Err = fmt.Errorf("%s: %w", item.Target, ErrUnpruned)
		default:
			item.Err = &NotReached{Target: item.Target, Hindrance: hindrance}
		}
		w.report(item)
	}
}

// lostTries is how often a deletion is sent again after a lost answer.
const lostTries = 3

// Removal is the deletion of one object about which others than the input decide. Its functions
// must all be set.
type Removal struct {
	Delete   func(ctx context.Context, t cluster.Target, d cluster.Deletion) (left map[string]any, err error)
	Target   cluster.Target
	How      cluster.Deletion // with the UID and the ResourceVersion that were decided about
	Recorded string           // the resourceVersion that may be deleted; "" for any

	// Read reads the object, or its metadata. It is gone if there is none, or the error is
	// cluster.IsNotFound.
	Read func(ctx context.Context, t cluster.Target) (map[string]any, error)

	// Again decides anew about the object as Read found it; still is false if there is nothing to
	// delete any more.
	Again func(obj map[string]any) (still bool, err error)

	Left func(obj map[string]any) // is called with the object, if the server still has it after its deletion
	Note func(text string)
}

// Do deletes the object, or has the server try it. The deletion is bound to the very object, and to
// the state, of the decision, so that a later mark to keep it counts. An object that is gone counts
// as deleted once a read confirms it: a 404 alone is not trusted. The error is an ErrChanged as the
// Pruner states it.
//
// Unlike kubectl: whose deletion is of whatever has that name by then.
func (r *Removal) Do(ctx context.Context) error {
	for lost, try := 0, 0; ; try++ {
		left, err := r.Delete(ctx, r.Target, r.How)
		conflict := cluster.IsConflict(err)
		switch {
		case err == nil:
			if left != nil && !r.How.DryRun {
				r.Left(left)
			}
			return nil
		case cluster.RefusesDryRun(err):
			r.Note("its deletion was not tried first: " + err.Error())
			return nil
		case conflict && try >= MostChanges:
			return errors.New("is changed so often that it could not be deleted: run this again")
		case conflict:
		case !cluster.Uncertain(err) && !cluster.IsNotFound(err) || lost >= lostTries:
			return err
		default:
			lost++
		}
		obj, failed := r.Read(ctx, r.Target)
		switch {
		case cluster.IsNotFound(failed), failed == nil && obj == nil:
			return nil
		case failed != nil:
			return fmt.Errorf("whether it was deleted cannot be known: %v", failed) // also after an interrupt: it may have been
		}
		if still, err := r.Again(obj); err != nil || !still {
			return err
		}
		o, was := object.Object{Value: obj}, r.How
		r.How.UID, r.How.ResourceVersion = o.UID(), o.ResourceVersion()
		switch {
		case conflict && r.How == was:
			return err // it is unchanged: another component refused it
		case r.Recorded != "" && o.ResourceVersion() != r.Recorded:
			return fmt.Errorf("%w: %v", ErrChanged, err) // and so it was not deleted
		}
		_ = cluster.Sleep(ctx, time.Duration(min(try, 5)+1)*100*time.Millisecond) // Delete has waited as long as it was asked to
	}
}
