package batch

import (
	"errors"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// ErrInterrupted is why an item was not written when the user ended the run.
var ErrInterrupted = errors.New("the run was interrupted; merge again to finish it")

// NotReached says that an item is as it was because others were refused.
type NotReached struct{ Target cluster.Target }

// Error names the object.
func (e *NotReached) Error() string {
	return e.Target.String() + ": was not written, because of the other errors: mend them, and merge again"
}
