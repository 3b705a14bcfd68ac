// Package merge may change with a minor version until 1.0.0. It computes what should change. From
// the original, the local and the live form of an object, and the type that states how it is
// split, it makes a Plan. It refuses to read, send or print anything, to know a Kubernetes kind,
// and to import anything but the standard library.
//
// Values are JSON values as ReadJSON gives them: nil, bool, string, json.Number, []any and
// map[string]any. Numbers are never float64, so that 2^53+1 survives. No function here
// modifies its arguments; results share memory with the inputs and must be treated as
// read-only. Where nothing changes, the result is live's own memory: "unchanged" is a
// comparison of pointers. Owners are looked up only where local and live disagree. The type
// that decides how a value is split is data: the engine knows no kind by name.
package merge

import (
	"strconv"
	"time"
)

// Side is one of the three inputs, or none.
type Side uint8

// The sides. Nobody stands where no side has been chosen (an unsettled conflict).
const (
	Nobody Side = iota
	OriginalSide
	LocalSide
	LiveSide
)

// Triple holds the inputs of a merge. Each side is an object as ReadJSON gives it
// (map[string]any with json.Number for numbers), or nil where there is none. A nil Original
// means that no earlier apply is known, a nil Live that the object does not exist. None is
// ever modified.
type Triple struct {
	Original any
	Local    any
	Live     any

	// Owners knows the owners of the values in Live; nil where Live has no managedFields.
	Owners Owners

	// Appliers names the field managers whose values count as the applier's.
	Appliers []string

	// Writers names the managers that have written Original and are no appliers, as kubectl replace is. What they
	// own of it is reported where local changes it.
	Writers []string

	// Applied restricts what counts as the Appliers' to what they own by server-side apply.
	// Values that they wrote by an update or through a subresource do not count (KEP-555).
	Applied bool

	// Reverts: Local is Live with former values put back. It states only what differs from Live.
	Reverts bool

	// Unanswered: of what Local restores the request is known, and not what the server made of it.
	Unanswered bool

	// Claims reports whether a manager claims what it owns: where it does, live's value counts as moved though it
	// equals Original's. Nil: none does.
	Claims func(Owner) bool

	// Unstored lists places where the server does not store the value that local states and
	// Original had. There, live's value or its absence is final, and not a difference.
	Unstored []Path

	// Blanked: Original has keys but no values (a Secret's, or a shortened annotation's). A
	// leaf null or "" in it is an unknown value, not a removal.
	Blanked bool
}

// Opt is a value that may be absent. Absent is not null.
type Opt struct {
	Value any
	Set   bool
}

// Some returns a present value.
func Some(v any) Opt { return Opt{Value: v, Set: true} }

// Plan is the outcome of a merge, before it is reported or sent.
type Plan struct {
	// Result is the merged object. It shares memory with the sides: do not modify it.
	Result any

	// Changes lead from live to Result, in path order; empty when nothing has to change.
	// Replaying them on live gives Result. Replaying their reversal on Result gives live.
	Changes []Change

	// Conflicts are disagreements that the policy leaves to the user. Result holds live's
	// value at their paths.
	Conflicts []Disagreement

	// Settled are disagreements that the policy decided.
	Settled []Disagreement

	// Reordered lists the lists whose entries are in local's order, though others have reordered them in live.
	Reordered []Reordering

	// Removed lists values of live that Result no longer has and that no disagreement
	// names.
	Removed []Removal

	// Undecided lists values of live that local lacks and that may have been meant for
	// removal, where Original is nil. With Triple.Applied, also entries of others that differ in one
	// of several keys alone from one that local adds: it may be what they made of local's.
	Undecided []Removal

	// Doubtful lists values of Changes that were applied before and that live does not
	// have, though no other manager has written them. The server may not store them. With
	// Triple.Applied, also the appliers' own values that live has otherwise.
	Doubtful []Doubt

	// Because explains every leaf; filled only when a Trace was asked for.
	Because []Because
}

// Reordering is the order of a list's entries, of those that local and live have.
type Reordering struct {
	Path        Path
	Local, Live []Step
}

// Doubt is a value that the server may not store.
type Doubt struct {
	Path Path

	// Recorded: managedFields have the value as the applier's, and live lacks it. A removal
	// ends each record of a value, so no manager has removed it.
	Recorded bool

	// Edited: live has another value, which local may have had until now. The server's answer to the write
	// shows it, too.
	Edited bool
}

// Op says what a Change does.
type Op uint8

// The operations of a Change.
const (
	OpSet    Op = iota + 1 // add or replace the value at Path
	OpRemove               // remove the value at Path
	OpOrder                // reorder the entries of the Keyed list or Set at Path
)

// Change is one step from live to result.
type Change struct {
	Op   Op
	Path Path
	Old  Opt // what live has
	New  Opt // what result has

	// OldOrder and NewOrder are, for OpOrder, the entries' steps in live and in result.
	// OldOrder is also set where an entry of a keyed list or set is removed, so that the
	// removal can be undone.
	OldOrder, NewOrder []Step
}

// DisagreementKind says which sides changed the value.
type DisagreementKind uint8

// The kinds of disagreement (docs/semantics.md#which-side-wins).
const (
	Drift   DisagreementKind = iota + 1 // only live changed it
	Both                                // local and live changed it, differently
	Dropped                             // local removed what live changed
	Update                              // only local changed it, and does not simply win
)

