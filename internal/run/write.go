package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// Send writes the items and calls report for each in input order, as soon as it and all
// before it are done; then for Others. If an item has an error, or a conflict and the job
// is not Partial, nothing is written at all.
//
// Unlike kubectl: which writes the objects one by one, and continues after an error.
func (p *Plan) Send(ctx context.Context, report func(*Item)) {
	w := p.writer(report)
	w.stop = p.Failed() != nil
	for _, item := range p.Items {
		w.stop = w.stop || w.blocks(item)
		if item.Err != nil || item.Action().Writes() {
			item.state = ready
		} else {
			w.finished(ctx, item, unsent(item))
		}
	}
	w.run(ctx)
	w.finish(ctx)
}

// blocks reports whether the item's conflicts keep all others from being written. They
// never do in a dry run, which tries all.
func (w *writer) blocks(item *Item) bool {
	return item.conflicts() && !w.Partial && !w.Write.DryRun
}

// writer is the state of one Send.
type writer struct {
	*Plan
	server write.Server
	needed []*Item // items that others may depend on
	report func(*Item)
	stop   bool // write nothing more
	begun  bool // Pruner.Begin was called

	serving sync.WaitGroup // kinds that were written and are waited for

	reporting sync.Mutex // held while an item is reported

	mu       sync.Mutex
	reported int // number of items reported, in order
}

func (p *Plan) writer(report func(*Item)) *writer {
	needed := slices.DeleteFunc(slices.Clone(p.Items), func(i *Item) bool { return p.Apart || !i.matters() })
	return &writer{Plan: p, report: report, server: write.Server{API: p.API, Write: p.Write}, needed: needed}
}

func (w *writer) run(ctx context.Context) {
	if w.stop {
		return
	}
	if todo := w.trials(); !w.Write.DryRun && len(todo) > 0 {
		w.preflight(ctx, todo)
	}
	w.begin(ctx)
	s := definitions
	if w.Apart {
		s = remaining
	}
	for ; s < stages && !w.stop; s++ {
		for !w.stop {
			now := slices.DeleteFunc(w.in(ready), func(i *Item) bool { return i.stage() > s })
			if len(now) == 0 {
				break
			}
			w.send(ctx, now, s)
		}
	}
	w.wait(ctx)
	w.prune(ctx)
}

// wait waits for the written items, if nothing failed.
func (w *writer) wait(ctx context.Context) {
	if w.Wait == nil || w.Write.DryRun || w.stop || len(w.in(deferred)) > 0 || w.Failed() != nil {
		return
	}
	if err := w.Wait(ctx, w.Items); err != nil {
		w.Err, w.stop = errors.Join(w.Err, err), true
	}
}

func (w *writer) in(s state) []*Item {
	return slices.DeleteFunc(slices.Clone(w.Items), func(i *Item) bool { return i.state != s })
}

// send writes items, and tries those that waited for them. The failure of one that others may depend on
// stops the run.
func (w *writer) send(ctx context.Context, items []*Item, s stage) {
	w.sendAll(ctx, items, s)
	if late := w.in(deferred); !w.stop && len(late) > 0 {
		w.preflight(ctx, late)
	}
}

func (w *writer) sendAll(ctx context.Context, items []*Item, s stage) {
	long := parallel.Outlasting(ctx)
	begun := parallel.Each(ctx, parallel.Steps{N: len(items), Limit: w.Concurrency, Adapt: w.Adapt, Done: w.count(Writing, len(items))}, func(i int) { w.sendOne(long, items[i]) })
	w.serving.Wait()
	kinds := false
	for _, item := range items[:begun] {
		kinds = kinds || isCRD(item.Target.Resource)
		w.stop = w.stop || !w.Write.DryRun && s < remaining && (item.Err != nil || item.Result.Outcome == write.Unsettled && w.blocks(item))
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
		w.finished(ctx, item, write.Result{})
		return
	}
	out, err := w.write(ctx, item)
	switch {
	case err == nil && isCRD(item.Target.Resource) && !w.Write.DryRun && out.Outcome != write.Unsettled && !servedAsBefore(out):
		w.sent(item, out)
		w.serving.Go(func() { // beside the writes of others
			item.Late = w.API.WaitEstablished(ctx, item.Target, out.Object)
			w.finished(ctx, item, out)
		})
		return
	case err != nil && w.Write.DryRun && cluster.IsRefusal(err):
		out, err = w.untried(item, out, err)
	}
	if err != nil {
		item.Err = err
	}
	w.sent(item, out)
	w.finished(ctx, item, out)
}

