package run

import (
	"reflect"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/guard"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// Details holds what a run learns about an item beyond its object and target. Most items of a large
// run learn nothing: all items with the same action and outcome share one Details, which takes the
// memory of one.
type Details struct {
	Answers []apply.Answer // how the user settled its conflicts, and which changes they rejected
	Planned apply.Planned
	Result  write.Result    // its Outcome is "" until the item is done
	Guards  []guard.Finding // who else manages the object or its fields, where the merge changes it

	stated  guard.Stated
	fixed   []string // fields that cause it to be recreated, or that the server is expected to refuse
	remedy  string   // the remedy for them; see Plan.remedy
	refusal error    // the last one, while deferred
	stored  stored
}

// summary is the part of Details that items share.
type summary struct {
	action, sent apply.Action // of Planned, and of Result.Planned
	outcome      write.Outcome
	form         form
}

// common are the Details that items share, by their summary. They are not modified.
var common sync.Map

func commonOf(g summary) *Details {
	if d, ok := common.Load(g); ok {
		return d.(*Details)
	}
	d := new(Details)
	d.set(g)
	kept, _ := common.LoadOrStore(g, d)
	return kept.(*Details)
}

// NewItem returns an item with the Details of an unread object.
func NewItem(o object.Object, t cluster.Target) *Item {
	return &Item{Object: o, Target: t, Details: commonOf(summary{})}
}

// summary returns the part that items share.
func (d *Details) summary() summary {
	return summary{d.Planned.Action, d.Result.Planned.Action, d.Result.Outcome, d.stored.form}
}

// shared reports whether other items may have the same Details.
func (i *Item) shared() bool {
	d, ok := common.Load(i.summary())
	return ok && d == i.Details
}

// Own gives the item its own copy of its Details. It must be called before any of them is set.
func (i *Item) Own() {
	if i.shared() {
		own := *i.Details
		i.Details = &own
	}
}

// With returns the item with another object and other details, as a printer may see it.
func (i *Item) With(o object.Object, d *Details) *Item {
	return &Item{
		Details: d, Object: o, Target: i.Target, Err: i.Err, Late: i.Late, Skipped: i.Skipped, UID: i.UID, Facts: i.Facts, Surplus: i.Surplus,
		found: i.found, changes: i.changes, tried: i.tried, recreate: i.recreate, state: i.state, written: i.written,
	}
}

// share replaces the item's Details by shared ones if they hold nothing but their summary. Object and
// target are left out; see dress. Details that other items consult are not replaced.
func (i *Item) share() {
	if i.shared() || i.consulted() {
		return
	}
	d, g := i.Details, i.summary()
	planned, sent := d.Planned.Subject, d.Result.Planned.Subject
	if g.action == apply.Nothing {
		d.stored.request = nil // of no change
	}
	if d.stated.Fields == 0 {
		d.stated = guard.Stated{}
	}
	d.Planned.Subject, d.Result.Planned.Subject = apply.Subject{}, apply.Subject{}
	d.set(summary{})
	if reflect.ValueOf(d).Elem().IsZero() {
		i.Details = commonOf(g)
		return
	}
	d.Planned.Subject, d.Result.Planned.Subject = planned, sent
	d.set(g)
}

func (d *Details) set(g summary) {
	d.Planned.Action, d.Result.Planned.Action, d.Result.Outcome, d.stored.form = g.action, g.sent, g.outcome, g.form
}

// dress gives an item that shares its Details its own, with object and target, for printers and
// reports.
func (i *Item) dress() {
	if !i.shared() {
		return
	}
	i.Own()
	i.Planned.Subject = apply.Subject{Object: i.Object, Name: i.Target.String(), HasStatus: i.Target.Status}
	i.Result.Planned.Subject = i.Planned.Subject
}
