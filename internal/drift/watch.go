package drift

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/follow"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Watcher keeps a report of objects up to date, and reports its changes. Of each object only its
// rows, and its part of the input, stay in memory.
type Watcher struct {
	API     follow.API
	Manager string // as for Of

	// Compare merges an item with a live object; see run.Plan.Compare.
	Compare func(ctx context.Context, item *run.Item, live map[string]any) *run.Item

	// Orphans finds the members of a set that the input does not contain; nil without a set.
	Orphans func(ctx context.Context) ([]*run.Item, error)

	// Every is the interval of searches for orphans, and of reads of objects that may not be watched.
	Every time.Duration

	// Event is called for each event, in order; an error ends the watch. Noted is called with
	// problems that limit the watch's view. Neither is called by two goroutines at once.
	Event func(Event) error
	Noted func(text string)

	mu      sync.Mutex
	objects []*watched
	at      map[cluster.Target]*watched
	orphans watched // all of them
	trouble map[cluster.Watching]bool
	failed  error // of Event
	end     context.CancelFunc
}

// watched is the known state of an object.
type watched struct {
	item *run.Item // the item that it is compared with
	state
}

// Add adds an item that was compared, with its rows, or has an error.
func (w *Watcher) Add(item *run.Item, rows []Row) {
	if item.Surplus != nil {
		w.orphans.rows = append(w.orphans.rows, rows...)
		return
	}
	o := &watched{item: run.NewItem(item.Object.Packed(), item.Target), state: state{rows: rows, err: item.Err}}
	if w.at == nil {
		w.at, w.trouble = map[cluster.Target]*watched{}, map[cluster.Watching]bool{}
	}
	w.objects = append(w.objects, o)
	w.at[follow.Key(item.Target.Resource, item.Target.Namespace, item.Target.Name)] = o
}

// Watch reports events until ctx ends, which is not an error. The error is that of Event.
//
// Unlike kubectl: whose get --watch shows an object whenever anything in it changes.
func (w *Watcher) Watch(ctx context.Context) error {
	ctx, w.end = context.WithCancel(ctx)
	defer w.end()
	targets := object.Each(w.objects, func(o *watched) cluster.Target { return o.item.Target })
	var group sync.WaitGroup
	sources := follow.Sources(targets)
	for _, s := range sources {
		group.Go(func() { w.follower(ctx, s).Run(ctx) })
	}
	if w.Orphans != nil {
		group.Go(func() {
			for cluster.Sleep(ctx, w.Every) == nil {
				w.seek(ctx)
			}
		})
	}
	if group.Wait(); w.failed == nil {
		w.confirm(context.WithoutCancel(ctx), sources)
	}
	return w.failed
}

// lastLook limits how long the objects are read at the end.
const lastLook = 10 * time.Second

// confirm reads everything once more for the report at the end: a watch may have been silent, or
// behind. An object that cannot be read is unknown, and so an error.
func (w *Watcher) confirm(ctx context.Context, sources []follow.Source) {
	reading, cancel := context.WithTimeout(ctx, lastLook)
	defer cancel()
	var group sync.WaitGroup
	for _, s := range sources {
		group.Go(func() {
			u, err := w.follower(ctx, s).Read(reading)
			if err != nil {
				u = follow.Update{Denied: err}
			}
			w.take(ctx, s, u)
		})
	}
	group.Wait()
	if w.Orphans != nil {
		w.seek(reading)
	}
}

func (w *Watcher) follower(ctx context.Context, s follow.Source) *follow.Follower {
	return &follow.Follower{
		API: w.API, Source: s, Every: w.Every,
		Keep: func(obj map[string]any) map[string]any { return w.look(ctx, s, obj) },
		Send: func(ctx context.Context, u follow.Update) { w.take(ctx, s, u) },
	}
}

// state is what is known of an object, or its new state.
type state struct {
	version string // resourceVersion of the live object that was compared last
	rows    []Row
	err     error        // reason that it cannot be compared
	owners  merge.Owners // of a new state, if a row may have ended
}

// stateField is the key of look's state; nothing else of an object is kept.
const stateField = "state"

// look compares an object, unless that version of it was compared before; nil if it is not watched.
// An object's state is changed only by the goroutine of its source.
func (w *Watcher) look(ctx context.Context, s follow.Source, obj map[string]any) map[string]any {
	name, version := strings.Clone(merge.At[string](obj, "metadata", "name")), strings.Clone(merge.At[string](obj, "metadata", "resourceVersion"))
	o := w.at[follow.Key(s.Resource, s.Namespace, name)]
	if o == nil {
		return nil
	}
	small := map[string]any{"metadata": map[string]any{"name": name}}
	if o.version != version || version == "" || o.err != nil {
		small[stateField] = w.compare(ctx, o, obj)
	}
	return small
}