// sent stores the UID of the written object.
func (w *writer) sent(item *Item, out write.Result) {
	if id := object.UID(out.Object); id != "" && !w.Write.DryRun {
		item.UID = id
	}
}

// servedAsBefore reports whether a CustomResourceDefinition that was just written was served
// before, with all versions that it defines. There is nothing to wait for then, and discovery stays
// valid.
func servedAsBefore(out write.Result) bool {
	before := out.Planned.Live
	return cluster.Established(before) && slices.Equal(cluster.Declared(before), cluster.Declared(out.Object))
}

// write writes an item, or deletes it and creates it again. A trial that was not made before is
// made now.
func (w *writer) write(ctx context.Context, item *Item) (write.Result, error) {
	if item.tried && item.recreate {
		return w.server.Recreate(item.Meter.In(ctx), w.recreation(item))
	}
	item.asked()
	out, err := w.apply(ctx, w.server, item)
	if err == nil || !w.Write.DryRun {
		return out, err
	}
	if again, err := w.instead(ctx, item, out.Planned, err); err == nil {
		return again, nil
	}
	return out, err
}

// withhold excludes objects of a kind that this run has defined and the server does not serve. The
// others are still written: the kind may be waiting for them.
func (w *writer) withhold() {
	for _, crd := range w.needed {
		if crd.Late == nil {
			continue
		}
		h := Hindrance{Because: crd.Target.String() + " is not served", Fix: "fix that, and merge again"}
		for _, item := range w.Items {
			if (item.state == ready || item.state == deferred) && item.Err == nil && defines(crd, item) {
				item.Err, item.state = &NotReached{Target: item.Target, Hindrance: h}, halted
			}
		}
	}
}

// untried turns a refusal into a note if it is due to an object that a dry run does not
// create.
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

// finished marks an item as done and reports what can be reported in input order.
func (w *writer) finished(ctx context.Context, item *Item, out write.Result) {
	w.mu.Lock()
	if out.Planned.Final != nil { // it may have been merged again
		item.facts(out.Planned)
	}
	item.Own()
	item.Result, item.refusal = w.result(out), nil
	item.share()
	item.state = done
	if !w.Write.DryRun && out.Outcome.Written() {
		item.written = time.Now()
	}
	w.mu.Unlock()
	for w.next(false) != nil && w.reporting.TryLock() { // the goroutine that reports looks again before it unlocks
		for next := w.next(true); next != nil; next = w.next(true) {
			w.present(ctx, next)
		}
		w.reporting.Unlock()
	}
}

// next returns the item to report next, nil if it is not done yet; take marks it as reported.
func (w *writer) next(take bool) *Item {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reported == len(w.Items) || w.Items[w.reported].state != done {
		return nil
	}
	item := w.Items[w.reported]
	if take {
		w.reported++
	}
	return item
}

// present reports an item and drops the parts stored only for that.
func (w *writer) present(ctx context.Context, item *Item) {
	if item.stored.form == compressed { // nothing was sent
		if w.restore(ctx, item); item.Err == nil {
			item.Own()
			item.Result = w.result(unsent(item))
		}
	}
	item.dress()
	w.report(item)
	w.release(item)
}

// finish reports the remaining items, which were not written.
func (w *writer) finish(ctx context.Context) {
	hindrance, others := w.hindrance((*Item).conflicts), w.hindrance((*Item).held).pruning()
	for _, item := range w.Items {
		switch {
		case item.state == done || item.Err != nil:
		case ctx.Err() != nil:
			item.Err = fmt.Errorf("%s: %w", item.Target, ErrUnwritten)
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

// hindrance returns why items without an error of their own were not written or deleted: errors of
// others, if there are any, otherwise conflicts.
func (w *writer) hindrance(blocks func(*Item) bool) Hindrance {
	if w.Err != nil || slices.ContainsFunc(w.Items, func(i *Item) bool { return i.Err != nil }) {
		return Hindrance{Fix: map[cluster.Purpose]string{cluster.Undoing: "undo again"}[w.Write.For]}
	}
	h, _ := conflicting(w.Items, blocks)
	return h
}
