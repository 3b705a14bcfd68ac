package run

import (
	"context"

	"github.com/kubectl-merge/kubectl-merge/internal/write"
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
func still(item *Item) write.Result {
	if item.Err != nil {
		return write.Result{}
	}
	return write.Foreseen(item.Planned)
}
