package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/impact"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Plan is a run as a value: its configuration and, for every object, what the run does
// with it and why. Diff, dry run, reports and writes read it and merge nothing
// themselves.
type Plan struct {
	*Job
	Items  []*Item // the objects of the input, in input order
	Others []*Item // live objects that the input does not contain, in deletion order; see Pruner
	Err    error   // an error not about a single item; nothing is written then

	large     bool // plans are stored compressed until they are shown
	undecided bool // the Pruner was not asked, because of errors
}

// Action returns what the run does with the item, as known so far.
func (i *Item) Action() apply.Action { return i.ActionOf(i.Planned) }

// ActionOf returns what the run does with the item by a merge plan of it.
func (i *Item) ActionOf(p apply.Planned) apply.Action {
	switch {
	case i.Err != nil:
		return apply.Failed
	case i.Surplus != nil && i.Surplus.Keep:
		return apply.Keep
	case i.Surplus != nil:
		return apply.Delete
	case len(p.Conflicts) > 0 || i.Skipped:
		return apply.Held
	case p.Action == apply.Create:
		return apply.Create
	case p.Action == apply.Change && i.recreate:
		return apply.Recreate
	case p.Action == apply.Change:
		return apply.Change
	}
	return apply.Nothing
}

// Reason explains the item's action; "" if its merge plan explains it.
func (i *Item) Reason() string {
	switch i.Action() {
	case apply.Failed:
		return i.Err.Error()
	case apply.Keep, apply.Delete:
		return i.Surplus.Reason
	case apply.Recreate:
		return "can be set only once: " + strings.Join(i.fixed, ", ")
	case apply.Held:
		if len(i.Planned.Conflicts) == 0 {
			return "skipped: you left it as it is"
		}
		return "conflicts: " + strings.Join(object.Each(i.Planned.Conflicts, func(c merge.Disagreement) string { return c.Path.String() }), ", ")
	}
	return ""
}

// Failed joins the errors of the run and, as an *ObjectError each, of its items; nil if
// there are none.
func (p *Plan) Failed() error {
	errs := []error{p.Err}
	for _, item := range slices.Concat(p.Items, p.Others) {
		for _, err := range []error{item.Err, item.Late} {
			if err != nil {
				errs = append(errs, &ObjectError{Target: item.Target, Err: err, object: item.Object})
			}
		}
	}
	if p.undecided {
		errs = append(errs, ErrNotPruned)
	}
	return errors.Join(errs...)
}

// Errs joins the errors of the items, which name their objects; nil if there are none.
func (p *Plan) Errs() error {
	return errors.Join(object.Each(p.Items, func(i *Item) error { return i.Err })...)
}

// Add resolves objects, and adds them to the items. The error joins those of all that have no target.
func (p *Plan) Add(ctx context.Context, objects []object.Object) error {
	found, err := p.Resolve(ctx, objects)
	if err == nil {
		p.Items, err = append(p.Items, found.Items...), found.Err
	}
	return err
}

// Kept returns the live objects that the input does not contain and the run does not delete. The
// user has to decide about them. Empty if there are none.
func (p *Plan) Kept() []*Item {
	return slices.DeleteFunc(slices.Clone(p.Others), func(i *Item) bool { return i.Action() != apply.Keep })
}

// Deletions returns those of the items that the run deletes. Empty if there are none.
func Deletions(items []*Item) []*Item {
	return slices.DeleteFunc(slices.Clone(items), func(i *Item) bool { return i.Action() != apply.Delete })
}

// Impact returns what the run does, or has done, to the item and its pods.
func (i *Item) Impact() impact.Impact {
	var r *cluster.Refusal
	switch a := i.Action(); {
	case errors.As(i.Err, &r) && r.Verb != "get":
		return impact.Impact{Word: impact.Refused, Fields: i.Fixed()}
	case a == apply.Failed, a == apply.Keep, a == apply.Held:
		return impact.Impact{}
	case a == apply.Delete:
		return impact.Impact{Word: impact.Pruned}
	case a == apply.Recreate:
		return impact.Impact{Word: impact.Recreated, Fields: i.fixed}
	case len(i.fixed) > 0:
		return impact.Impact{Word: impact.Refused, Fields: i.fixed, Remark: "can be set only once" + i.remedy}
	case i.Result.Outcome == write.Unchanged || i.Facts == nil:
		return impact.Impact{}
	}
	return i.Facts.Impact
}

