package run

import (
	"context"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// Preview has the server try every item and calls report for each in input order, then
// for Others. Write.DryRun must be set. Since nothing is stored, a failure stops no other
// item.
func (p *Plan) Preview(ctx context.Context, report func(*Item)) {
	w := p.writer(report)
	for _, item := range p.Items {
		if item.writes() {
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
		return write.Left(item.Planned)
	default:
		return write.Foreseen(item.Planned)
	}
}
