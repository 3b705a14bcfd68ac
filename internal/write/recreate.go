package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
)

// Recreation is an object that is deleted and created again, since a field of it is immutable.
type Recreation struct {
	// Planned was merged with the object that is deleted; Prepared is not used. Begin is called before
	// each deletion that is not a dry run. If the object is deleted, end is called only when it is
	// created again: until then the write is in progress.
	Task
	Propagation cluster.Propagation
	Within      time.Duration // how long the deleted object may still be there; 0: two minutes
}

// How long a deleted object may still exist, how often its deletion is decided anew after a change,
// and how often its creation is tried.
const (
	goneWithin  = 2 * time.Minute
	deleteTries = 5
	createTries = 8
)

// Recreate deletes the very object that was merged, waits until it is gone, and creates it again.
// In a dry run, the server tries both. If the new object is refused, the old one is created again
// as it was configured. If that fails, too, or the server cannot be reached, the error reports
// that, and the next merge creates the object. The error names the object.
//
// Unlike kubectl: whose apply --force deletes the object after any refusal, and finds out
// afterwards whether the new one is accepted.
func (s *Server) Recreate(ctx context.Context, r Recreation) (Result, error) {
	c := recreating{Server: s, Recreation: r}
	if err := c.body(); err != nil {
		return c.out, err
	}
	if s.Write.DryRun {
		return c.try(ctx)
	}
	if err := c.remove(ctx); err != nil {
		return c.out, err
	}
	if err := c.gone(ctx); err != nil {
		return c.out, err
	}
	return c.create(ctx)
}

// recreating is the state of one Recreate.
type recreating struct {
	*Server
	Recreation
	out Result                                 // its Object is the one to create, until it is created
	end func(stored map[string]any, err error) // of the deletion that was executed
}

// begin records a deletion.
func (c *recreating) begin() (err error) {
	if c.end = func(map[string]any, error) {}; c.Begin == nil {
		return nil
	}
	if c.end, err = c.Begin(c.Planned); err != nil {
		return fmt.Errorf("%s: was not written: %w", c.Target, err)
	}
	return nil
}

// body builds the object to create from the current plan.
func (c *recreating) body() error {
	obj, err := c.Planned.Recreation()
	if err != nil {
		return fmt.Errorf("%s: cannot be created again: %w", c.Target, err)
	}
	c.out = Result{Outcome: Recreated, Object: obj, Planned: c.Planned}
	_, kept := ownership.Divide(ownership.Others(c.Planned.Live, c.Write.FieldManager), c.Planned.Changes)
	c.out.Planned.Theirs = slices.Concat(c.Planned.Theirs, kept)
	return nil
}

// try has the server try both. A valid object is refused only because the old one still exists.
func (c *recreating) try(ctx context.Context) (Result, error) {
	if _, err := c.API.Delete(ctx, c.Target, c.deletion(false)); err != nil {
		return c.out, fmt.Errorf("%s: cannot be deleted to be created again: %w", c.Target, err)
	}
	_, err := c.API.Send(ctx, c.Target, cluster.Create, c.out.Object, c.Write)
	if err != nil && !cluster.IsAlreadyExists(err) {
		return c.out, fmt.Errorf("%s: cannot be created again, and so was not deleted: %w", c.Target, err)
	}
	return c.out, nil
}

// deletion returns the Deletion for the object that was merged; unless others write it constantly,
// also for its state.
func (c *recreating) deletion(bound bool) cluster.Deletion {
	d := cluster.Deletion{UID: object.UID(c.Planned.Live), Propagation: c.Propagation, DryRun: c.Write.DryRun}
	if bound {
		d.ResourceVersion = version(c.Planned.Live)
	}
	return d
}