// Disagreement is one value on which local and live do not agree.
type Disagreement struct {
	Kind     DisagreementKind
	Path     Path
	Original Opt // null where a value was applied that is not recorded (Triple.Blanked)
	Local    Opt
	Live     Opt
	Owner    *Owner // the owner of live's value, nil if unknown
	Winner   Side   // Nobody while unsettled
	Rule     string // which user rule decided, "" if the policy did

	// Text is the rule by which a text was merged by its lines, "" for any other value.
	// Local and Live hold the text with local's and with live's form of the lines that both
	// have changed. They differ in nothing else.
	Text string

	// By leads to what local states of a one-of, where that excludes live's value; nil for
	// any other disagreement.
	By Path
}

// Removal is one value of live that is removed.
type Removal struct {
	Path  Path
	Value any
	Cause Cause
	Owner *Owner // nil if unknown

	// By leads, for CauseDisplaced, to what local states that excludes the value; nil where local
	// excludes it by what it no longer states.
	By Path

	// Own: local no longer states what Original had, or the server made of it, and no manager but
	// the appliers owned it. Of an undo: the run itself has written it.
	Own bool
}

// Cause says why a value has its state in the result.
type Cause uint8

// The causes, as reported in notes and explanations.
const (
	CauseLocal     Cause = iota + 1 // local states it
	CauseLive                       // neither local nor original has it
	CauseDropped                    // in original, not in local
	CauseNull                       // local states null
	CauseDisplaced                  // another variant of a one-of is stated, or what else changes makes it obsolete
	CauseInside                     // inside an object or entry that local dropped
	CauseSame                       // local and live are the same value to the server
	CauseServer                     // the server fills it in where local leaves it out
	CausePolicy                     // a disagreement, decided by policy or rule
	CauseStillNull                  // local states null, and so did original
	CauseReplaced                   // only live has it, and the strategy replaces what holds it
	CauseStrategy                   // none of the above: the strategy's own rules
	CauseLines                      // a text that local and live have changed in different lines
	CauseUnstored                   // the server does not store what local states
	CauseFixed                      // it can no longer be changed, and live has added to what was applied
	CauseAnew                       // only live has it, in an entry that server-side apply takes for another one
)

// Because explains one leaf of Result, or one leaf that is gone.
type Because struct {
	Path     Path
	Result   Opt
	From     Side
	Cause    Cause
	Split    string // how the list or map around it is split and who decided that; "" for plain fields
	Original Opt    // null as in a Disagreement
	Local    Opt
	Live     Opt
	Owner    *Owner
}

// Owner is one field manager's hold on a value.
type Owner struct {
	Manager     string
	Operation   string // Apply or Update
	Subresource string // "" for the object itself
	Time        time.Time
}

// Owners looks up the owners of a value of live: see internal/ownership.
type Owners interface {
	// At lists the owners of the value at the path, or of a part of it, newest first; nil
	// if it has none.
	At(p Path) []Owner
}

// Partial is implemented by Owners that may miss owners, so that a value without an owner
// may be any manager's.
type Partial interface {
	// Partial reports whether some of the record is about fields that live does not have:
	// those of another version.
	Partial() bool
}

// Unrecorded is the manager under which the API server enters what was there before it
// began to record managers, or after the record was removed (KEP-555). It stands for all
// managers, and so for none in particular.
const Unrecorded = "before-first-apply"

// enumName returns the name of a value of an enumeration, or its number where it has none.
func enumName(names []string, v uint8) string {
	if int(v) < len(names) && names[v] != "" {
		return names[v]
	}
	return strconv.Itoa(int(v))
}

// String returns the side: nobody, original, local or live.
func (s Side) String() string {
	return enumName([]string{"nobody", "original", "local", "live"}, uint8(s))
}

// String returns the operation: set, remove or order.
func (o Op) String() string {
	return enumName([]string{OpSet: "set", OpRemove: "remove", OpOrder: "order"}, uint8(o))
}

// String returns the kind: drift (only live changed), both, or dropped (local removed what
// live changed).
func (k DisagreementKind) String() string {
	return enumName([]string{Drift: "drift", Both: "both", Dropped: "dropped"}, uint8(k))
}

// String returns the choice: local, live, conflict or original.
func (c Choice) String() string {
	return enumName([]string{TakeLocal: "local", TakeLive: "live", LeaveConflict: "conflict", TakeOriginal: "original"}, uint8(c))
}

// String returns the cause in one word; see the constants for what each means.
func (c Cause) String() string {
	return enumName([]string{
		CauseLocal: "local", CauseLive: "live", CauseDropped: "dropped", CauseNull: "null", CauseDisplaced: "displaced",
		CauseInside: "inside", CauseSame: "same", CauseServer: "server", CausePolicy: "policy", CauseStillNull: "still-null",
		CauseReplaced: "replaced", CauseStrategy: "strategy", CauseLines: "lines",
		CauseAnew: "anew",
	}, uint8(c))
}

// String returns how the value is split: unknown, scalar, object, map, list (one value), keyed or set.
func (k Kind) String() string {
	return enumName([]string{"unknown", "scalar", "object", "map", "list", "keyed", "set"}, uint8(k))
}
