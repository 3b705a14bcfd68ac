package apply

import (
	"cmp"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
)

// Membership is the set that the objects of a run become part of (KEP-3659). Its label is
// merged like a field that local states, and is never part of last-applied.
type Membership struct {
	ID   string // the value of the label
	Name string // the set as messages name it: secret/shop
}

// OtherSet is the error of an object that is part of another set. It is never taken over
// silently: the other set would delete it, or stop deleting it.
//
// Unlike kubectl: it writes its own label over the other.
type OtherSet struct {
	Object string // deployment.apps/web -n shop, as a command line names it
	ID     string // of the set that it is part of
	Name   string // the same as messages name it; "" where that is not known
	From   string // the same as a command line names it; "" for ID
	Into   string // the set of this run
	New    bool   // that set does not exist yet: its name may be misspelt
}

// Error names both sets, and says how to move the object.
func (e *OtherSet) Error() string {
	other, from, missing := cmp.Or(e.Name, "another set ("+e.ID+")"), cmp.Or(e.From, e.ID), ""
	if e.New {
		missing = "no such set exists yet: correct its name or, "
	}
	return fmt.Sprintf("metadata.labels[%q]: is part of %s, and would become part of %s: %sto move it, kubectl merge applyset adopt %s %s --from=%s", lastapplied.PartOf, other, e.Into, missing, e.Into, e.Object, from)
}

// join returns local, an object of that name, as part of the set, if there is one; m may be
// nil. It is an error where local itself states a set, as it is for kubectl, and where live
// is part of another one.
func (m *Membership) join(name string, local, live map[string]any) (any, error) {
	if lastapplied.SetOf(local) != "" {
		return nil, fmt.Errorf("ApplySet label %q already set in input data: the label is written by --applyset alone: remove it from the input", lastapplied.PartOf)
	}
	if m == nil {
		return local, nil
	}
	if other := lastapplied.SetOf(live); other != "" && other != m.ID {
		return nil, &OtherSet{Object: name, ID: other, Into: m.Name}
	}
	return lastapplied.WithSet(local, m.ID), nil
}