// remove deletes the object. If it was changed meanwhile, it is merged again.
func (c *recreating) remove(ctx context.Context) error {
	for try := 0; ; try++ {
		if err := c.begin(); err != nil {
			return err
		}
		d := c.deletion(try < deleteTries)
		_, err := c.API.Delete(ctx, c.Target, d)
		if err == nil || cluster.IsNotFound(err) {
			return nil
		}
		if !cluster.Uncertain(err) {
			c.end(nil, err)
		}
		if try >= 2*deleteTries || !cluster.IsConflict(err) && !cluster.Uncertain(err) {
			return fmt.Errorf("%s: was not deleted, to be created again: %w", c.Target, err)
		}
		live, err := c.API.Get(ctx, c.Target)
		switch {
		case cluster.IsNotFound(err):
			return nil
		case err != nil:
			return fmt.Errorf("%s: whether it was deleted is not known: %w: merge again", c.Target, err)
		case object.UID(live) != d.UID:
			return fmt.Errorf("%s: was replaced by another object meanwhile: merge again", c.Target)
		case apply.Deleting(live) != nil:
			return nil
		}
		if c.Planned, err = c.Replan(ctx, live); err != nil {
			return err
		}
		if len(c.Planned.Conflicts) > 0 {
			return fmt.Errorf("%s: was changed by others meanwhile, and now has conflicts: nothing was deleted: merge again", c.Target)
		}
		if err := c.body(); err != nil {
			return err
		}
	}
}

// gone waits until the object no longer exists.
func (c *recreating) gone(ctx context.Context) error {
	within := cmp.Or(c.Within, goneWithin)
	waited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		live, err := c.API.Get(ctx, c.Target)
		switch {
		case cluster.IsNotFound(err), err == nil && live == nil:
			return nil
		case err == nil && object.UID(live) != c.deletion(false).UID:
			return fmt.Errorf("%s: was deleted, and has been created by others since: merge again", c.Target)
		}
		if cluster.Sleep(waited, pause) != nil {
			why := "has not gone"
			if held := (object.Object{Value: live}).Finalizers(); len(held) > 0 {
				why = "waits for its finalizers " + strings.Join(slices.Sorted(slices.Values(held)), ", ")
			}
			if ctx.Err() == nil {
				why += " after " + within.String()
			}
			return fmt.Errorf("%s: was deleted and %s, so that it was not created again: merge again once it is gone, which creates it%s", c.Target, why, c.orUndo())
		}
	}
}

// create creates the object, and retries as long as that may help: it was deleted.
func (c *recreating) create(ctx context.Context) (Result, error) {
	for try := 1; ; try++ {
		obj, err := c.API.Send(ctx, c.Target, cluster.Create, c.out.Object, c.Write)
		if cluster.IsAlreadyExists(err) && try > 1 { // an earlier answer may have been lost
			live, failed := c.API.Get(ctx, c.Target)
			if failed == nil && lastapplied.Read(live).Text == lastapplied.Read(c.out.Object).Text {
				obj, err = live, nil
			}
		}
		if err == nil {
			c.out.Object = obj
			c.end(obj, nil)
			a := applying{Server: c.Server, Task: c.Task, record: record{end: c.end}}
			return a.give(ctx, c.out), nil
		}
		again := cluster.Uncertain(err) || cluster.Code(err) >= 429 || errors.As(err, new(*cluster.Unreachable))
		if !again {
			return c.out, c.restored(ctx, err)
		}
		pause, _ := cluster.RetryAfter(err)
		if try == createTries || cluster.Sleep(ctx, max(pause, time.Duration(try)*250*time.Millisecond)) != nil {
			return c.out, c.lost(err)
		}
	}
}

// lost returns the error of an object that was deleted and could not be created.
func (c *recreating) lost(err error) error {
	return fmt.Errorf("%s: WAS DELETED AND IS NOT CREATED YET: %w: merge again, which creates it%s", c.Target, err, c.orUndo())
}

// orUndo returns the other remedy for an object that was deleted, if there is a record of it.
func (c *recreating) orUndo() string {
	if c.Begin == nil {
		return ""
	}
	return ", or undo the record of this run, which creates the old one"
}

// restored returns the error of an object that was deleted, and refused: the old one is created
// again, if the server accepts it.
func (c *recreating) restored(ctx context.Context, refusal error) error {
	if _, err := c.API.Send(ctx, c.Target, cluster.Create, c.Planned.Former(), c.Write); err != nil {
		return c.lost(refusal)
	}
	return fmt.Errorf("%s: was deleted, and is there again as it was configured, since the new one is refused: %w", c.Target, refusal)
}
