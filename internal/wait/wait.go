// Package wait watches objects until all of them are ready, one of them has failed, or the time is
// over. It reports why objects are not ready. It refuses to judge an object, which internal/ready does
// from data, and to print.
package wait

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/ready"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Object is one to wait for.
type Object struct {
	cluster.Target
	UID  string         // "": whichever object has the name at first
	Live map[string]any // last known state; nil if it was not read
	Rule ready.Rule
}

// Waiter waits for objects of one server.
type Waiter struct {
	API *cluster.Cluster

	// Type is the schema of a custom resource's kind, nil where there is none; Type
	// itself may be nil.
	Type func(ctx context.Context, group, version, kind string) (*merge.Type, error)

	Timeout  time.Duration // in total; 0: until the context ends
	Patience time.Duration // how long a transient problem may last
	Silence  time.Duration // see follow.Follower
	Logs     int           // lines of a failed container's log to report; 0: none

	// Changed is called for each change of an object's state, in order, and for the first known
	// state. Noted is called with what limits the wait's view. Neither is called by two goroutines
	// at once; either may be nil.
	Changed func(Object, ready.Verdict)
	Noted   func(text string)

	// Progress receives the number of ready objects whenever it changes; may be nil.
	Progress func(done, total int)
}

// Wait returns nil when every object is ready or asks not to be waited for. When one has failed,
// the time is over or ctx has ended, the error joins a *NotReady for each object that is not ready, and
// the errors of those that cannot be read.
// Objects are judged by their state at the end, all at one time: one that is no longer ready is
// waited for again. Before it returns, all are read once, unless they have just been: a watch may
// be silent, or behind.
//
// Unlike kubectl: whose rollout status looks at counts alone.
func (w *Waiter) Wait(ctx context.Context, objects []Object) error {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	b := w.board(objects)
	updates := make(chan update)
	if err := w.types(ctx, b); err != nil {
		return err
	}
	b.judgeAll(time.Now())
	follow := func(sources []source) {
		for _, s := range sources {
			go s.run(watching, w.API, w.Silence, updates)
		}
	}
	all := b.sources()
	follow(all)
	var timeout <-chan time.Time
	if w.Timeout > 0 {
		timeout = time.After(w.Timeout)
	}
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		why := ""
		if b.end() == ready.Waiting {
			select {
			case u := <-updates:
				b.take(u, time.Now())
				follow(b.classes())
				continue
			case now := <-tick.C:
				clear(b.read)
				b.judgeAll(now)
				continue
			case <-timeout:
				why = "not ready within " + w.Timeout.String()
			case <-ctx.Done():
				why = "the wait was interrupted"
			}
		}
		if why != "" {
			clear(b.read)
		}
		b.confirm(ctx, all)
		switch end := b.end(); {
		case end == ready.Ready:
			return nil
		case end == ready.Failed, why != "":
			return w.report(ctx, b, why)
		}
	}
}

// lookAgain is the interval of checks without an event: a problem may have outlasted the patience
// though nothing has changed.
const lookAgain = 250 * time.Millisecond

// types finds the schemas of custom resources, once for each kind.
func (w *Waiter) types(ctx context.Context, b *board) error {
	known := map[cluster.Resource]*merge.Type{}
	for _, t := range b.objects {
		if w.Type == nil || !t.row.Custom {
			continue
		}
		if _, asked := known[t.Resource]; !asked {
			typ, err := w.Type(ctx, t.Group, t.Version, t.Kind)
			if err != nil {
				return err
			}
			known[t.Resource] = typ
		}
		t.typ = known[t.Resource]
	}
	return nil
}

// NotReady is an object that a wait has ended without.
type NotReady struct {
	Object  Object
	Verdict ready.Verdict // Waiting, or Failed
	Because string        // why the wait for it ended; "" if it has failed itself
	Events  []string      // latest Warning events, oldest first
	Logs    []Log
}

