package run

import (
	"reflect"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/guard"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// Details is what is known of an item beyond what every item has until the run ends. Most items
// of a large run have none: they share the Details of all items with the same action and
// outcome, which take the room of one.
type Details struct {
	Answers []apply.Answer // how the user settled its conflicts, and which changes are not wanted
	Planned apply.Planned
	Result  write.Result    // its Outcome is "" until the item is done
	Guards  []guard.Finding // who else manages the object or its fields, where the merge changes it

	stated  guard.Stated
	fixed   []string // fields because of which it is deleted and created again, or the server is expected to refuse it
	remedy  string   // what can be done about them; see Plan.remedy
	refusal error    // the last one, while deferred
	stored  stored
}

// gist is what is left of Details that items share.
type gist struct {
	action, sent apply.Action // of Planned, and of Result.Planned
	outcome      write.Outcome
	form         form
}

// common are the Details that items share, by their gist. They are not modified.
var common sync.Map

func commonOf(g gist) *Details {
	if d, ok := common.Load(g); ok {
		return d.(*Details)
	}
	d := new(Details)
	d.set(g)
	kept, _ := common.LoadOrStore(g, d)
	return kept.(*Details)
}

// NewItem is an item of which nothing is known yet.
func NewItem(o object.Object, t cluster.Target) *Item {
	return &Item{Object: o, Target: t, Details: commonOf(gist{})}
}

// gist is that of the details.
func (d *Details) gist() gist {
	return gist{d.Planned.Action, d.Result.Planned.Action, d.Result.Outcome, d.stored.form}
}

// shared reports whether other items may have the same Details.
func (i *Item) shared() bool {
	d, ok := common.Load(i.gist())
	return ok && d == i.Details
}

// Own gives the item Details of its own, as they are. It is to be called before any of them is
// set.
func (i *Item) Own() {
	if i.shared() {
		own := *i.Details
		i.Details = &own
	}
}

// With is the item with another object and other details, as a printer may see it.
func (i *Item) With(o object.Object, d *Details) *Item {
	return &Item{
		Details: d, Object: o, Target: i.Target, Err: i.Err, Late: i.Late, Skipped: i.Skipped, UID: i.UID, Facts: i.Facts, Surplus: i.Surplus,
		found: i.found, changes: i.changes, tried: i.tried, recreate: i.recreate, state: i.state, written: i.written,
	}
}

// share has the item share its Details if there is nothing else in them than their gist. What
// they are about is left out; see dress. Those that other items consult stay where they are.
func (i *Item) share() {
	if i.shared() || i.consulted() {
		return
	}
	d, g := i.Details, i.gist()
	planned, sent := d.Planned.Subject, d.Result.Planned.Subject
	if g.action == apply.Nothing {
		d.stored.request = nil // that of nothing
	}
	if d.stated.Fields == 0 {
		d.stated = guard.Stated{}
	}
	d.Planned.Subject, d.Result.Planned.Subject = apply.Subject{}, apply.Subject{}
	d.set(gist{})
	if reflect.ValueOf(d).Elem().IsZero() {
		i.Details = commonOf(g)
		return
	}
	d.Planned.Subject, d.Result.Planned.Subject = planned, sent
	d.set(g)
}

// set puts a gist in place of the one that is there.
func (d *Details) set(g gist) {
	d.Planned.Action, d.Result.Planned.Action, d.Result.Outcome, d.stored.form = g.action, g.sent, g.outcome, g.form
}

// dress gives an item that shares its Details its own, with what they are about, for those who
// report it.
func (i *Item) dress() {
	if !i.shared() {
		return
	}
	i.Own()
	i.Planned.Subject = apply.Subject{Object: i.Object, Name: i.Target.String(), HasStatus: i.Target.Status}
	i.Result.Planned.Subject = i.Planned.Subject
}