// Foreseen returns the impact of the item's plan, whatever the server has made of it.
func (i *Item) Foreseen() impact.Impact {
	if known := i.Impact(); known.Word != impact.None || i.Facts == nil {
		return known
	}
	return i.Facts.Impact
}

// facts keeps what a plan, which must be whole, means for pods.
func (i *Item) facts(p apply.Planned) {
	i.Facts = nil
	if f := impact.Look(p, i.Target.Namespace); f.Any() {
		i.Facts = &f
	}
}

// Stale lists the objects of the input whose running pods keep old values of a ConfigMap or Secret
// that the run changes. nil if there are none.
func (p *Plan) Stale() []impact.Stale {
	var all []impact.Facts
	for _, item := range p.Items {
		if item.Err == nil && item.Facts != nil {
			all = append(all, *item.Facts)
		}
	}
	return impact.StaleIn(all)
}

// showWindow is how many compressed items are restored at once.
const showWindow = 64

// Show calls show for each item in order, then for Others, with the result that a run is
// expected to have; nothing is sent. What Needs asks for is available then, and dropped
// afterwards if Shown is set. Items not shown when ctx ends get an error.
func (p *Plan) Show(ctx context.Context, show func(*Item)) {
	for some := range slices.Chunk(p.Items, showWindow) {
		p.each(ctx, some, func(i int) { p.restore(ctx, some[i]) }, func(i int) {
			some[i].dress()
			if some[i].Rendered == nil {
				some[i].Result = unsent(some[i])
			}
			show(some[i])
			if form := some[i].stored.form; form == restored || form == rendered {
				some[i].Rendered = nil
				some[i].evict()
			}
			some[i].share()
		})
	}
	for _, item := range p.Others {
		item.Own()
		item.Result = unsent(item)
		show(item)
	}
}

// Compare returns an item of the same object that is merged with another live object, nil for none.
// The item itself is unchanged, and nothing is stored: Compare may be called by several goroutines,
// at any time after Merge.
func (p *Plan) Compare(ctx context.Context, item *Item, obj map[string]any) *Item {
	again := NewItem(item.Object, item.Target)
	p.admit(ctx, again, obj)
	return again
}

// Preview has the server try every item and calls report for each in input order, then
// for Others. Write.DryRun must be set. Since nothing is stored, a failure stops no other
// item.
func (p *Plan) Preview(ctx context.Context, report func(*Item)) {
	w := p.writer(report)
	for _, item := range p.Items {
		if item.Action().Writes() {
			item.state = ready
		} else {
			w.finished(ctx, item, unsent(item))
		}
	}
	w.send(ctx, w.in(ready), remaining)
	w.stop = false
	w.prune(ctx)
	w.finish(ctx)
}

// unsent returns the result of an item for which nothing is sent.
func unsent(item *Item) write.Result {
	switch item.Action() {
	case apply.Failed, apply.Keep:
		return write.Result{}
	case apply.Delete:
		return write.Removed(item.Planned)
	case apply.Recreate:
		return write.Again(item.Planned)
	case apply.Held:
		return write.Result{Outcome: write.Unsettled, Object: item.Planned.Final, Planned: item.Planned}
	default:
		return write.Foreseen(item.Planned)
	}
}

// Phase names what a run is doing.
type Phase string

// The phases, in order. Trying and Writing repeat if objects have to wait for others.
const (
	Reading Phase = "reading"
	Trying  Phase = "trying"
	Writing Phase = "writing"
	Pruning Phase = "pruning"
)

// Progress is called with the number of objects of a phase that are done. It may be called
// by several goroutines at once.
type Progress func(phase Phase, done, total int)

// count begins a phase and returns the function to call for each object that is done.
func (j *Job) count(phase Phase, total int) func(int) {
	if j.Progress == nil {
		return func(int) {}
	}
	j.Progress(phase, 0, total)
	var done atomic.Int64
	return func(int) { j.Progress(phase, int(done.Add(1)), total) }
}
