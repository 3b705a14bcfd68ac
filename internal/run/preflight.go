package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// preflight has the server try the items in a dry run. A final refusal ends the run before
// anything more is written. Items that depend on another one not yet written are deferred.
func (w *writer) preflight(ctx context.Context, items []*Item) {
	pending := slices.DeleteFunc(slices.Clone(w.needed), func(i *Item) bool { return i.state != ready && i.state != deferred })
	var trials []*Item
	for _, item := range items {
		if slices.ContainsFunc(pending, func(other *Item) bool { return other != item && lacks(item, other) }) {
			item.state = deferred
		} else {
			trials = append(trials, item)
		}
	}
	trial := w.server
	trial.Write.DryRun, trial.Trial = true, true
	errs := make([]error, len(trials))
	begun := parallel.Each(ctx, parallel.Steps{N: len(trials), Limit: w.Concurrency, Adapt: w.Adapt, Done: w.count(Trying, len(trials))}, func(i int) {
		item := trials[i]
		if w.restore(ctx, item); item.Err != nil {
			errs[i] = item.Err
			return
		}
		var out write.Result
		item.asked()
		if out, errs[i] = w.apply(ctx, trial, item); errs[i] != nil || w.ignored(item, out) {
			out, errs[i] = w.instead(ctx, item, out.Planned, errs[i])
		}
		if item.tried = errs[i] == nil; item.tried {
			item.Own()
			item.Planned = out.Planned
			errs[i] = w.store(item) // it may have been merged again
		}
	})
	if begun < len(trials) {
		w.stop = true
		return
	}
	for i, item := range trials {
		w.judge(ctx, item, errs[i], pending)
	}
}

// propagation is how long a kind, policy or role that was written may take until every
// part of the server knows it.
const propagation = 10 * time.Second

// task returns the write of an item's plan.
func (w *writer) task(item *Item) write.Task {
	t := write.Task{
		Target: item.Target, Planned: item.Planned, Prepared: item.stored.request,
		Replan: func(ctx context.Context, obj map[string]any) (apply.Planned, error) {
			planned, err := w.merged(ctx, item, obj)
			if err == nil {
				err = w.bound(item, planned)
			}
			return planned, err
		},
	}
	if w.Journal != nil {
		t.Begin = func(p apply.Planned) (func(map[string]any, error), error) { return w.Journal.Begin(item, p) }
	}
	return t
}

// apply writes or tries an item. A refusal caused by an object that this run has just
// written is retried: that object may not have propagated yet.
func (w *writer) apply(ctx context.Context, s write.Server, item *Item) (write.Result, error) {
	t := w.task(item)
	for pause := 100 * time.Millisecond; ; pause *= 2 {
		out, err := s.Apply(item.Meter.In(ctx), t)
		if !w.settling(item, err) || cluster.Sleep(ctx, pause) != nil {
			return out, w.undecoded(item, err)
		}
	}
}

// undecodable matches what a server says of an object with a value of another type than its field's, which
// it names neither in full nor with its place (encoding/json, encoding/base64, runtime.FromUnstructured).
var undecodable = redact.Pattern(`cannot unmarshal|illegal base64|cannot convert float64`)

// beyond matches what it says of a whole number that is too large for its field.
var beyond = redact.Pattern(`cannot unmarshal number (\S+) into Go struct field \S+\.(\w+) of type (\w+)`)

// undecoded returns the values because of which the server could not read an object, in place of its words.
func (w *writer) undecoded(item *Item, err error) error {
	r, ok := errors.AsType[*cluster.Refusal](err)
	t, builtin := schema.Builtin(item.Target.Group, item.Target.Version, item.Target.Kind)
	if !ok || !builtin || w.Planner == nil || !undecodable().MatchString(r.Message) {
		return err
	}
	if whole, failed := item.Object.Whole(); failed == nil {
		if wrong := w.Planner.Mistyped(apply.Subject{Object: whole}, t, nil); wrong != nil {
			return fmt.Errorf("%s: %w", item.Target, wrong)
		}
		m := beyond().FindStringSubmatch(r.Message)
		if at, found := merge.First(merge.PlainNumbers(whole.Value), func(s merge.Step, v any) bool {
			return m != nil && s.Name == m[2] && v == json.Number(m[1])
		}); found {
			return fmt.Errorf("%s: %s: must be a number of the type %s, and is %s%s", item.Target, at, m[3], m[1], w.Planner.Place(whole, at))
		}
	}
	return err
}

// settling reports whether this run has just written the cause of a refusal.
func (w *writer) settling(item *Item, err error) bool {
	r, ok := errors.AsType[*cluster.Refusal](err)
	w.mu.Lock()
	defer w.mu.Unlock()
	return ok && slices.ContainsFunc(w.needed, func(other *Item) bool {
		return other != item && time.Since(other.written) < propagation && explains(item, other, r)
	})
}

// judge decides what a trial means for its item; err is its error.
func (w *writer) judge(ctx context.Context, item *Item, err error, pending []*Item) {
	switch {
	case err == nil && !item.Action().Writes(): // it was merged again
		w.stop = w.stop || w.blocks(item)
		w.finished(ctx, item, unsent(item))
	case err == nil:
		item.state = ready
	case cluster.RefusesDryRun(err):
		item.state = ready
		item.Own()
		item.Planned.Problems = append(item.Planned.Problems, "was not tried first: "+reasonOf(item, err))
	case cluster.IsRefusal(err) && slices.ContainsFunc(pending, func(other *Item) bool { return mayExplain(item, other, err) }):
		item.Own()
		item.state, item.refusal = deferred, err
	default:
		item.Err, item.state = err, halted
		w.stop = true
	}
}

func reasonOf(item *Item, err error) string {
	return strings.TrimPrefix(err.Error(), item.Target.String()+": ")
}

// unstored returns those of a plan's doubtful values that the server does not store: there, its
// answer to a dry run equals live. If it cannot be asked, managedFields decide. Values of an object
// that it refuses are sent, so that the user learns why.
func (j *Job) unstored(ctx context.Context, item *Item, p apply.Planned) (paths []merge.Path) {
	answer, err := j.answer(ctx, item, p)
	if r, ok := errors.AsType[*cluster.Refusal](err); ok && r.OfObject() {
		return nil
	}
	live, made := merge.NewFinder(p.Live, p.Type), merge.NewFinder(answer, p.Type)
	for _, d := range p.Doubtful {
		was, had := live.Lookup(d.Path)
		is, has := made.Lookup(d.Path)
		same := had == has && (!had || merge.Equal(was, is, p.Type.At(d.Path)))
		if answer == nil && d.Recorded || answer != nil && same {
			paths = append(paths, d.Path)
		}
	}
	return paths
}

// answer returns the object that the server would store of a plan; nil if that is unknown. The error
// is the server's.
func (j *Job) answer(ctx context.Context, item *Item, p apply.Planned) (map[string]any, error) {
	if j.API == nil || p.Action != apply.Change || len(p.Conflicts) > 0 {
		return nil, nil
	}
	s := write.Server{API: j.API, Write: j.Write}
	s.Write.DryRun, s.Write.FieldManager = true, j.Planner.Manager
	out, err := s.Apply(item.Meter.In(ctx), write.Task{Target: item.Target, Planned: p, Replan: func(context.Context, map[string]any) (apply.Planned, error) {
		return apply.Planned{}, errors.New("was changed meanwhile")
	}})
	if err != nil {
		return nil, err
	}
	return out.Object, nil
}
