package batch

import (
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// ErrInterrupted is why an item was not written when the user ended the run.
var ErrInterrupted = errors.New("the run was interrupted; merge again to finish it")

// ErrNotMerged is why an item was not even merged when the user ended the run: a
// diff ends like that, which writes nothing.
var ErrNotMerged = errors.New("the run was interrupted; run it again")

func notMerged(item *Item) error {
	return fmt.Errorf("%s: was not merged: %w", item.Target, ErrNotMerged)
}

// NotReached says that an item is as it was because others were refused.
type NotReached struct{ Target cluster.Target }

// Error names the object.
func (e *NotReached) Error() string {
	return e.Target.String() + ": was not written, because of the other errors: mend them, and merge again"
}
