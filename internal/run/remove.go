package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
)

// lostTries is how often a deletion is sent again after a lost answer.
const lostTries = 3

// Removal is the deletion of one object about which others than the input decide. Its functions
// must all be set.
type Removal struct {
	Delete   func(ctx context.Context, t cluster.Target, d cluster.Deletion) (left map[string]any, err error)
	Target   cluster.Target
	How      cluster.Deletion // with the UID and the ResourceVersion that were decided about
	Recorded string           // the resourceVersion that may be deleted; "" for any

	// Read reads the object, or its metadata. It is gone if there is none, or the error is
	// cluster.IsNotFound.
	Read func(ctx context.Context, t cluster.Target) (map[string]any, error)

	// Again decides anew about the object as Read found it; still is false if there is nothing to
	// delete any more.
	Again func(obj map[string]any) (still bool, err error)

	Left func(obj map[string]any) // is called with the object, if the server still has it after its deletion
	Note func(text string)
}

// Do deletes the object, or has the server try it. The deletion is bound to the very object, and to
// the state, of the decision, so that a later mark to keep it counts. An object that is gone counts
// as deleted once a read confirms it: a 404 alone is not trusted. The error is an ErrChanged as the
// Pruner states it.
//
// Unlike kubectl: whose deletion is of whatever has that name by then.
func (r *Removal) Do(ctx context.Context) error {
	for lost, try := 0, 0; ; try++ {
		left, err := r.Delete(ctx, r.Target, r.How)
		conflict := cluster.IsConflict(err)
		switch {
		case err == nil:
			if left != nil && !r.How.DryRun {
				r.Left(left)
			}
			return nil
		case cluster.RefusesDryRun(err):
			r.Note("its deletion was not tried first: " + err.Error())
			return nil
		case conflict && try >= MostChanges:
			return errors.New("is changed so often that it could not be deleted: run this again")
		case conflict:
		case !cluster.Uncertain(err) && !cluster.IsNotFound(err) || lost >= lostTries:
			return err
		default:
			lost++
		}
		obj, failed := r.Read(ctx, r.Target)
		switch {
		case cluster.IsNotFound(failed), failed == nil && obj == nil:
			return nil
		case failed != nil:
			return fmt.Errorf("whether it was deleted cannot be known: %v", failed) // also after an interrupt: it may have been
		}
		if still, err := r.Again(obj); err != nil || !still {
			return err
		}
		o, was := object.Object{Value: obj}, r.How
		r.How.UID, r.How.ResourceVersion = o.UID(), o.ResourceVersion()
		switch {
		case conflict && r.How == was:
			return err // it is unchanged: another component refused it
		case r.Recorded != "" && o.ResourceVersion() != r.Recorded:
			return fmt.Errorf("%w: %v", ErrChanged, err) // and so it was not deleted
		}
		_ = cluster.Sleep(ctx, time.Duration(min(try, 5)+1)*100*time.Millisecond) // Delete has waited as long as it was asked to
	}
}
