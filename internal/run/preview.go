package run

import (
	"context"

	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// Preview has the server try every item that Merge has planned, and calls report for
// each in input order, then for Others. Nothing is stored (Write.DryRun is to be set),
// and so one that is bad stops no other.
func (p *Plan) Preview(ctx context.Context, report func(*Item)) {
	w := p.writer(report)
	for _, item := range p.Items {
		if item.writes() {
			item.state = ready
		} else {
			w.through(ctx, item, still(item))
		}
	}
	w.send(ctx, w.in(ready), third)
	w.stop = false
	w.prune(ctx)
	w.finish(ctx)
}

// still is the outcome of an item that is not to be written.
func still(item *Item) write.Result {
	switch item.Action() {
	case Failed, Keep:
		return write.Result{}
	case Delete:
		return write.Removed(item.Planned)
	default:
		return write.Foreseen(item.Planned)
	}
}
