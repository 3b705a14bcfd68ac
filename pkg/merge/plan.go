package merge

import "time"

// Side is one of the three inputs, or nobody.
type Side uint8

// The sides. Nobody stands where no side has been chosen (an unsettled conflict).
const (
	Nobody Side = iota
	OriginalSide
	LocalSide
	LiveSide
)

// Triple is what is merged. Each side is an object as ReadJSON gives it
// (map[string]any with json.Number for numbers), or nil where there is none:
// Original nil means that nothing is known to have been applied before, Live
// nil that the object does not exist. None is ever modified.
type Triple struct {
	Original any
	Local    any
	Live     any

	// Owners answers who set what in Live; nil where Live has no managedFields.
	Owners Owners

	// Appliers are the field managers whose values count as the applier's.
	Appliers []string

	// Applied: of what the Appliers own, only what they own by server-side apply counts,
	// and nothing that they wrote by an update or through a subresource (KEP-555).
	Applied bool

	// Unstored are places at which the server does not store what local states and Original
	// had: live's value, or its absence, is all that can be had, and no difference.
	Unstored []Path

	// Blanked: Original has keys but no values (a Secret's, or a shortened
	// annotation's): a leaf null or "" in it is an unknown value, not a removal.
	Blanked bool
}

// Opt is a value that may be absent. Absent is not null.
type Opt struct {
	Value any
	Set   bool
}

// Some makes a present value.
func Some(v any) Opt { return Opt{Value: v, Set: true} }

// Plan is what a merge comes to, before anybody decides how to report or send it.
type Plan struct {
	// Result is the merged object. It shares memory with the sides: do not
	// modify it.
	Result any

	// Changes lead from live to Result, in path order; empty when nothing is to
	// be done. Replaying them on live gives Result, and reversed on Result, live.
	Changes []Change

	// Conflicts are disagreements that the policy leaves to the user. While there
	// are any, Result holds live's value at their paths.
	Conflicts []Disagreement

	// Settled are disagreements that the policy decided.
	Settled []Disagreement

	// Removed are values of live that Result has no more and no disagreement
	// names.
	Removed []Removal

	// Undecided are values of live that local lacks and that somebody may have
	// meant to remove, where Original is nil.
	Undecided []Removal

	// Doubtful are values of Changes that were applied before and that live does not have,
	// though no other manager has written them: the server may not store them.
	Doubtful []Doubt

	// Because explains every leaf; filled only when a Trace was asked for.
	Because []Because
}

// Doubt is a value that the server may not store.
type Doubt struct {
	Path Path

	// Recorded: managedFields have the value as the applier's, and live lacks it. A removal
	// ends each record of a value, so that nobody has removed it.
	Recorded bool
}

// Op is what a Change does.
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

	// OldOrder and NewOrder are, for OpOrder, the entries' steps in live and in
	// result. OldOrder is also set where an entry of a keyed list or set is removed,
	// so that the removal can be undone.
	OldOrder, NewOrder []Step
}

// DisagreementKind is which sides moved.
type DisagreementKind uint8

// The kinds of disagreement (docs/semantics.md#which-side-wins).
const (
	Drift   DisagreementKind = iota + 1 // only live moved
	Both                                // local and live moved, differently
	Dropped                             // local removed what live changed
	Update                              // only local moved, and does not simply win
)

// Disagreement is one value on which local and live do not agree.
type Disagreement struct {
	Kind     DisagreementKind
	Path     Path
	Original Opt
	Local    Opt
	Live     Opt
	Owner    *Owner // who owns live's value, nil if unknown
	Winner   Side   // Nobody while unsettled
	Rule     string // which user rule decided, "" if the policy did

	// Text is the rule by which a text was merged by its lines, "" for any other value.
	// Local and Live are the text with local's and with live's form of the lines that
	// both have changed; they differ in nothing else.
	Text string

	// By is what local states of a one-of, where that excludes live's value; nil for
	// any other disagreement.
	By Path
}

// Removal is one value of live that is removed.
type Removal struct {
	Path  Path
	Value any
	Cause Cause
	Owner *Owner // nil if unknown

	// By is, for CauseDisplaced, what local states of the one-of instead.
	By Path

	// Own: local gives up what Original had, or the server made of it, and nobody but the appliers
	// owned it.
	Own bool
}

// Cause is why a value has the state it has in the result.
type Cause uint8

// The causes, as reported in notes and explanations.
const (
	CauseLocal     Cause = iota + 1 // local states it
	CauseLive                       // neither local nor original has it
	CauseDropped                    // in original, not in local
	CauseNull                       // local states null
	CauseDisplaced                  // local states another variant of a one-of
	CauseInside                     // inside an object or entry that local dropped
	CauseSame                       // local and live are one value to the server
	CauseServer                     // the server fills it in where local leaves it out
	CausePolicy                     // a disagreement, decided by policy or rule
	CauseStillNull                  // local states null, and so did original
	CauseReplaced                   // only live has it, and the strategy replaces what holds it
	CauseStrategy                   // none of the above: the strategy's own rules
	CauseLines                      // a text that local and live have changed in different lines
	CauseUnstored                   // the server does not store what local states
	CauseFixed                      // it can no longer be changed, and live has added to what was applied
	CauseAnew                       // only live has it, in an entry that is another one to server-side apply
)

// Because explains one leaf of Result, or one leaf that is gone.
type Because struct {
	Path     Path
	Result   Opt
	From     Side
	Cause    Cause
	Split    string // how the list or map around it is split and who decided that; "" for plain fields
	Original Opt
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

// Owners answers who owns a value of live: see pkg/ownership.
type Owners interface {
	// At lists who owns the value at the path, or a part of it, newest first; nil if nobody
	// does.
	At(p Path) []Owner
}

// Partial is implemented by Owners that do not know the owners of everything, so that
// a value without an owner is anybody's.
type Partial interface {
	// Partial reports whether some of the record is about other fields than live has: about
	// those of another version.
	Partial() bool
}

// Unrecorded is the manager under which the API server enters what was there before it
// began to record managers, or after somebody had removed the record (KEP-555): it stands
// for everybody, and so for nobody in particular.
const Unrecorded = "before-first-apply"
