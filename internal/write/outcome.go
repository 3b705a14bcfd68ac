package write

import (
	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Outcome states what happened to an object, as kubectl apply prints it; those of a run's summary
// are among them.
type Outcome string

// The outcomes.
const (
	Created    Outcome = "created"
	Configured Outcome = "configured"
	Unchanged  Outcome = "unchanged"
	Unsettled  Outcome = "not written" // because of conflicts, its own or others', or of others' errors
	Recreated  Outcome = "recreated"   // deleted and created again, since a field of it is immutable
	Pruned     Outcome = "pruned"      // deleted, since the input does not contain it any more
	Disowned   Outcome = "disowned"    // fields were removed from its last-applied configuration
	Edited     Outcome = "edited"      // the user edited its last-applied configuration
	Failed     Outcome = "failed"
	NotPruned  Outcome = "not pruned" // because of others' errors or conflicts
	Deleted    Outcome = "deleted"    // an undo has deleted an object that the run had created
	Kept       Outcome = "kept"       // the input does not have it any more, and it must not be deleted
)

// Word returns the outcome as kubectl apply prints it: one word for all writes of server-side
// apply.
//
// Unlike kubectl: which prints it where nothing was to be written, too.
func (o Result) Word() string {
	if o.Planned.Applying != nil && (o.Outcome == Created || o.Outcome == Configured) {
		return "serverside-applied"
	}
	return string(o.Outcome)
}

// Written reports whether the object was written, and exists.
func (o Outcome) Written() bool { return o == Created || o == Configured || o == Recreated }

// Left reports whether nothing was done with the object, because of others or of what is left to the user.
func (o Outcome) Left() bool { return o == Unsettled || o == NotPruned }

// Result describes what happened to one object.
type Result struct {
	Outcome Outcome
	Object  map[string]any // as stored by the server; the merge result for Unsettled
	Planned apply.Planned  // the plan that was sent last
	Notes   []string       // one line each, without the object's name

	// Restored holds the paths of values that were sent to be replaced or removed, and that the
	// server's answer has as before: an admission webhook, or the server, restored them.
	Restored []merge.Path
	Unstored []merge.Path // of other values that were sent, and that the answer lacks or has changed
}

// Writes reports whether p leads to a write: something changes and no conflict is left.
func Writes(p apply.Planned) bool {
	return p.Action != apply.Nothing && len(p.Conflicts) == 0
}

// Foreseen returns the expected result of writing p. A client-side dry run reports it, and any run
// reports it for an object for which nothing is sent. Object is nil if p is not stored whole.
func Foreseen(p apply.Planned) Result { return Result{}.of(p) }

// Removed returns the result of deleting the object that p read.
func Removed(p apply.Planned) Result {
	return Result{Outcome: Pruned, Object: p.Live, Planned: p}
}

// Again returns the expected result of deleting the object that p read and creating it again.
func Again(p apply.Planned) Result {
	o := Result{Outcome: Recreated, Object: p.Final, Planned: p}
	if obj, err := p.Recreation(); err == nil {
		o.Object = obj
	}
	return o
}

func (o Result) of(p apply.Planned) Result {
	o.Planned, o.Object = p, p.Final
	switch {
	case len(p.Conflicts) > 0:
		o.Outcome = Unsettled
	case p.Action == apply.Create:
		o.Outcome = Created
	case p.Action == apply.Change:
		o.Outcome = Configured
	default:
		o.Outcome, o.Object = Unchanged, p.Live
	}
	return o
}

// stored returns the result of a write to which the server responded with obj. was is the version
// of the live object that was merged: the same version means that nothing changed. A dry run, and the
// write that completes a deletion, always return the same version, so the values are compared. A run also
// writes the owners that a plan needs.
func (o Result) stored(obj map[string]any, was string, dry bool) Result {
	p := o.Planned
	o = o.of(p)
	o.Object = obj
	same := version(obj) == was
	if dry || apply.Deleting(p.Live) != nil {
		same = p.Final != nil && !differ(p.Live, obj) && (p.Applying == nil || p.Applying.Owners == nil)
	}
	if p.Action == apply.Change && same {
		o.Outcome = Unchanged
	}
	if p.Action == apply.Change {
		o.Restored = restored(p, obj)
	}
	return o
}

func restored(p apply.Planned, obj map[string]any) (paths []merge.Path) {
	now := merge.NewFinder(obj, p.Type)
	check := func(at merge.Path, was any) {
		if v, ok := now.Lookup(at); ok && merge.Identical(v, was) {
			paths = append(paths, at)
		}
	}
	for _, d := range p.Settled {
		if d.Winner != merge.LiveSide && d.Live.Set {
			check(d.Path, d.Live.Value)
		}
	}
	for _, r := range p.Removed {
		check(r.Path, r.Value)
	}
	return paths
}
