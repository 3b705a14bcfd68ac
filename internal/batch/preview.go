package batch

import (
	"context"

	"github.com/kubectl-merge/kubectl-merge/internal/sink"
)

// Preview has the server try every item that Merge has planned, and calls tell for
// each in input order. Nothing is stored (Write.DryRun is to be set), and so one
// that is bad stops no other.
func (j *Job) Preview(ctx context.Context, items []*Item, tell func(*Item)) {
	w := j.writer(items, tell)
	for _, item := range items {
		if item.writable() {
			item.state = ready
		} else {
			w.through(ctx, item, still(item))
		}
	}
	w.send(ctx, w.in(ready), third)
	w.finish(ctx)
}

// still is the outcome of an item that is not to be written.
func still(item *Item) sink.Outcome {
	switch {
	case item.Err != nil:
		return sink.Outcome{}
	case len(item.Planned.Conflicts) > 0:
		return sink.Outcome{Word: sink.Unsettled, Object: item.Planned.Final, Planned: item.Planned}
	}
	return sink.Outcome{Word: sink.Unchanged, Object: item.Planned.Live, Planned: item.Planned}
}
