package run

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// Send writes the items that Merge has planned, and calls report for each in input
// order as soon as it and all before it are through. Where an item has an error, or
// a conflict while the job is not Partial, nothing is written at all. Others follow the
// items.
//
// Unlike kubectl: which writes the objects one by one, and goes on after an error.
func (p *Plan) Send(ctx context.Context, report func(*Item)) {
	w := p.writer(report)
	w.stop = p.Failed() != nil
	for _, item := range p.Items {
		w.stop = w.stop || w.holds(item)
		if item.Err != nil || item.writes() {
			item.state = ready
		} else {
			w.through(ctx, item, still(item))
		}
	}
	w.run(ctx)
	w.finish(ctx)
}

// holds says whether the item's conflicts keep all others from being written. A dry
// run writes none of them, and tries all.
func (w *writer) holds(item *Item) bool {
	return item.conflicts() && !w.Partial && !w.Write.DryRun
}

// writer is one Send under way.
type writer struct {
	*Plan
	server write.Server
	needed []*Item // items that others may wait for
	report func(*Item)
	stop   bool // write nothing more
	begun  bool // the Pruner is to be called at the end

	reporting sync.Mutex // held by who reports

	mu       sync.Mutex
	reported int // items, in order
}

func (p *Plan) writer(report func(*Item)) *writer {
	w := &writer{Plan: p, report: report, server: write.Server{API: p.API, Write: p.Write}}
	for _, item := range p.Items {
		if item.matters() {
			w.needed = append(w.needed, item)
		}
	}
	return w
}

func (w *writer) run(ctx context.Context) {
	if w.stop {
		return
	}
	if todo := w.in(ready); w.Preflight && !w.Write.DryRun && len(todo) > 1 {
		w.preflight(ctx, todo)
	}
	w.begin(ctx)
	for s := first; s < stages && !w.stop; s++ {
		for !w.stop {
			now := slices.DeleteFunc(w.in(ready), func(i *Item) bool { return i.stage() > s })
			if len(now) == 0 {
				break
			}
			w.send(ctx, now, s)
			if late := w.in(deferred); !w.stop && len(late) > 0 {
				w.preflight(ctx, late)
			}
		}
	}
	w.prune(ctx)
}

func (w *writer) in(s state) []*Item {
	var items []*Item
	for _, item := range w.Items {
		if item.state == s {
			items = append(items, item)
		}
	}
	return items
}

// send writes items, all of which may be written now. A failure of what others
// need ends the run.
func (w *writer) send(ctx context.Context, items []*Item, s stage) {
	long, cancel := outlasting(ctx)
	defer cancel()
	begun := parallel.Each(ctx, len(items), w.Concurrency, func(i int) { w.sendOne(long, items[i]) }, w.count(Writing, len(items)))
	kinds := false
	for _, item := range items[:begun] {
		kinds = kinds || isCRD(item.Target.Resource)
		w.stop = w.stop || s < third && (item.Err != nil || item.Result.Outcome == write.Unsettled && w.holds(item))
	}
	w.stop = w.stop || begun < len(items)
	if !kinds {
		return
	}
	if w.Invalidate != nil {
		w.Invalidate()
	}
	w.withhold()
}

func (w *writer) sendOne(ctx context.Context, item *Item) {
	if w.restore(ctx, item); item.Err != nil {
		w.through(ctx, item, write.Result{})
		return
	}
	out, err := w.apply(ctx, w.server, item)
	switch {
	case err == nil && isCRD(item.Target.Resource) && !w.Write.DryRun && out.Outcome != write.Unsettled:
		item.Late = w.API.WaitEstablished(ctx, item.Target, out.Object)
	case err != nil && w.Write.DryRun && cluster.IsRefusal(err):
		out, err = w.untried(item, out, err)
	}
	if err != nil {
		item.Err = err
	}
	w.through(ctx, item, out)
}

// withhold takes out what is of a kind that this run has defined and the server does
// not serve. Everything else goes on: it may be just what puts that right.
func (w *writer) withhold() {
	for _, crd := range w.needed {
		if crd.Late == nil {
			continue
		}
		h := Hindrance{Because: crd.Target.String() + " is not served", Way: "fix that, and merge again"}
		for _, item := range w.Items {
			if (item.state == ready || item.state == deferred) && item.Err == nil && defines(crd, item) {
				item.Err, item.state = &NotReached{Target: item.Target, Hindrance: h}, halted
			}
		}
	}
}

// untried: in a dry run the server cannot know what the run itself would make.
func (w *writer) untried(item *Item, out write.Result, err error) (write.Result, error) {
	i := slices.IndexFunc(w.needed, func(other *Item) bool { return lacks(item, other) })
	if i < 0 {
		i = slices.IndexFunc(w.needed, func(other *Item) bool {
			return other.changes && mayExplain(item, other, err)
		})
	}
	if i < 0 {
		return out, err
	}
	notes := out.Notes
	out = write.Foreseen(item.Planned)
	out.Notes = append(notes, fmt.Sprintf("could not be tried by the server before %s is written: %s", w.needed[i].Target, reasonOf(item, err)))
	return out, nil
}

// through marks an item as done and reports what can be reported in input order.
func (w *writer) through(ctx context.Context, item *Item, out write.Result) {
	w.mu.Lock()
	item.Result = w.result(out)
	item.state = through
	if !w.Write.DryRun && (out.Outcome == write.Created || out.Outcome == write.Configured) {
		item.written = time.Now()
	}
	w.mu.Unlock()
	for w.next(false) != nil && w.reporting.TryLock() { // whoever reports looks again before it leaves
		for next := w.next(true); next != nil; next = w.next(true) {
			w.present(ctx, next)
		}
		w.reporting.Unlock()
	}
}

// next is the item that is to be told of now, nil where it is not through yet; take
// says that it will be.
func (w *writer) next(take bool) *Item {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reported == len(w.Items) || w.Items[w.reported].state != through {
		return nil
	}
	item := w.Items[w.reported]
	if take {
		w.reported++
	}
	return item
}

// present reports an item, all of it, and drops what was there only for that.
func (w *writer) present(ctx context.Context, item *Item) {
	if item.stored.form == compressed { // nothing was sent
		if w.restore(ctx, item); item.Err == nil {
			item.Result = w.result(still(item))
		}
	}
	w.report(item)
	w.release(item)
}

// finish reports the rest, which was not written.
func (w *writer) finish(ctx context.Context) {
	hindrance, others := w.hindrance((*Item).conflicts), w.hindrance((*Item).held).pruning()
	for _, item := range w.Items {
		switch {
		case item.state == through || item.Err != nil:
		case ctx.Err() != nil:
			item.Err = fmt.Errorf("%s: was not written: %w", item.Target, ErrInterrupted)
		case item.state == deferred && item.refusal != nil && !w.stop:
			item.Err = item.refusal
		default:
			item.Err = &NotReached{Target: item.Target, Hindrance: hindrance}
		}
	}
	for _, item := range w.Items[w.reported:] {
		w.present(ctx, item)
	}
	w.finishOthers(ctx, others)
}

// hindrance is what keeps items from being written, or objects from being deleted, that
// are neither through nor wrong: errors, if there are any, else conflicts.
func (w *writer) hindrance(holds func(*Item) bool) Hindrance {
	if w.Err != nil || slices.ContainsFunc(w.Items, func(i *Item) bool { return i.Err != nil }) {
		return Hindrance{}
	}
	h, _ := conflicting(w.Items, holds)
	return h
}