// Log is the end of a container's log.
type Log struct {
	Pod       string   `json:"pod"`
	Container string   `json:"container"`
	Previous  bool     `json:"previous,omitempty"` // of the container's previous run
	Lines     []string `json:"lines"`
}

// Error names the object, and the known reasons why it is not ready.
func (e *NotReady) Error() string {
	why := cmp.Or(e.Verdict.Problem.String(), "nothing is known about it yet")
	if e.Because == "" {
		return fmt.Sprintf("%s: failed: %s", e.Object.Target, why)
	}
	return fmt.Sprintf("%s: %s: %s", e.Object.Target, e.Because, why)
}

// Limits of the details.
const (
	mostDetailed = 5 // objects
	mostEvents   = 3
	detailTime   = 10 * time.Second
)

// report returns the error of a wait that ends with objects that are not ready. why is its reason;
// a failed object takes precedence.
func (w *Waiter) report(ctx context.Context, b *board, why string) error {
	interrupted := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detailTime)
	defer cancel()
	var failed, others []error
	now := time.Now()
	for _, t := range b.objects {
		if t.verdict.State == ready.Ready || t.verdict.State == ready.Skipped {
			continue
		}
		if t.denied != nil && t.verdict.State == ready.Failed {
			failed = append(failed, fmt.Errorf("%s: cannot be read: %w", t.Target, t.denied))
			continue
		}
		e := &NotReady{Object: t.Object, Verdict: t.verdict, Because: cmp.Or(why, "not ready yet")}
		if t.verdict.State == ready.Failed {
			e.Because = ""
		}
		if t.Live != nil && e.Verdict.Pod == "" && t.over == nil {
			e.Verdict.Pod, e.Verdict.Container = ready.Unready(b.subject(t, now))
		}
		if (e.Because == "" || why != "") && !interrupted && len(failed)+len(others) < mostDetailed {
			w.detail(ctx, e)
		}
		if e.Because == "" {
			failed = append(failed, e)
		} else {
			others = append(others, e)
		}
	}
	return errors.Join(append(failed, others...)...)
}

// detail reads events and logs. Parts that cannot be read are left out: this is the report of
// another failure.
func (w *Waiter) detail(ctx context.Context, e *NotReady) {
	name, kind := e.Object.Name, e.Object.Kind
	if e.Verdict.Pod != "" {
		name, kind = e.Verdict.Pod, kindPod
	}
	e.Events = w.warnings(ctx, e.Object.Namespace, kind, name)
	if w.Logs <= 0 || e.Verdict.Container == "" {
		return
	}
	pod := cluster.Target{Resource: podResource, Namespace: e.Object.Namespace, Name: e.Verdict.Pod}
	for _, previous := range []bool{true, false} {
		text, err := w.API.Log(ctx, pod, cluster.LogOf{Container: e.Verdict.Container, Lines: w.Logs, Previous: previous})
		if lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n"); err == nil && lines[0] != "" {
			e.Logs = append(e.Logs, Log{Pod: e.Verdict.Pod, Container: e.Verdict.Container, Previous: previous, Lines: lines})
		}
	}
}

// warnings returns the latest Warning events about an object, each with how often it happened.
func (w *Waiter) warnings(ctx context.Context, namespace, kind, name string) []string {
	fields := fmt.Sprintf("involvedObject.kind=%s,involvedObject.name=%s,type=Warning", kind, name)
	s, err := w.API.Snapshot(ctx, cluster.Watching{Resource: eventResource, Namespace: cmp.Or(namespace, "default"), Fields: fields}, func(o map[string]any) map[string]any { return o })
	if err != nil {
		return nil
	}
	slices.SortStableFunc(s.Objects, func(a, b map[string]any) int { return ready.EventTime(a).Compare(ready.EventTime(b)) })
	var out []string
	for _, e := range s.Objects {
		line := merge.At[string](e, "reason") + ": " + merge.At[string](e, "message")
		out = append(slices.DeleteFunc(out, func(other string) bool { return other == line }), line)
	}
	return out[max(0, len(out)-mostEvents):]
}
