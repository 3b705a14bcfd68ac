package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/drift"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

// driftEvery is the interval of searches for members of a set that are in no file, and of reads of
// objects that may not be watched.
const driftEvery = 10 * time.Second

// follow reports the differences, and then each change of them, until the time is over or the user
// ends it. The report is that of the end.
func (c *comparison) follow(ctx context.Context) (*drift.Report, error) {
	stream, err := c.format.Stream(c.Out, c.options)
	if err != nil {
		return nil, fmt.Errorf("--watch: --output=%s: %w", c.output, err)
	}
	w := &drift.Watcher{API: c.session.api, Manager: c.Planner.Manager, Compare: c.Compare, Every: driftEvery, Event: stream.Event, Noted: c.noted}
	if c.call.set.name != "" {
		w.Orphans = c.members
	}
	report := &drift.Report{}
	c.each(ctx, func(item *run.Item) {
		if item.Err == nil {
			w.Add(item, report.Add(item, w.Manager))
		} else {
			w.Add(item, nil)
		}
	})
	report.Errors = lines(compared(c.Failed()), c.secretValues())
	for _, line := range report.Errors {
		c.noted(line)
	}
	if err := stream.Begin(report); err != nil || ctx.Err() != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	if w.Orphans == nil {
		c.Items = nil // the watch has its own copies
	}
	c.watched = true
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	bad := w.Watch(ctx)
	return c.end(w.Report(), errors.Join(c.Plan.Err, w.Failed(), bad), stream.End)
}

// noted prints a note about the watch as a whole.
func (c *comparison) noted(text string) { c.notes.set()("drift", c.secretValues().Blank(text)) }

// members returns the current members of the set that are in no file.
func (c *comparison) members(ctx context.Context) ([]*run.Item, error) {
	set, err := c.readSet(ctx, c.call.set, c.session.api)
	if err == nil {
		err = set.Existing()
	}
	if err != nil {
		return nil, err
	}
	return (&prune.Pruner{Set: set, Limit: c.concurrency}).Decide(ctx, c.Plan)
}
