package prune

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

// How often a deletion is decided anew after the object was changed, and sent again after a lost
// answer.
const (
	changedTries = 10
	lostTries    = 3
)

// deletion is the deletion of one member.
type deletion struct {
	*Set
	member Member
	// again decides about the member in its current state.
	again func(applyset.Member) applyset.Decision
	how   cluster.Deletion
	// recorded is the resourceVersion that may be deleted; "" for any.
	recorded string
}

// errKept reports that the member must not be deleted in its current state.
type errKept struct{ applyset.Decision }

// Error returns the reason.
func (e *errKept) Error() string { return e.Reason }

// do deletes the member, or has the server try it. The deletion is bound to the very object, and to
// the state, of the decision, so that a later mark to keep it counts. An object that is gone, or
// being deleted, counts as deleted once a read confirms it: a 404 alone is not trusted. The error
// is an *errKept if it is to be kept now, and a run.ErrChanged as the run.Pruner states it.
//
// Unlike kubectl: whose deletion is of whatever has that name by then.
func (d *deletion) do(ctx context.Context) error {
	for lost, try := 0, 0; ; try++ {
		d.how.UID, d.how.ResourceVersion = d.member.UID, d.member.ResourceVersion
		left, err := d.API.Delete(ctx, d.member.Target, d.how)
		switch {
		case err == nil:
			d.report(left)
			return nil
		case cluster.RefusesDryRun(err):
			d.Note(d.member.String(), "its deletion was not tried first: "+err.Error())
			return nil
		case cluster.IsConflict(err) && try >= changedTries:
			return errors.New("is changed so often that it could not be deleted: merge again")
		case cluster.IsConflict(err):
		case !cluster.Uncertain(err) && !cluster.IsNotFound(err) || lost >= lostTries:
			return err
		default:
			lost++
		}
		was := d.member.Member
		if gone, err := d.reread(ctx); gone || err != nil {
			return err
		}
		if cluster.IsConflict(err) && d.member.UID == was.UID && d.member.ResourceVersion == was.ResourceVersion {
			return err // it is unchanged: another component refused it
		}
		if d.recorded != "" && d.member.ResourceVersion != d.recorded {
			return fmt.Errorf("%w: %v", run.ErrChanged, err) // and so it was not deleted
		}
		pause(ctx, min(try, 5), nil) // Delete has waited as long as it was asked to
	}
}

// reread decides anew about the current member. It counts as gone if it does not exist, or is
// being deleted.
func (d *deletion) reread(ctx context.Context) (gone bool, err error) {
	obj, err := d.API.GetMetadata(ctx, d.member.Target)
	if cluster.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("whether it was deleted cannot be known: %v", err) // also after an interrupt: it may have been
	}
	d.member.Member = applyset.ReadMember(d.member.GroupKind, obj)
	switch decision := d.again(d.member.Member); decision.Action {
	case applyset.Delete:
		return false, nil
	case applyset.Terminating:
		d.report(obj)
		return true, nil
	default:
		return false, &errKept{decision}
	}
}

// report names the reasons why an object's deletion is not finished.
func (d *deletion) report(left map[string]any) {
	d.member.Finalizers = applyset.ReadMember(d.member.GroupKind, left).Finalizers
	if len(d.member.Finalizers) > 0 && !d.how.DryRun {
		d.Note(d.member.String(), "is being deleted, and waits for "+strings.Join(d.member.Finalizers, ", "))
	}
}
