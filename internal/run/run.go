// Package run takes many objects through one run: all are found, read and merged
// before the first is written, every write has passed the server's dry run, and
// what others need is written first. It refuses to know how two objects are
// merged, and to print.
package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// Item is one object on its way. Its Object may be Packed, and of its plan and
// result there may be no more than Job.Needs says.
type Item struct {
	Object  object.Object
	Target  cluster.Target
	Answers []apply.Answer // what the user said about its conflicts
	Planned apply.Planned
	Result  write.Result // its Outcome is "" until the item is through
	Err     error        // why it stays as it is
	Late    error        // what went wrong after it was written
	Skipped bool         // the user leaves it with its conflicts, which hold nothing then
	UID     string       // of the live object that it was merged with; "" where there was none
	Surplus *Surplus     // for an object that no input has; nil for one of the input

	found   bool // there is a live form
	changes bool // there is something to write
	stored  stored

	state   state
	refusal error // the last one, while deferred
	written time.Time
}

// state is how far an item has come in Write.
type state uint8

const (
	ready    state = iota // may be written
	deferred              // refused in the dry run, perhaps for lack of an object of this run
	through               // written, or nothing to write
	halted                // not to be written any more
)

// Job is what a run is given: what is the same for all of its objects.
type Job struct {
	Live        live.Reader
	API         API // takes the writes; nil where there is nobody who could
	Planner     *apply.Planner
	Pruner      Pruner // nil: what no input has is left alone
	Invalidate  func() // called when the server has got new kinds; may be nil
	Write       cluster.Write
	Concurrency int
	Preflight   bool // have the server try every write first, where there are several
	Partial     bool // write what has no conflict, though others have
	Needs       Needs
	Shown       bool     // what Needs says is needed once only, when the item is reported
	Progress    Progress // may be nil
}

// API is an API server that takes writes.
type API interface {
	write.API

	// WaitEstablished waits until the kind of a CustomResourceDefinition that was just
	// written, and stored as the object given, is served. The error names the definition.
	WaitEstablished(ctx context.Context, crd cluster.Target, stored map[string]any) error
}

// Resolve finds out what each object is called where live objects are. What is wrong
// with any of them is in the plan's Err; the error is that nothing can be resolved, for
// the server cannot be reached.
func (j *Job) Resolve(ctx context.Context, objects []object.Object) (*Plan, error) {
	located, err := j.Live.Resolve(ctx, objects)
	var down *cluster.Unreachable
	if errors.As(err, &down) {
		return nil, down
	}
	p := &Plan{Job: j, Err: err}
	for _, l := range located {
		p.Items = append(p.Items, &Item{Object: l.Object, Target: l.Target})
	}
	return p, nil
}

// Merge reads and merges every item; what went wrong is in its Err. Then it is decided
// what becomes of objects that no input has.
func (p *Plan) Merge(ctx context.Context) {
	p.large = p.Shown && len(p.Items) > largeFrom
	through := p.count(Reading, len(p.Items))
	rest := p.readLists(ctx, p.Items, through)
	p.each(ctx, rest, func(i int) { p.read(ctx, rest[i]) }, through)
	p.decide(ctx)
}

// each does something with every item, several at once, and calls done for each in
// order. What ctx's end keeps from its turn has that as its error.
func (j *Job) each(ctx context.Context, items []*Item, do, done func(i int)) {
	begun := parallel.Each(ctx, len(items), j.Concurrency, do, done)
	for _, item := range items[begun:] {
		if item.Err == nil {
			item.Err = notMerged(item)
		}
	}
}

// read reads one item by itself, and merges it.
func (p *Plan) read(ctx context.Context, item *Item) {
	switch obj, err := p.Live.Get(ctx, item.Target); {
	case errors.Is(err, context.Canceled):
		item.Err = notMerged(item)
	case err != nil:
		item.Err = fmt.Errorf("%s: %w", item.Target, err)
	default:
		p.merge(ctx, item, obj)
	}
}

// merge merges an item with its live form, nil where there is none.
func (p *Plan) merge(ctx context.Context, item *Item, obj map[string]any) {
	item.found, item.UID = obj != nil, uid(obj)
	if p.Pruner != nil && item.found {
		if item.Err = p.Pruner.Admit(item, obj); item.Err != nil {
			return
		}
	}
	if item.Planned, item.Err = p.plan(ctx, item, obj); item.Err == nil {
		item.changes = item.Planned.Action != apply.Nothing
		item.Err = p.store(item)
	}
}

func uid(obj map[string]any) string {
	meta, _ := obj["metadata"].(map[string]any)
	id, _ := meta["uid"].(string)
	return strings.Clone(id) // a part of the server's whole answer, else
}

// plan merges an item with a live object.
func (j *Job) plan(ctx context.Context, item *Item, obj map[string]any) (apply.Planned, error) {
	whole, err := item.Object.Whole()
	if err != nil {
		return apply.Planned{}, err
	}
	return j.Planner.Plan(ctx, apply.Subject{
		Object:    whole,
		Name:      item.Target.String(),
		HasStatus: item.Target.Status,
		Answers:   item.Answers,
	}, obj)
}

// Replan merges an item anew with the live form it has, after something about it
// was decided.
func (p *Plan) Replan(ctx context.Context, item *Item) {
	item.Planned, item.Err = p.plan(ctx, item, item.Planned.Live)
	item.changes = item.Planned.Action != apply.Nothing
}

// grace is how long writes that are under way may take to end once the user has
// stopped the run: a request cut off is one of which nobody knows what became.
const grace = 20 * time.Second

// outlasting is a context that ends a while after ctx does.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return long, func() { stop(); cancel() }
}
