package prune

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// How often a deletion is decided anew since the object was changed, and sent again since
// its answer was lost.
const (
	changedTries = 10
	lostTries    = 3
)

// deletion is one member that is to be deleted.
type deletion struct {
	*Set
	member Member
	// again decides about the member as it has become.
	again func(applyset.Member) applyset.Decision
	how   cluster.Deletion
}

// errKept is that the member is not to be deleted as it is now.
type errKept struct{ applyset.Decision }

// Error is the reason.
func (e *errKept) Error() string { return e.Reason }

// do deletes the member, or has the server try it. It is bound to the very object, and to
// its state, that the decision was made on: whoever marks it to be kept meanwhile is in
// time. What is gone, or on its way out, counts as deleted, once it was read: an answer that it is
// not there is not believed alone. The error is an *errKept where
// it is to be kept now.
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
		case refusesDryRun(err):
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
			return err // nobody has changed it: that is a refusal of somebody else's
		}
		pause(ctx, min(try, 5))
	}
}

// reread decides anew about the member as it is now. It is gone where there is none, or
// another is on its way out.
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

// report names what an object that is being deleted waits for.
func (d *deletion) report(left map[string]any) {
	m := applyset.ReadMember(d.member.GroupKind, left)
	if len(m.Finalizers) > 0 && !d.how.DryRun {
		d.Note(d.member.String(), "is being deleted, and waits for "+strings.Join(m.Finalizers, ", "))
	}
}

// refusesDryRun: the refusal of a webhook that cannot do dry runs is not about the object.
func refusesDryRun(err error) bool {
	return cluster.IsRefusal(err) && strings.Contains(strings.ToLower(err.Error()), "dry run") && strings.Contains(err.Error(), "support")
}
