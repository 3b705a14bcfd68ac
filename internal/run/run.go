// Package run plans and executes a whole run over many objects. All are read and merged before the
// first is written. Every write has passed a dry run on the server, and objects that others depend
// on are written first. It knows nothing about how two objects are merged, and prints nothing.
//
// A Plan has the configuration of the run (Job) and an Item for every object, with an Action, the
// reason for it, and its own merge plan. Show, Preview (server dry run) and Send give each item its
// Result and hand it to the caller, in input order, as soon as it is there; none of them merges.
//
//	Job.Resolve → Plan.Merge → Pruner.Decide ─┬→ Show · Preview
//	                                          └→ Send: preflight → try the deletions → Pruner.Begin → writes, in stages
//	                                                   → Wait → deletions, in the reverse order → Pruner.End
//
// An item consists of its object and its target: all else can be computed again. store.go decides
// what is stored until the item's turn, and what is evicted once it is reported. Items of which
// only action and outcome are known share Details: Own is called before one is set.
//
// A run can be bound to a document (Job.Bind): every merge plan, also those made again after a
// conflict, has to be contained in it, or nothing is written. It can be recorded (Job.Journal): each
// write is entered before it is sent, and its outcome afterwards. Undoing a record, a change of the
// last-applied annotation and a migration are runs whose plans come from Job.Plans.
//
// A Pruner decides about live objects that the input does not contain, once everything is merged.
// Nothing is deleted while anything failed, conflicts or was not written, and not before the server
// has accepted every deletion in a trial. Wait is called between writes and deletions, Hold before
// each stage of deletions, so that nothing is deleted that pods still name.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/impact"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Item is one object of a run. Its Object may be Packed, and its plan and result may be
// reduced to what Job.Needs asks for.
type Item struct {
	*Details

	Object  object.Object
	Target  cluster.Target
	Err     error         // reason that it was not written
	Late    error         // error after it was written
	Skipped bool          // the user left it unchanged, with its conflicts; it blocks no other object
	UID     string        // of the live object; "" if there was none
	Facts   *impact.Facts // effects of the merge on pods; nil: nothing
	Meter   cluster.Meter // of the requests about it alone; lists are not counted
	Surplus *Surplus      // set for a live object that the input does not contain

	// Rendered is the result of Job.Render; of the plan, only the problems are left. nil: Planned
	// is to be shown.
	Rendered any

	found    bool // there is a live object
	changes  bool // there is something to write
	tried    bool // the server has accepted the write in a trial
	recreate bool // it is deleted and created again

	state   state
	written time.Time
}

// state is the progress of Send with an item.
type state uint8

const (
	ready    state = iota // may be written
	deferred              // its trial was refused, possibly for lack of another object of this run
	done                  // written, or nothing to write
	halted                // will not be written
)

// Job is the configuration of a run, the same for all of its objects.
type Job struct {
	Live        live.Reader
	API         API // receives the writes; nil offline
	Planner     *apply.Planner
	Pruner      Pruner  // nil: nothing is deleted
	Bind        Bind    // nil: the run is bound to nothing
	Journal     Journal // nil: no record
	Plans       Plans   // nil: Planner merges the items
	Check       Check   // nil: the server's answers are not judged
	Wait        Wait    // nil: the run ends with the last write
	Hold        Hold    // nil: users of deleted objects are not looked for
	Render      Render  // nil: items are rendered when they are shown
	Invalidate  func()  // called when the server serves new kinds; may be nil
	Write       cluster.Write
	Concurrency int
	Adapt       func(limit int) int // how many requests about single objects are sent at once, given Concurrency; nil: as many
	Preflight   bool                // if several objects are to be written, try all on the server first
	Apart       bool                // no item depends on another: none is written before all others, nor stops them; all stay in memory
	Writes      bool                // what is planned is also sent, and not by a dry run
	Recreate    Recreation
	Partial     bool // write objects without conflicts even if others have some
	Needs       Needs
	Shown       bool     // stored parts of an item are dropped once it is reported
	Asked       bool     // the items are shown and asked about before they are sent: their plans stay whole
	Progress    Progress // may be nil
}

// Bind returns an error if an item must not be written by a merge plan of it. It is called for
// every plan of any item, again after a conflict, and for every item that is to be deleted. It may
// be called by several goroutines. The error names the object.
type Bind func(item *Item, p apply.Planned) error

// Journal records the writes of a run. It may be called by several goroutines.
type Journal interface {
	// Begin is called before a write, or a deletion, is sent; the plan that it writes is whole. If
	// it fails, nothing is sent. end is called with the object that the server has stored, nil for
	// a deletion, or with the error.
	Begin(item *Item, p apply.Planned) (end func(stored map[string]any, err error), err error)
}

// Plans returns the plan of an item and its live object, nil for none, instead of a merge of the
// item with what was applied last. It may be called by several goroutines.
type Plans func(ctx context.Context, item *Item, live map[string]any) (apply.Planned, error)

// Check returns an error if the server's answer to a write of an item, or to a trial of it, is not
// acceptable. It may be called by several goroutines.
type Check func(ctx context.Context, item *Item, out write.Result) error

// Render returns the printed form of an item, whose plan is whole and whose Result is the expected
// one. It is called for items of a large run that is only shown, by several goroutines, as soon as
// each is merged. The result replaces the plan as Item.Rendered. It must not keep any part of the
// plan, since those are parts of whole answers. nil: the plan is stored instead.
type Render func(item *Item) any

