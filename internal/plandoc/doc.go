// Package plandoc is the document form of a run: kind Plan, which people review, to which a run is
// bound, and which records a run. It encodes, decodes and compares. It refuses to read and write
// files, and to contact a server.
//
// The format: docs/plan.md, docs/schemas/plan.v1.json.
package plandoc

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Constant fields of a document.
const (
	APIVersion = "kubectl-merge.dev/v1alpha1"
	Kind       = "Plan"
)

// Document is a whole document.
type Document struct {
	Header
	Items   []Item
	Summary *Summary // nil in an unfinished record
}

// Header is the part of a document before its objects.
type Header struct {
	Cluster Cluster
	Set     *Set // nil: none

	ServerSide bool   // the objects are written by server-side apply
	Manager    string // the field manager that writes them; only in a record

	// Rules holds those of a record that call fields sensitive: its undo hides them, too.
	Rules schema.Rules
	Spelling
}

// Cluster identifies the cluster that was read. One of the fields is set.
type Cluster struct {
	UID     string // of the namespace kube-system
	Server  string // a hash of address and certificates, if that namespace cannot be read
	Offline bool   // live objects were read from files
}

// Set is the set that the objects become part of (KEP-3659).
type Set struct {
	ID        string
	Parent    string // as messages name it: secret/shop
	Namespace string // of the parent; "" if it has none
}

// Spelling states how values are written.
type Spelling struct {
	Salt        []byte // of the hashes of secret values
	ShowSecrets bool   // secret values are written unchanged
	Record      bool   // with everything that an undo of the run needs
	// Unfinished states that the record was not ended: its run is under way, or was killed. It has no
	// summary, and its last object may be cut off.
	Unfinished bool
}

// actions in the order of the summary.
var actions = []apply.Action{apply.Create, apply.Change, apply.Recreate, apply.Delete, apply.Keep, apply.Held}

// Identity identifies an object.
type Identity struct {
	APIVersion, Kind, Namespace, Name string
}

// Item is one object.
type Item struct {
	Action apply.Action
	Identity
	UID             string // of the live object; "" if there was none
	ResourceVersion string
	Impact          string   // the effects on running pods; "" if none are reported
	Reason          string   // why it is deleted, or kept; "" if the changes have reasons
	Notes           []string // who else manages the object or its fields; of a plan

	Changes     []ChangeOf
	Conflicts   []ConflictAt
	LastApplied *Sides // of the last-applied annotation; nil: it does not change

	ManagedFields []any // who had set what before, as in managedFields, without status; of a record

	Outcome Outcome // of a record; "" in a plan
	Written Written // what the server stored; of a record

	// Complete states that End was read: without it, an object of an unfinished record is cut off.
	Complete bool
	Line     int // of the document, from 1; 0 if it was not decoded
}

// Outcome is the last state of a write that a record knows.
type Outcome string

// The outcomes.
const (
	Begun Outcome = "begun" // the write may or may not have been executed
	Done  Outcome = "done"
	// Refused states that the server has answered that it did not execute it.
	Refused Outcome = "refused"
)

// Written is what a write has stored: the object, and who owned the written values by server-side apply.
type Written struct {
	UID, ResourceVersion string
	AppliedBy            []string
}

// ChangeOf is one value of an object before and after. A secret value is a Hash.
type ChangeOf struct {
	Path   string // "." for the whole object
	Sides         // both absent where only the order of a list changes
	Order  *Order
	Reason string
}

// Sides holds a value before and after; either may be absent.
type Sides struct{ Before, After merge.Opt }

// Order is the order of a list's entries before and after, as steps of a path. In a record, After
// is nil if entries are only removed.
type Order struct{ Before, After []string }

// ConflictAt is a value that is left to the user.
type ConflictAt struct {
	Path   string
	Reason string
}

// Summary counts objects by action.
type Summary struct {
	Counts    map[apply.Action]int
	Unchanged int
}

// Executed returns the objects of a record of which something was, or may have been, written, each
// once, with all its writes. An entry about an outcome replaces the one that was made when the
// write was begun.
func (d *Document) Executed() []Item {
	at := map[Identity]int{}
	var all [][]Item
	for _, item := range d.Items {
		n, known := at[item.Versionless()]
		if !known {
			n = len(all)
			at[item.Versionless()], all = n, append(all, nil)
		}
		if last := len(all[n]) - 1; last >= 0 && all[n][last].Outcome == Begun && item.Outcome != Begun {
			all[n] = all[n][:last]
		}
		if item.Outcome == Begun || item.Outcome == Done {
			all[n] = append(all[n], item)
		}
	}
	return object.Each(slices.DeleteFunc(all, func(writes []Item) bool { return len(writes) == 0 }), combined)
}

// combined returns the sum of several writes of one object: values as they were before the first,
// and after the last.
func combined(writes []Item) Item {
	one := writes[0]
	for _, next := range writes[1:] {
		switch {
		case one.Action == apply.Change && next.Action == apply.Change && one.UID == next.UID:
			one = one.then(next)
		case one.Action == apply.Create && next.Action == apply.Change:
			one.Written, one.Outcome = Written{UID: next.UID}, Done
		default:
			one = next // of an object that has replaced the other one
		}
	}
	return one
}

// then returns a change followed by another one.
func (i Item) then(next Item) Item {
	type place struct {
		path  string
		order bool
	}
	changes, at := slices.Clone(i.Changes), map[place]int{}
	for n, c := range slices.Backward(changes) {
		at[place{c.Path, c.Order != nil}] = n
	}
	for _, c := range next.Changes {
		n, known := at[place{c.Path, c.Order != nil}]
		switch {
		case !known:
			changes = append(changes, c)
		case c.Order != nil:
			changes[n].Order = &Order{changes[n].Order.Before, c.Order.After}
		default:
			changes[n].After = c.After
		}
	}
	before := i.LastApplied
	i.Changes, i.Outcome, i.Written = changes, next.Outcome, next.Written
	switch {
	case next.LastApplied != nil && before != nil:
		i.LastApplied = &Sides{before.Before, next.LastApplied.After}
	case next.LastApplied != nil:
		i.LastApplied = next.LastApplied
	}
	return i
}
