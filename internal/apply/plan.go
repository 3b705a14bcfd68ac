// Package apply plans the write of one object: from the local object and the live one it computes
// what kubectl merge would write. It finds what was applied last and the type of the kind,
// merges, puts the new last-applied annotation on the result, and prepares the request.
//
// The Planner's Writing says how an object is written (ClientSide, ServerSide, Recorded); the engine
// does not depend on it. Values are exact JSON; pkg/apply is the form for other programs.
//
// The package refuses to read objects and to send anything; the caller supplies the
// source of schemas.
package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// Planner holds the settings that all objects of a run share. It may be used by several
// goroutines.
type Planner struct {
	Policy   merge.Policy
	Rules    *UserRules        // nil: none
	Strategy strategy.Strategy // the zero value is auto
	Original Originals
	Manager  string // field manager, whose values count as the applier's
	Validate Validation
	Trace    bool // explain every leaf

	// Compare asks for the differences of local and live, for a caller that writes nothing.
	// Output.Extras then holds what others have added, and an object that is being deleted
	// is merged like any other.
	Compare bool

	// Locate returns the place of a field of an object in its file, for errors; nil where
	// objects do not come from a file.
	Locate func(object.Object, ...merge.Path) string

	// Schemas asks the server, or a file, for the type of a kind; nil where there is no
	// source. A nil type without an error means that the kind is unknown.
	Schemas Schemas
	// Defined is Schemas of the CustomResourceDefinition as it is now: what the server publishes is up to
	// a second older. It is asked where a field of local is unknown to Schemas; may be nil.
	Defined Schemas

	// Set is the set that objects become part of; nil for none.
	Set *Membership

	// Writing says how the objects are written; nil is ClientSide.
	Writing Writing

	// Strategic returns the merge by a kind's compiled-in Go type, for a strategy that
	// NeedsStruct; may be nil.
	Strategic func(group, version, kind string) strategy.ThreeWay
}

// Schemas returns the type of a kind.
type Schemas func(ctx context.Context, group, version, kind string) (*merge.Type, error)

// Validation says how fields that a kind does not have are handled.
type Validation string

// The validations, as kubectl names them.
const (
	Strict Validation = "strict" // an error
	Warn   Validation = "warn"   // reported
	Ignore Validation = "ignore"
)

// Subject is the local object and what is known of its kind.
type Subject struct {
	object.Object
	Name      string // deployment.apps/web
	HasStatus bool   // status is written through a subresource of its own
	Answers   []Answer

	// Unstored lists places where the server is known not to store what local states; see
	// merge.Triple.
	Unstored []merge.Path
}

// Configuration returns a form of the object without the last-applied annotation and what the server keeps in it; nil for nil.
func (s Subject) Configuration(obj map[string]any) any {
	if obj == nil {
		return nil
	}
	v, _ := lastapplied.Strip(lastapplied.Without(obj), s.HasStatus)
	return v
}

// Action states what is done with an object. A Planned has one of the first three.
type Action string

// The actions.
const (
	Nothing  Action = "" // live is as it should be
	Create   Action = "create"
	Change   Action = "change"
	Recreate Action = "recreate" // delete and create it again: a field of it is immutable
	Held     Action = "held"     // it has conflicts for the user to settle, or was skipped
	Delete   Action = "delete"   // the input does not contain it
	Keep     Action = "keep"     // the input does not contain it, and it must not be deleted
	Failed   Action = "failed"
)

// String returns the action in one word.
func (a Action) String() string { return cmp.Or(string(a), "nothing") }

// Writes reports whether the action changes the cluster.
func (a Action) Writes() bool { return a == Create || a == Change || a == Recreate || a == Delete }

