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
	"github.com/kubectl-merge/kubectl-merge/internal/guard"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
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
		if err == nil && w.Check != nil {
			err = w.Check(ctx, item, out)
		}
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

// guard finds who else manages what a merge changes, as far as the object shows.
func (j *Job) guard(item *Item) {
	item.Guards = guard.Object(item.Planned, j.Planner.Manager)
	item.stated = guard.States(item.Planned, func(p merge.Path) bool { return j.toLive(item, p) })
}

// toLive reports whether the user's rules give a field, or one of its parents, to live.
func (j *Job) toLive(item *Item, p merge.Path) bool {
	planned := item.Planned
	triple := merge.Triple{Local: planned.Value, Live: planned.LiveSide(), Owners: ownership.Of(planned.Live)}
	rules := j.Planner.Rules.All().For(schema.Object{
		Group: item.Target.Group, Kind: item.Target.Kind, Namespace: item.Target.Namespace, Name: item.Target.Name, Triple: triple,
	}).Policy()
	r, ok := merge.RuleAt(rules, p)
	return ok && r.Choice == merge.TakeLive
}

// Guard adds findings for the scalers of stated fields to the items that are to be written. It
// sends one list for each kind of scaler and each namespace in which an item states such a field.
// Kinds that are not served, and lists that the server refuses, are skipped: the scalers are then
// unknown.
func (p *Plan) Guard(ctx context.Context, api *cluster.Cluster) {
	type search struct {
		scaler    guard.Scaler
		namespace string
		found     []map[string]any
	}
	var searches []*search
	at := map[string][]*Item{}
	for _, item := range p.Items {
		if ns := item.Target.Namespace; item.stated.Fields != 0 && ns != "" {
			at[ns] = append(at[ns], item)
		}
	}
	for ns, items := range at {
		for _, s := range guard.Scalers {
			if slices.ContainsFunc(items, func(i *Item) bool { return s.Sets(i.stated.Fields) }) {
				searches = append(searches, &search{scaler: s, namespace: ns})
			}
		}
	}
	parallel.Each(ctx, parallel.Steps{N: len(searches), Limit: p.Concurrency}, func(i int) {
		s := searches[i]
		r, ok := api.Known(ctx, s.scaler.Group, s.scaler.Kind)
		if !ok {
			return
		}
		_ = api.List(ctx, cluster.Listing{Resource: r, Namespace: s.namespace}, func(obj map[string]any) bool { // scalers that cannot be read are skipped
			s.found = append(s.found, obj)
			return true
		})
	})
	for _, s := range searches {
		for _, item := range at[s.namespace] {
			item.scaled(s.scaler, s.found)
		}
	}
}

// scaled adds a finding for a scaler of the item, unless another has the same field.
func (i *Item) scaled(s guard.Scaler, all []map[string]any) {
	for _, obj := range all {
		if f, ok := s.Scaled(obj, i.stated); ok {
			i.Own()
			i.Guards = append(i.Guards, f)
			i.stated.Fields &^= s.Field
			return
		}
	}
}

// MissingNamespace is a namespace that does not exist, or is being deleted, and in which objects are
// to be created.
type MissingNamespace struct {
	cluster.Target
	Objects  int
	Deleting bool
}

// MissingNamespaces returns the namespaces in which items would be created and that neither exist
// nor are created by the run, or are being deleted, in the order of the items. It is for client-side dry runs; a server
// reports them itself. Namespaces that the user may not read, and all namespaces offline, are
// assumed to exist.
func (p *Plan) MissingNamespaces(ctx context.Context) (missing []MissingNamespace) {
	if p.API == nil {
		return nil
	}
	for _, n := range unproven(p.Items) {
		if obj, err := p.Live.Get(ctx, n.Target); err == nil && (obj == nil || apply.Deleting(obj) != nil) {
			n.Deleting = obj != nil
			missing = append(missing, n)
		}
	}
	return missing
}

// unproven returns the namespaces of new objects that no item shows to exist: the input does not
// contain them, and no item was found in them.
func unproven(items []*Item) (out []MissingNamespace) {
	there := map[string]bool{}
	for _, item := range items {
		if isNamespace(item.Target.Resource) {
			there[item.Target.Name] = true
		}
		if item.Target.Namespaced && item.found {
			there[item.Target.Namespace] = true
		}
	}
	for _, item := range items {
		name := item.Target.Namespace
		if !item.Target.Namespaced || there[name] || item.Action() != apply.Create {
			continue
		}
		i := slices.IndexFunc(out, func(n MissingNamespace) bool { return n.Name == name })
		if i < 0 {
			i = len(out)
			namespaces := cluster.Resource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}
			out = append(out, MissingNamespace{Target: cluster.Target{Resource: namespaces, Name: name}})
		}
		out[i].Objects++
	}
	return out
}
