// Package plandoc is the document form of a run: kind Plan, which people review, to which a run is
// bound, and which records a run. It encodes, decodes and compares. It refuses to read and write
// files, and to contact a server.
//
// The format: docs/plan.md, docs/schemas/plan.v1.json.
package plandoc

import (
	"github.com/kubectl-merge/kubectl-merge/internal/apply"
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