// Planned is the plan for one object.
type Planned struct {
	Subject
	strategy.Output // its Result carries no annotation

	Action Action
	Live   map[string]any // nil where there is none
	Final  map[string]any // the object to write: the result with its annotation
	Type   *merge.Type    // how it was split, nil if unknown

	Sensitive redact.Fields // what the user's rules have hidden; nil: nothing

	// FromOwners: what was applied last was read from managedFields, since no last-applied
	// configuration has it.
	FromOwners bool

	// Applying is the configuration to apply, for a plan that ServerSide has made; else nil.
	Applying *Applying

	// Record is the configuration to keep, for a plan that Recorded has made; else "".
	Record string

	// Theirs are entries of managedFields: what others have held of the values that the write sets for them, and hold
	// again after it. nil: none.
	Theirs []any

	// Unowned are values of which only these entries hold anything after the write; the writer holds all others.
	Unowned []merge.Change

	// Problems are reported one per line, without the object's name.
	Problems []string
}

// LiveSide returns the live object as a side of a merge or a diff: nil, and no nil map, if there is none.
func (p Planned) LiveSide() any {
	if p.Live == nil {
		return nil
	}
	return p.Live
}

// Plan merges one object. The error names the object.
func (p *Planner) Plan(ctx context.Context, s Subject, live map[string]any) (Planned, error) {
	out := Planned{Subject: s, Live: live}
	// What was read stays in out, for messages, and for who edits the file.
	s.Value, _ = merge.PlainNumbers(s.Value).(map[string]any)
	local, err := p.Set.join(s.Name, s.Value, live)
	if err != nil {
		return out, fmt.Errorf("%s: %w", s.Name, err)
	}
	w := cmp.Or[Writing](p.Writing, ClientSide{})
	known, err := w.sides(ctx, merging{p, s, local, live})
	if err != nil {
		return out, fmt.Errorf("%s: %w", s.Name, err)
	}
	if known.problem != "" {
		out.Problems = append(out.Problems, known.problem)
	}
	out.Type = known.typ
	out.Unstored = append(s.Unstored[:len(s.Unstored):len(s.Unstored)], out.dropped(known.Triple)...)
	if err := p.validate(&out); err != nil {
		return out, fmt.Errorf("%s: %w", s.Name, err)
	}
	in := p.input(s, out.Type)
	in.Policy.Rules = append(s.Answered(live, out.Type), p.Policy.Rules...)
	in.Triple, in.Triple.Unstored, in.Former = known.Triple, out.Unstored, p.Original.former()
	p.Rules.look(s, in.Triple, out.Type)
	out.Sensitive = p.Sensitive(s, in.Triple)
	if out.Output, err = strategy.Plan(in); err != nil {
		return out, fmt.Errorf("%s: %w", s.Name, err)
	}
	if err := Deleting(live); err != nil && !p.Compare {
		if !releases(live, out.Result) {
			return out, fmt.Errorf("%s: %w", s.Name, err)
		}
		if len(merge.At[[]any](out.Result, "metadata", "finalizers")) == 0 {
			out.Problems = append(out.Problems, "is being deleted, and its last finalizer is removed: it is gone then: merge again to create it anew")
		}
	}
	out.FromOwners = known.fromOwners
	switch p.Original.From {
	case None: // the user asked to assume nothing
		out.Undecided, out.Adoptable = nil, nil
	case File, ManagedFields: // and has stated the source
		out.Adoptable = nil
	}
	if err := w.stamp(&out, known); err != nil {
		return out, fmt.Errorf("%s: %w", s.Name, err)
	}
	return out, nil
}

func (p *Planner) input(s Subject, typ *merge.Type) strategy.Input {
	in := strategy.Input{
		Group:     s.Group(),
		Version:   s.Version(),
		Kind:      s.Kind(),
		Schema:    typ,
		HasStatus: s.HasStatus,
		Policy:    p.Policy,
		Strategy:  p.Strategy,
		Trace:     p.Trace,
		Compare:   p.Compare,
		Rules:     p.Rules.All(),
	}
	_, in.Recorded = p.Writing.(Recorded)
	if p.Strategic != nil && p.Strategy.NeedsStruct {
		in.Strategic = p.Strategic(in.Group, in.Version, in.Kind)
	}
	return in
}

