package write

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
)

// ErrUnknown is what a write ended with of which nobody knows whether it was done. It is
// reported for each object.
var ErrUnknown = errors.New("whether it was written cannot be known: merge again to find out")

// lostTries is how often a write is sent whose answer is lost.
const lostTries = 3

// settle finds out what became of a write that ended with cause, which does not
// say, by reading the object again and merging anew. If that finds nothing to do, what
// was sent is what is reported. If it does, and nobody refused the write, it may be sent
// again: as every write it is bound to what was merged, so that one
// which is still on its way cannot be done on top of it. A server that asks to wait is
// waited for, within Cluster.Patience in sum. The error names the object.
//
// Unlike kubectl: which reports the lost answer, and leaves it to the user to find
// out whether the object was written.
func (c *applying) settle(ctx context.Context, cause error) error {
	pause, asked := cluster.RetryAfter(cause)
	if asked {
		if err := c.wait(ctx, pause, cause); err != nil {
			return err
		}
	} else {
		c.lost++
	}
	again := asked || cluster.Unanswered(cause) && !cluster.TooSlow(cause)
	if c.Write.DryRun {
		if (asked || cluster.Unanswered(cause)) && c.lost < lostTries {
			return nil
		}
		return fmt.Errorf("%s: %w", c.Target, cause)
	}
	doubt := "the server's answer to the write was lost"
	if cluster.IsRefusal(cause) {
		doubt = "the server answered the write with an error (" + cause.Error() + ")"
	}
	c.remember(c.out.Planned, doubt)
	if err := c.reread(ctx, c.lost); err != nil {
		if errors.Is(cause, context.Canceled) { // there is more to say than that the run was stopped
			cause = errors.New("interrupted while it was being written")
		}
		return fmt.Errorf("%s: %w: %w", c.Target, cause, ErrUnknown)
	}
	switch {
	case c.out.Planned.Action == apply.Nothing:
		return nil
	case again && c.lost < lostTries:
		return nil
	case !cluster.Unanswered(cause):
		return fmt.Errorf("%s: %w", c.Target, cause)
	}
	return fmt.Errorf("%s: %w: when it was read again it was not written: merge again", c.Target, cause)
}

// wait does as a server asks that answers "try again later", for as long in sum as
// one request may take. Else cause is the error.
func (c *applying) wait(ctx context.Context, pause time.Duration, cause error) error {
	c.waited += pause
	if most := c.API.Patience(); c.waited > most {
		return fmt.Errorf("%s: %w (it has asked to be waited for more than %s in all)", c.Target, cause, most)
	}
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", c.Target, ctx.Err())
	}
}
