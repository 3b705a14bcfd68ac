package write

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// ErrUnknown reports that it cannot be determined whether a write was executed. It is
// reported for each object by name.
var ErrUnknown = errors.New("whether it was written cannot be known: merge again to find out")

// lostTries is how often a write is sent if its response is lost.
const lostTries = 3

// obey pauses as long as an answer asks for. The error names the object.
func (c *applying) obey(ctx context.Context, answer error) (asked bool, err error) {
	c.pauses.Most = c.API.Patience()
	if asked, err = c.pauses.Obey(ctx, answer); err != nil {
		err = fmt.Errorf("%s: %w", c.Target, err)
	}
	return asked, err
}

// settle handles a write of which cause leaves open whether it was executed: it reads the object
// and merges again. If nothing is left to do, the write is reported. Otherwise the write may be
// sent again. Since every write is bound to the state that was merged, a request still in transit
// cannot be applied on top of it. A server that asks to wait is obeyed, up to API.Patience in
// total. The error names the object.
//
// Unlike kubectl: which reports the lost answer, and leaves it to the user to find
// out whether the object was written.
func (c *applying) settle(ctx context.Context, cause error) error {
	asked, err := c.obey(ctx, cause)
	switch {
	case err != nil:
		return err
	case !asked:
		c.lost++
	}
	again := asked || cluster.Unanswered(cause) && !cluster.TooSlow(cause)
	if c.Write.DryRun {
		if (asked || cluster.Unanswered(cause)) && c.lost < lostTries {
			return nil
		}
		return fmt.Errorf("%s: %w", c.Target, c.refused(ctx, cause))
	}
	doubt := "the server's answer to the write was lost"
	if cluster.IsRefusal(cause) {
		doubt = "the server answered the write with an error (" + cause.Error() + ")"
	}
	c.remember(c.out.Planned, doubt)
	if err := c.reread(ctx, c.lost); err != nil {
		if errors.Is(cause, context.Canceled) { // the write itself was interrupted, not only the run
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
		return fmt.Errorf("%s: %w", c.Target, c.refused(ctx, cause))
	}
	return fmt.Errorf("%s: %w: when it was read again it was not written: merge again", c.Target, cause)
}
