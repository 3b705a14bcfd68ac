package write

import (
	"context"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/patch"
)

// apply sends a server-side apply. After a write of owners, the plan is tried first: that was
// impossible before.
func (c *applying) apply(ctx context.Context, r apply.Request) (map[string]any, error) {
	w := c.Write
	w.Force = r.Force
	if c.first != nil && !w.DryRun {
		trial := w
		trial.DryRun = true
		obj, err := c.API.Apply(ctx, c.Target, r.Body, trial)
		if err == nil {
			err = verify(c.out.Planned, obj)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.API.Apply(ctx, c.Target, r.Body, w)
}

// verified returns the error of a trial whose result is not the planned one. It names the object.
func (c *applying) verified(obj map[string]any) error {
	if c.out.Planned.Applying == nil {
		return nil
	}
	if err := verify(c.out.Planned, obj); err != nil {
		return fmt.Errorf("%s: %w", c.Target, err)
	}
	return nil
}

// prepares reports whether the object gets other owners before the plan is written.
func (c *applying) prepares() bool {
	a := c.out.Planned.Applying
	return a != nil && a.Owners != nil && !c.Write.DryRun
}

// handOver writes only the owners that a plan needs, without a value, and merges again. The write
// is bound to the object that was merged. The error names the object.
func (c *applying) handOver(ctx context.Context, try int) error {
	p := c.out.Planned
	if try >= boundTries+pinnedTries {
		return fmt.Errorf("%s: its managedFields could not be written in %d tries: nothing was written: merge again", c.Target, try)
	}
	obj, err := c.API.JSONPatch(ctx, c.Target, []patch.Op{
		{Op: "test", Path: "/metadata/resourceVersion", Value: version(p.Live)},
		{Op: "add", Path: "/metadata/managedFields", Value: p.Applying.Owners},
	}, c.Write)
	switch {
	case err == nil:
	case cluster.Uncertain(err), c.overtaken(err):
		if _, err = c.obey(ctx, err); err != nil {
			return err
		}
		return c.reread(ctx, try)
	default:
		return fmt.Errorf("%s: %w", c.Target, c.refused(ctx, err))
	}
	if c.first == nil {
		c.first = &p
	}
	c.read = version(obj)
	if c.out.Planned, err = c.Replan(ctx, obj); err != nil {
		return err
	}
	return nil
}

// reportFirst reports the plan as it was before its owners were written: it has the other managers'
// values.
func (c *applying) reportFirst() {
	if c.first != nil {
		c.out.Planned = *c.first
	}
}
