package write

import (
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Outcome says what became of an object, as kubectl apply prints it.
type Outcome string

// The outcomes. kubectl has no Unsettled: conflicts are left, and nothing was written.
const (
	Created    Outcome = "created"
	Configured Outcome = "configured"
	Unchanged  Outcome = "unchanged"
	Unsettled  Outcome = "not written"
	Pruned     Outcome = "pruned"   // deleted, since no input has it any more
	Disowned   Outcome = "disowned" // part of its last-applied configuration was given up
	Edited     Outcome = "edited"   // its last-applied configuration was, by the user
)

// Result is what became of one object.
type Result struct {
	Outcome Outcome
	Object  map[string]any // as the server has it now; the result for Unsettled
	Planned apply.Planned  // what was sent in the end
	Notes   []string       // told: one line each, without the object's name
	Retries int            // how often it had to be read and merged again

	// Restored are the paths of values that were sent to be replaced or removed, and
	// that the server's answer has as before: an admission webhook, or the server, put
	// them back.
	Restored []merge.Path
}

// Writes says whether p asks for a write: something changes, and no conflict is left.
func Writes(p apply.Planned) bool {
	return p.Action != apply.Nothing && len(p.Conflicts) == 0
}

// Foreseen is the result that writing p would have, as far as the plan knows: what a
// run without a server reports, and of an object that is not sent what any run does.
// Object is nil where p is not stored whole.
func Foreseen(p apply.Planned) Result { return Result{}.of(p) }

// Removed is the result of deleting the object that p read.
func Removed(p apply.Planned) Result {
	return Result{Outcome: Pruned, Object: p.Live, Planned: p}
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

// stored is the result of a write that the server answered with obj; was is the version
// of the live object that was merged. One that came back with that version changed nothing. A dry run never comes back
// with another, so there the values have to tell.
func (o Result) stored(obj map[string]any, was string, dry bool) Result {
	p := o.Planned
	o = o.of(p)
	o.Object = obj
	same := !dry && version(obj) == was || dry && p.Final != nil && !differ(p.Live, obj)
	if p.Action == apply.Change && same {
		o.Outcome = Unchanged
	}
	if p.Action == apply.Change {
		o.Restored = restored(p, obj)
	}
	return o
}

func restored(p apply.Planned, obj map[string]any) []merge.Path {
	var paths []merge.Path
	check := func(at merge.Path, was any) {
		if v, ok := merge.Lookup(obj, at, p.Type); ok && merge.Identical(v, was) {
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
