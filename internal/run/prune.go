package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// Pruner decides what becomes of live objects that no input has (any more). The run
// knows the order of things; what belongs together, and how it is found and deleted,
// only the Pruner does. Its methods are called in the order in which they stand here.
type Pruner interface {
	// Admit says why an item must not be merged with the live object given, which is
	// not to be modified; nil where it may be. It is called by several goroutines.
	Admit(item *Item, live map[string]any) error

	// Decide gives an item for each live object that no input has: with Target, Surplus
	// and, as Planned.Live, what it is like. It is called once, when all items are
	// merged, and only if nothing is wrong: what failed could be one of these objects.
	Decide(ctx context.Context, p *Plan) ([]*Item, error)

	// Begin is called before the first write of a run that is no dry run, after the
	// server has accepted all of them, and every deletion, in a trial.
	Begin(ctx context.Context, p *Plan) error

	// Delete deletes an item, or, in a trial, has the server try it. It may set
	// Surplus.Keep, with the reason, where the object has become another meanwhile.
	Delete(ctx context.Context, item *Item, trial bool) error

	// End is called after Begin, when all items are deleted that are. What became of
	// each is in it: Result.Outcome is Pruned, or Err says why not.
	End(ctx context.Context, p *Plan) error
}

// Surplus is what becomes of a live object that no input has.
type Surplus struct {
	Keep   bool
	Reason string // why it is deleted; or why it is kept, and how it is removed
}

// ErrNotPruned is that a run which prunes cannot know what is to be pruned.
var ErrNotPruned = errors.New("nothing is pruned because of that: fix it, and merge again")

// decide has the Pruner decide. The order of deletion is the reverse of writing.
func (p *Plan) decide(ctx context.Context) {
	if p.Pruner == nil {
		return
	}
	if err := p.Failed(); err != nil {
		p.Err = errors.Join(p.Err, ErrNotPruned)
		return
	}
	others, err := p.Pruner.Decide(ctx, p)
	if err != nil {
		p.Err = err
		return
	}
	slices.SortStableFunc(others, func(a, b *Item) int { return int(b.stage()) - int(a.stage()) })
	p.Others = others
}

// begin has the server try the deletions, and the Pruner begin.
func (w *writer) begin(ctx context.Context) {
	if w.Pruner == nil || w.Write.DryRun || w.stop {
		return
	}
	if w.delete(ctx, w.Others, Trying); w.stop {
		return
	}
	if err := w.Pruner.Begin(ctx, w.Plan); err != nil {
		w.Err, w.stop = errors.Join(w.Err, err), true
		return
	}
	w.begun = true
}

// prune deletes, if all else is done: objects of one stage at once, the stages one
// after the other.
func (w *writer) prune(ctx context.Context) {
	for s := stages; s > first && !w.stop && ctx.Err() == nil && w.complete(); s-- {
		w.delete(ctx, slices.DeleteFunc(slices.Clone(w.Others), func(i *Item) bool { return i.stage() != s-1 }), Pruning)
	}
	if w.begun {
		long, cancel := outlasting(ctx)
		defer cancel()
		w.Err = errors.Join(w.Err, w.Pruner.End(long, w.Plan))
	}
}

// complete: every item of the input is as it should be. In a dry run those with
// conflicts stop nothing; Held reports what they would.
func (w *writer) complete() bool {
	return !slices.ContainsFunc(w.Items, func(i *Item) bool {
		return i.state != through || i.Err != nil || i.Late != nil || i.Result.Outcome == write.Unsettled && !w.Write.DryRun
	})
}

// delete has the Pruner delete those of the items that are to be, or try it.
func (w *writer) delete(ctx context.Context, items []*Item, phase Phase) {
	items = slices.DeleteFunc(slices.Clone(items), func(i *Item) bool { return i.Action() != Delete })
	long, cancel := outlasting(ctx)
	defer cancel()
	begun := parallel.Each(ctx, len(items), w.Concurrency, func(i int) {
		item := items[i]
		item.Err = w.Pruner.Delete(long, item, phase == Trying || w.Write.DryRun)
		if item.Action() == Delete && phase == Pruning {
			item.state, item.Result = through, write.Removed(item.Planned)
		}
	}, w.count(phase, len(items)))
	w.stop = w.stop || begun < len(items) || slices.ContainsFunc(items[:begun], func(i *Item) bool { return i.Err != nil })
}

// finishOthers reports what became of the objects that no input has; hindrance is what
// keeps them from being deleted where they are not.
func (w *writer) finishOthers(ctx context.Context, hindrance Hindrance) {
	for _, item := range w.Others {
		switch {
		case item.state == through || item.Action() != Delete:
		case ctx.Err() != nil:
			item.Err = fmt.Errorf("%s: was not pruned: %w", item.Target, ErrInterrupted)
		default:
			item.Err = &NotReached{Target: item.Target, Hindrance: hindrance}
		}
		w.report(item)
	}
}
