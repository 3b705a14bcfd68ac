package run

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// showWindow is how many compressed items are restored at once.
const showWindow = 64

// Show calls show for each item in order, then for Others, with the result that a run is
// expected to have; nothing is sent. What Needs asks for is available then, and dropped
// afterwards if Shown is set. Items not shown when ctx ends get an error.
func (p *Plan) Show(ctx context.Context, show func(*Item)) {
	for some := range slices.Chunk(p.Items, showWindow) {
		p.each(ctx, some, func(i int) { p.restore(ctx, some[i]) }, func(i int) {
			some[i].dress()
			if some[i].Rendered == nil {
				some[i].Result = unsent(some[i])
			}
			show(some[i])
			if form := some[i].stored.form; form == restored || form == rendered {
				some[i].Rendered = nil
				some[i].evict()
			}
			some[i].share()
		})
	}
	for _, item := range p.Others {
		item.Own()
		item.Result = unsent(item)
		show(item)
	}
}

// Compare returns an item of the same object that is merged with another live object, nil for none.
// The item itself is unchanged, and nothing is stored: Compare may be called by several goroutines,
// at any time after Merge.
func (p *Plan) Compare(ctx context.Context, item *Item, obj map[string]any) *Item {
	again := NewItem(item.Object, item.Target)
	p.admit(ctx, again, obj)
	return again
}

// Preview has the server try every item and calls report for each in input order, then
// for Others. Write.DryRun must be set. Since nothing is stored, a failure stops no other
// item.
func (p *Plan) Preview(ctx context.Context, report func(*Item)) {
	w := p.writer(report)
	for _, item := range p.Items {
		if item.Action().Writes() {
			item.state = ready
		} else {
			w.finished(ctx, item, unsent(item))
		}
	}
	w.send(ctx, w.in(ready), remaining)
	w.stop = false
	w.prune(ctx)
	w.finish(ctx)
}

// unsent returns the result of an item for which nothing is sent.
func unsent(item *Item) write.Result {
	switch item.Action() {
	case apply.Failed, apply.Keep:
		return write.Result{}
	case apply.Delete:
		return write.Removed(item.Planned)
	case apply.Recreate:
		return write.Again(item.Planned)
	case apply.Held:
		return write.Result{Outcome: write.Unsettled, Object: item.Planned.Final, Planned: item.Planned}
	default:
		return write.Foreseen(item.Planned)
	}
}

// Phase names what a run is doing.
type Phase string

// The phases, in order. Trying and Writing repeat if objects have to wait for others.
const (
	Reading Phase = "reading"
	Trying  Phase = "trying"
	Writing Phase = "writing"
	Pruning Phase = "pruning"
)

// Progress is called with the number of objects of a phase that are done. It may be called
// by several goroutines at once.
type Progress func(phase Phase, done, total int)

// count begins a phase and returns the function to call for each object that is done.
func (j *Job) count(phase Phase, total int) func(int) {
	if j.Progress == nil {
		return func(int) {}
	}
	j.Progress(phase, 0, total)
	var done atomic.Int64
	return func(int) { j.Progress(phase, int(done.Add(1)), total) }
}