// ErrDeleting is in the chain of Deleting's errors.
var ErrDeleting = errors.New("is being deleted")

// Deleting returns an error where live is being deleted: such an object takes no new
// configuration, and what is written to it is deleted with it.
//
// Unlike kubectl: it warns, writes, and reports success for an object that disappears a
// moment later.
func Deleting(live map[string]any) error {
	since := merge.At[string](live, "metadata", "deletionTimestamp")
	if since == "" {
		return nil
	}
	if held := merge.At[[]any](live, "metadata", "finalizers"); len(held) > 0 {
		since += fmt.Sprintf(", and waits for its finalizers %s", strings.Trim(fmt.Sprint(held), "[]"))
	}
	return fmt.Errorf("%w since %s: wait until it is gone, and merge again to create it anew", ErrDeleting, since)
}

// ErrAbsent reports that an object which is to be changed does not exist.
var ErrAbsent = errors.New("there is no such object")

// Gone is Deleting or, where there is no live object, ErrAbsent with the namespace, and with what to do.
func Gone(s Subject, live map[string]any) error {
	if live == nil {
		return fmt.Errorf("%w%s: to make it, kubectl merge -f FILE", ErrAbsent, object.Within(s.Namespace()))
	}
	return Deleting(live)
}

// releases reports whether a result lacks a finalizer of live, for which its deletion may wait.
func releases(live map[string]any, result any) bool {
	return slices.ContainsFunc(merge.At[[]any](live, "metadata", "finalizers"), func(f any) bool {
		return !slices.Contains(merge.At[[]any](result, "metadata", "finalizers"), f)
	})
}

// differs reports whether the object to store differs from live, to the letter.
func (p *Planned) differs() bool { return !merge.Identical(p.Live, p.Final) }

// schema returns the first of the compiled-in type and the server's that declares every
// field in use.
func (p *Planner) schema(ctx context.Context, s Subject, original any, live map[string]any) (*merge.Type, error) {
	builtin, ok := schema.Builtin(s.Group(), s.Version(), s.Kind())
	// Status is never merged where the server owns it.
	if p.Schemas == nil || ok && knows(builtin, s.Value) && knows(builtin, original) && knows(builtin, merge.Without(live, "status")) {
		return builtin, nil
	}
	served, err := p.Schemas(ctx, s.Group(), s.Version(), s.Kind())
	if err != nil {
		return nil, err
	}
	if served == nil {
		return builtin, nil
	}
	if !ok && p.Defined != nil && !knows(served, s.Value) {
		if defined, err := p.Defined(ctx, s.Group(), s.Version(), s.Kind()); err != nil || defined != nil {
			return defined, err
		}
	}
	return served, nil
}

func knows(t *merge.Type, v any) bool { return v == nil || len(schema.Unknown(t, v)) == 0 }

// DefaultManager is the field manager of kubectl apply: what kubectl apply or this program
// applied counts as applied by both.
const DefaultManager = "kubectl-client-side-apply"

// Membership is the set that the objects of a run become part of (KEP-3659). Its label is
// merged like a field that local states, and is never part of last-applied.
type Membership struct {
	ID        string // the value of the label
	Name      string // its parent as messages name it: secret/shop
	Namespace string // of the parent; "" if it has none
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
// nil. The parent itself stays out: kubectl would prune it. It is an error where local itself
// states a set, as it is for kubectl, and where live is part of another one.
func (m *Membership) join(name string, local, live map[string]any) (any, error) {
	if lastapplied.SetOf(local) != "" {
		return nil, fmt.Errorf("ApplySet label %q already set in input data: the label is written by --applyset alone: remove it from the input", lastapplied.PartOf)
	}
	if m == nil || m.Name == name && m.Namespace == merge.At[string](local, "metadata", "namespace") {
		return local, nil
	}
	if other := lastapplied.SetOf(live); other != "" && other != m.ID {
		return nil, &OtherSet{Object: name, ID: other, Into: m.Name}
	}
	return lastapplied.WithSet(local, m.ID), nil
}