func (w *Watcher) compare(ctx context.Context, o *watched, obj map[string]any) state {
	item := w.Compare(ctx, o.item, obj)
	if item.Err != nil {
		return state{err: item.Err}
	}
	s := state{version: strings.Clone(merge.At[string](obj, "metadata", "resourceVersion")), rows: Of(item, w.Manager)}
	if len(o.rows) > 0 && obj != nil {
		s.owners = ownership.Of(obj)
	}
	return s
}

// take stores an update of a follower.
func (w *Watcher) take(ctx context.Context, s follow.Source, u follow.Update) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return
	case u.Note != "":
		w.Noted(u.Note)
		return
	case u.Trouble != nil:
		if len(w.trouble) == 0 { // once, until it is over for all
			w.Noted(u.Trouble.Error() + ": trying again")
		}
		w.trouble[s.Watching] = true
		return
	case u.Denied != nil:
		w.denied(s, u.Denied)
		return
	}
	w.fine(s.Watching)
	there := map[string]bool{}
	for _, obj := range u.Objects {
		name := merge.At[string](obj, "metadata", "name")
		there[name] = true
		o := w.at[follow.Key(s.Resource, s.Namespace, name)]
		if u.Gone {
			w.become(ctx, o, w.compare(ctx, o, nil))
		} else if now, changed := obj[stateField].(state); changed {
			w.become(ctx, o, now)
		}
	}
	for _, name := range s.Names {
		if o := w.at[follow.Key(s.Resource, s.Namespace, name)]; u.Whole && !there[name] {
			w.become(ctx, o, w.compare(ctx, o, nil))
		}
	}
}

// become stores an object's new state.
func (w *Watcher) become(ctx context.Context, o *watched, now state) {
	if ctx.Err() != nil { // nothing was compared then
		return
	}
	if now.err != nil {
		if o.err == nil {
			w.Noted("cannot be compared any more: " + now.err.Error())
		}
		o.err = now.err
		return
	}
	events := changes(o.rows, now.rows, now.owners, time.Now())
	o.state, o.state.owners = now, nil // which are large, and needed no more
	w.report(events)
}

func (w *Watcher) report(events []Event) {
	for _, e := range events {
		if w.failed != nil {
			return
		}
		if w.failed = w.Event(e); w.failed != nil {
			w.end()
		}
	}
}

// denied records that the objects of a source may no longer be read.
func (w *Watcher) denied(s follow.Source, err error) {
	w.fine(s.Watching)
	before := false
	for _, name := range s.Names {
		o := w.at[follow.Key(s.Resource, s.Namespace, name)]
		before = before || o.err != nil
		o.err = fmt.Errorf("%s: %w", o.item.Target, err)
	}
	if !before {
		w.Noted(fmt.Sprintf("%s cannot be read any more: %v", s.Plural, err))
	}
}

func (w *Watcher) fine(source cluster.Watching) {
	if !w.trouble[source] {
		return
	}
	if delete(w.trouble, source); len(w.trouble) == 0 {
		w.Noted("the server answers again: what has changed meanwhile is reported as it is now")
	}
}

// seek looks for orphans once.
func (w *Watcher) seek(ctx context.Context) {
	items, err := w.Orphans(ctx)
	rows := slices.Concat(object.Each(items, func(item *run.Item) []Row { return Of(item, w.Manager) })...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	if err != nil && w.orphans.err == nil {
		w.Noted("members of the set that are in no file cannot be looked for: " + err.Error())
	}
	if w.orphans.err = err; err == nil {
		events := changes(w.orphans.rows, rows, nil, time.Now())
		w.orphans.rows = rows
		w.report(events)
	}
}

// Report returns the current report.
func (w *Watcher) Report() *Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &Report{}
	for _, o := range w.objects {
		if o.err == nil {
			r.add(o.item.Target, o.rows)
		}
	}
	for _, row := range w.orphans.rows {
		r.add(row.Object, []Row{row})
	}
	return r
}

// Failed joins why objects cannot be compared now, as a *run.ObjectError each.
func (w *Watcher) Failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	errs := []error{w.orphans.err}
	for _, o := range w.objects {
		if o.err != nil {
			errs = append(errs, &run.ObjectError{Target: o.item.Target, Err: o.err})
		}
	}
	return errors.Join(errs...)
}
