package sink

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/plan"
)

// lostTries is how often a write is sent whose answer gets lost.
const lostTries = 3

// settle finds out what became of a write that ended with cause, which does not
// tell, by reading the object again. It is done if the object is as it should be.
// If it is not, and nobody refused the write, it may be sent again: as every write
// it is bound to what was merged, so that one which is still on its way cannot be
// done on top of it. The error names the object.
//
// Unlike kubectl: which tells of the lost answer, and leaves it to the user to find
// out whether the object was written.
func (c *carrying) settle(ctx context.Context, cause error) (done bool, err error) {
	c.lost++
	action, written := c.out.Planned.Action, !c.Write.DryRun
	switch {
	case !written && cluster.Unanswered(cause) && c.lost < lostTries:
		return false, nil
	case !written:
		return false, fmt.Errorf("%s: %w", c.target, cause)
	}
	if err := c.reread(ctx, c.lost); err != nil {
		if errors.Is(cause, context.Canceled) { // there is more to say than that the run was stopped
			cause = errors.New("interrupted while it was being written")
		}
		return false, fmt.Errorf("%s: %w: whether it was written cannot be known: merge again to find out", c.target, cause)
	}
	switch {
	case c.out.Planned.Action == plan.Nothing:
		c.out.Object, c.out.Word = c.out.Planned.Live, Configured
		if action == plan.Create {
			c.out.Word = Created
		}
		c.out.Notes = append(c.out.Notes, "the server's answer to the write got lost; read again, the object is as it should be")
		return true, nil
	case !cluster.Unanswered(cause):
		return false, fmt.Errorf("%s: %w", c.target, cause)
	case cluster.TooSlow(cause), c.lost == lostTries:
		return false, fmt.Errorf("%s: %w: when it was read again it was not written: merge again", c.target, cause)
	}
	return false, nil
}
