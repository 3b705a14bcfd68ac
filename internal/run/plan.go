package run

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
)

// Plan is a run as a value: what the run was given, and for every object what the run
// does with it and why. A diff, a dry run, a report and the writes read it, and merge
// nothing themselves.
type Plan struct {
	*Job
	Items  []*Item // the objects of the input, in its order
	Others []*Item // live objects that no input has, see Pruner, in the order of deletion
	Err    error   // what is wrong with no single item; nothing is written then

	large bool // what is shown waits compressed until then
}

// Action is what a run does with an object.
type Action string

// The actions.
const (
	Create    Action = "create"
	Change    Action = "change"
	Unchanged Action = "unchanged" // it is as it should be
	Held      Action = "held"      // it has conflicts, which are left to the user
	Delete    Action = "delete"    // no input has it
	Keep      Action = "keep"      // no input has it, and it is not to be deleted
	Failed    Action = "failed"
)

// Action is what the run does with the item, as far as it is known by now.
func (i *Item) Action() Action {
	switch {
	case i.Err != nil:
		return Failed
	case i.Surplus != nil && i.Surplus.Keep:
		return Keep
	case i.Surplus != nil:
		return Delete
	case len(i.Planned.Conflicts) > 0:
		return Held
	case i.Planned.Action == apply.Create:
		return Create
	case i.Planned.Action == apply.Change:
		return Change
	}
	return Unchanged
}

// Reason says why the item's action is what it is; "" where its merge plan does.
func (i *Item) Reason() string {
	switch i.Action() {
	case Failed:
		return i.Err.Error()
	case Keep, Delete:
		return i.Surplus.Reason
	case Held:
		paths := make([]string, len(i.Planned.Conflicts))
		for n, c := range i.Planned.Conflicts {
			paths[n] = c.Path.String()
		}
		return "conflicts: " + strings.Join(paths, ", ")
	}
	return ""
}

// writes: the item is one of the input, and is to be written.
func (i *Item) writes() bool {
	a := i.Action()
	return a == Create || a == Change
}

// Failed joins what is wrong with the run and with its items, of those an *ObjectError
// each; nil where nothing is.
func (p *Plan) Failed() error {
	errs := []error{p.Err}
	for _, item := range slices.Concat(p.Items, p.Others) {
		for _, err := range []error{item.Err, item.Late} {
			if err != nil {
				errs = append(errs, &ObjectError{Target: item.Target, Err: err})
			}
		}
	}
	return errors.Join(errs...)
}

// Kept are the objects that no input has, and that are not deleted: what is to become
// of them is left to the user.
func (p *Plan) Kept() []*Item {
	return slices.DeleteFunc(slices.Clone(p.Others), func(i *Item) bool { return i.Action() != Keep })
}
