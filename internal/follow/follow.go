// Package follow follows objects on a server: it lists and watches them, and continues
// after watches that end, versions that are too old, restarts of the server, and where
// watching or listing is forbidden. It refuses to judge what it sees.
package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// API is the server that objects are followed on.
type API interface {
	Snapshot(ctx context.Context, w cluster.Watching, keep func(map[string]any) map[string]any) (cluster.Snapshot, error)
	Watch(ctx context.Context, w cluster.Watching, each func(cluster.Event)) error
	Get(ctx context.Context, t cluster.Target) (map[string]any, error)
}

// Source is what one Follower follows.
type Source struct {
	cluster.Watching

	// Names are those that are wanted: where the user may not list them, they are read one by
	// one. nil: all that the watch sends.
	Names []string
}

// Has reports whether the source was made for an object.
func (s Source) Has(obj map[string]any) bool {
	meta, _ := obj["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	return slices.Contains(s.Names, name)
}

// Update is what a Follower has found out.
type Update struct {
	// Whole: Objects are all that there are now. Otherwise they are those that have
	// changed, or, with Gone, are no more.
	Whole   bool
	Gone    bool
	Objects []map[string]any

	// Trouble is what keeps the Follower from seeing all it could, reported once; it tries
	// again. Denied: the server does not let this user read the objects.
	// Note is to be reported, and keeps the Follower from nothing.
	Trouble error
	Denied  error
	Note    string
}

// Follower keeps a receiver up to date with one source.
type Follower struct {
	API API
	Source

	// Keep reduces an object to what is needed of it; nil drops it.
	Keep func(map[string]any) map[string]any

	// Send receives all updates, in order; it may block. Nothing is sent after the context
	// has ended.
	Send func(ctx context.Context, u Update)

	// Every is how often objects are read that may not be watched, or whose watch is none.
	Every time.Duration

	// Silence is how long a watch may send nothing before the objects are read; 0: Silence.
	Silence time.Duration

	troubled bool // an error was reported, which is not over yet
	broken   bool // that the watch is none was reported
}

// Pause is how long a Follower pauses at least after a server that could not be asked.
const Pause = 200 * time.Millisecond

const longestPause = 5 * time.Second

// Silence is how long a watch may send neither an event nor a bookmark before the objects are
// read: something between the server and this program may hold back what it sends.
const Silence = 30 * time.Second

// errSilent is the end of a watch that has sent nothing for too long, errNone that of one
// that has ended without having sent anything.
var (
	errSilent = errors.New("the watch sends nothing")
	errNone   = errors.New("the watch ends at once")
)

// Run lists and watches until ctx ends. A version that is too old to continue from, a watch that
// is silent, and a server that comes back, lead to a new list; who may not watch, or has a
// watch that sends nothing, or what is no event of it, lists again and again, and who may not
// list reads the objects one by one. A server that asks to wait is obeyed. It returns early where
// all objects of a kind are followed, and this user may not list them.
//
// Rules: https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes.
func (f *Follower) Run(ctx context.Context) {
	for pause := Pause; ctx.Err() == nil; {
		version, err := f.list(ctx)
		watched := err == nil
		switch {
		case watched:
			pause = Pause
			err = f.watch(ctx, version)
		case Refused(err) && f.Names == nil:
			f.Send(ctx, Update{Denied: err})
			return
		case Refused(err):
			err = f.readEach(ctx)
		}
		after, _ := cluster.RetryAfter(err)
		switch {
		case err == nil, errors.Is(err, errSilent):
		case cluster.IsGone(err):
			sleep(ctx, Pause)
		case Refused(err), errors.Is(err, errNone): // it may be listed, and not watched
			sleep(ctx, f.Every)
		case watched:
			f.noWatch(ctx, err)
			sleep(ctx, max(after, f.Every))
		default:
			f.trouble(ctx, err)
			sleep(ctx, max(after, pause))
			pause = min(2*pause, longestPause)
		}
	}
}

// noWatch reports once that what answers a watch is none.
func (f *Follower) noWatch(ctx context.Context, err error) {
	if !f.broken && ctx.Err() == nil {
		f.broken = true
		f.Send(ctx, Update{Note: fmt.Sprintf("%s cannot be watched, and are read every %s: %v", f.Plural, f.Every, err)})
	}
}

// Refused: the server has answered, and does not let this user, or anybody, do that.
func Refused(err error) bool {
	code := cluster.Code(err)
	return code == 401 || code == 403 || code == 405 || code == 404
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// trouble reports an error once, until it is over.
func (f *Follower) trouble(ctx context.Context, err error) {
	if !f.troubled && ctx.Err() == nil {
		f.troubled = true
		f.Send(ctx, Update{Trouble: err})
	}
}

func (f *Follower) list(ctx context.Context) (version string, err error) {
	s, err := f.API.Snapshot(ctx, f.Watching, f.Keep)
	if err != nil {
		return "", err
	}
	f.troubled = false
	f.Send(ctx, Update{Whole: true, Objects: s.Objects})
	return s.Version, nil
}

// watch continues from a version, and again each time that the server ends a watch that has sent
// something, until there is an error. A connection that breaks is none: what happened
// meanwhile is in the next list.
func (f *Follower) watch(ctx context.Context, version string) error {
	w, silence := f.Watching, cmp.Or(f.Silence, Silence)
	for w.Version = version; ; {
		heard, begun := false, time.Now()
		watching, end := context.WithCancelCause(ctx)
		quiet := time.AfterFunc(silence, func() { end(errSilent) })
		err := f.API.Watch(watching, w, func(e cluster.Event) {
			heard = true
			quiet.Reset(silence)
			w.Version = e.Version
			if e.Type == cluster.Bookmark {
				return
			}
			if obj := f.Keep(e.Object); obj != nil {
				f.Send(ctx, Update{Gone: e.Type == cluster.Deleted, Objects: []map[string]any{obj}})
			}
		})
		quiet.Stop()
		silent := context.Cause(watching)
		end(nil)
		var down *cluster.Unreachable
		switch lost := errors.As(err, &down) && !down.Garbled; {
		case ctx.Err() != nil:
			return ctx.Err()
		case silent != nil:
			return silent
		case err != nil && !lost:
			return err
		case !heard:
			return errNone
		}
		if time.Since(begun) < Pause { // a server that ends every watch soon is not asked in a loop
			sleep(ctx, Pause)
		}
		if err != nil {
			return nil
		}
	}
}

// Read is what there is now, as a list has it, or, where this user may not list, as the objects
// have it, one by one.
func (f *Follower) Read(ctx context.Context) (Update, error) {
	s, err := f.API.Snapshot(ctx, f.Watching, f.Keep)
	if Refused(err) && f.Names != nil {
		return f.each(ctx)
	}
	return Update{Whole: true, Objects: s.Objects}, err
}

// readEach reads the objects one by one, as get is the only permission.
func (f *Follower) readEach(ctx context.Context) error {
	u, err := f.each(ctx)
	if Refused(err) {
		f.Send(ctx, Update{Denied: err})
	}
	if err != nil {
		return err
	}
	f.troubled = false
	f.Send(ctx, u)
	sleep(ctx, f.Every)
	return nil
}

// each are the objects, of which each is read.
func (f *Follower) each(ctx context.Context) (Update, error) {
	u := Update{Whole: true}
	for _, name := range f.Names {
		obj, err := f.API.Get(ctx, cluster.Target{Resource: f.Resource, Namespace: f.Namespace, Name: name})
		if cluster.IsNotFound(err) {
			continue
		}
		if err != nil {
			return Update{}, err
		}
		if obj = f.Keep(obj); obj != nil {
			u.Objects = append(u.Objects, obj)
		}
	}
	return u, nil
}