// Wait waits until the written items are ready, if the user asked for that. It is called once, when
// all writes of a run that is not a dry run are done, and before deletions. An error prevents the
// deletions: what still runs may need those objects.
type Wait func(ctx context.Context, items []*Item) error

// Hold is called directly before objects are deleted, except in a dry run. It sets Surplus.Keep and
// its Reason for those that are still used. It may wait until they are unused; an error stops the
// run.
type Hold func(ctx context.Context, p *Plan, items []*Item) error

// API is the API server that receives the writes.
type API interface {
	write.API

	// WaitEstablished waits until the kind of a CustomResourceDefinition that was written, and
	// stored as the object given, is served. The error names the definition.
	WaitEstablished(ctx context.Context, crd cluster.Target, stored map[string]any) error
}

// Resolve finds the resource and the namespace of each object. Errors of single objects
// are in the plan's Err; the error returned means that the server cannot be reached.
func (j *Job) Resolve(ctx context.Context, objects []object.Object) (*Plan, error) {
	located, err := j.Live.Resolve(ctx, objects)
	if down, ok := errors.AsType[*cluster.Unreachable](err); ok {
		return nil, down
	}
	return &Plan{Job: j, Err: err, Items: object.Each(located, func(l live.Located) *Item { return NewItem(l.Object, l.Target) })}, nil
}

// Merge reads and merges every item and sets its Err if that fails. Then the Pruner decides about
// live objects that the input does not contain.
func (p *Plan) Merge(ctx context.Context) {
	p.large = (p.Shown || p.compares()) && !p.Asked && !p.Apart && len(p.Items) > largeFrom
	merged := p.count(Reading, len(p.Items))
	rest := p.readLists(ctx, p.Items, merged)
	p.each(ctx, rest, func(i int) { p.read(ctx, rest[i]) }, merged)
	p.decide(ctx)
}

// each calls do for every item, several at once, and done for each in order. Items that
// were not started when ctx ended get an error.
func (j *Job) each(ctx context.Context, items []*Item, do, done func(i int)) {
	begun := parallel.Each(ctx, parallel.Steps{N: len(items), Limit: j.Concurrency, Adapt: j.Adapt, Done: done}, do)
	for _, item := range items[begun:] {
		item.Err = cmp.Or(item.Err, notMerged(item))
	}
}

// read reads a single item and merges it.
func (p *Plan) read(ctx context.Context, item *Item) {
	switch obj, err := p.Live.Get(item.Meter.In(ctx), item.Target); {
	case errors.Is(err, context.Canceled):
		item.Err = notMerged(item)
	case err != nil:
		item.Err = fmt.Errorf("%s: %w", item.Target, err)
	default:
		p.merge(ctx, item, obj)
	}
}

// merge merges an item with its live object; obj is nil if there is none.
func (p *Plan) merge(ctx context.Context, item *Item, obj map[string]any) {
	if p.admit(ctx, item, obj); item.Err != nil {
		return
	}
	if p.foresee(item); item.Err == nil {
		item.Err = p.store(item)
	}
}

// admit is merge without what follows from the plan.
func (p *Plan) admit(ctx context.Context, item *Item, obj map[string]any) {
	item.found, item.UID = obj != nil, object.UID(obj)
	if p.Pruner != nil && item.found {
		if item.Err = p.Pruner.Admit(item, obj); item.Err != nil {
			return
		}
	}
	item.Own()
	item.Planned, item.Err = p.merged(ctx, item, obj)
}

// compares reports whether the server's result for each object is compared with its plan.
func (j *Job) compares() bool {
	if j.Planner == nil {
		return false
	}
	_, server := j.Planner.Writing.(apply.ServerSide)
	return server
}

// bound returns Bind's error for a plan of the item.
func (j *Job) bound(item *Item, planned apply.Planned) error {
	if j.Bind == nil {
		return nil
	}
	return j.Bind(item, planned)
}

// merged merges an item with a live object, nil for none.
func (j *Job) merged(ctx context.Context, item *Item, obj map[string]any) (apply.Planned, error) {
	if j.Plans != nil {
		return j.Plans(ctx, item, obj)
	}
	s, err := item.subject()
	if err != nil {
		return apply.Planned{}, err
	}
	planned, err := j.Planner.Plan(ctx, s, obj)
	shown := func(d merge.Doubt) bool { return d.Edited && j.Writes && j.Bind == nil } // by the answer to the write
	if err != nil || !slices.ContainsFunc(planned.Doubtful, func(d merge.Doubt) bool { return !shown(d) }) {
		return planned, err
	}
	if s.Unstored = j.unstored(ctx, item, planned); len(s.Unstored) == 0 {
		return planned, nil
	}
	return j.Planner.Plan(ctx, s, obj)
}

// subject returns the item as it is merged.
func (i *Item) subject() (apply.Subject, error) {
	whole, err := i.Object.Whole()
	return apply.Subject{Object: whole, Name: i.Target.String(), HasStatus: i.Target.Status, Answers: i.Answers}, err
}

// Replan merges an item again with the same live object, after its Object or Answers
// changed.
func (p *Plan) Replan(ctx context.Context, item *Item) {
	item.Own()
	item.Planned, item.Err = p.merged(ctx, item, item.Planned.Live)
	p.foresee(item)
}

// foresee determines what writing the item does, and checks it together with the plan.
func (p *Plan) foresee(item *Item) {
	item.changes = item.Planned.Action != apply.Nothing // the plan may not be stored whole
	item.facts(item.Planned)
	p.guard(item)
	p.expect(item)
	if item.Err == nil {
		item.Err = p.bound(item, item.Planned)
	}
}
