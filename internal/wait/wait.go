// Package wait watches objects until all of them are ready, one of them has failed, or the time is
// over. It reports why objects are not ready. It refuses to judge an object, which internal/ready does
// from data, and to print.
package wait

import (
	"context"
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
