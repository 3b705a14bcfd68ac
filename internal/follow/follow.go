// Package follow follows objects on a server: it lists and watches them, and continues
// after watches that end, versions that are too old, restarts of the server, and where
// watching or listing is forbidden. It refuses to judge what it sees.
package follow

import (
	"context"
	"errors"
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
	Trouble error
	Denied  error
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

	// Every is how often objects are read that may not be watched.
	Every time.Duration

	troubled bool
}

// Pause is how long a Follower pauses at least after a server that could not be asked.
const Pause = 200 * time.Millisecond

const longestPause = 5 * time.Second

// Run lists and watches until ctx ends. A version that is too old to continue from, and a
// server that comes back, lead to a new list; who may not watch lists again and
// again, and who may not list reads the objects one by one. It returns early where all
// objects of a kind are followed, and this user may not list them.
//
// Rules: https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes.
func (f *Follower) Run(ctx context.Context) {
	for pause := Pause; ctx.Err() == nil; {
		version, err := f.list(ctx)
		switch {
		case err == nil:
			pause = Pause
			err = f.watch(ctx, version)
		case Refused(err) && f.Names == nil:
			f.Send(ctx, Update{Denied: err})
			return
		case Refused(err):
			err = f.readEach(ctx)
		}
		switch {
		case err == nil:
			continue
		case cluster.IsGone(err):
			sleep(ctx, Pause)
			continue
		case Refused(err): // it may be listed, and not watched
			sleep(ctx, f.Every)
			continue
		}
		f.trouble(ctx, err)
		sleep(ctx, pause)
		pause = min(2*pause, longestPause)
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

// watch continues from a version, and again each time that the server ends a watch, until
// there is an error.
func (f *Follower) watch(ctx context.Context, version string) error {
	w := f.Watching
	for w.Version = version; ctx.Err() == nil; {
		begun := time.Now()
		err := f.API.Watch(ctx, w, func(e cluster.Event) {
			w.Version = e.Version
			if e.Type == cluster.Bookmark {
				return
			}
			if obj := f.Keep(e.Object); obj != nil {
				f.Send(ctx, Update{Gone: e.Type == cluster.Deleted, Objects: []map[string]any{obj}})
			}
		})
		var down *cluster.Unreachable
		if err != nil && !errors.As(err, &down) {
			return err
		}
		if time.Since(begun) < Pause { // a server that ends every watch at once is not asked in a loop
			sleep(ctx, Pause)
		}
		if err != nil {
			return nil // what happened meanwhile is in the next list
		}
	}
	return ctx.Err()
}

// readEach reads the objects one by one, as get is the only permission.
func (f *Follower) readEach(ctx context.Context) error {
	var all []map[string]any
	for _, name := range f.Names {
		obj, err := f.API.Get(ctx, cluster.Target{Resource: f.Resource, Namespace: f.Namespace, Name: name})
		switch {
		case cluster.IsNotFound(err):
			continue
		case Refused(err):
			f.Send(ctx, Update{Denied: err})
			return err
		case err != nil:
			return err
		}
		if obj = f.Keep(obj); obj != nil {
			all = append(all, obj)
		}
	}
	f.troubled = false
	f.Send(ctx, Update{Whole: true, Objects: all})
	sleep(ctx, f.Every)
	return nil
}
