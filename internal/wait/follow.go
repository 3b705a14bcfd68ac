package wait

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// update is what a follower has found out.
type update struct {
	source source

	// whole: objects are all that there are now. Otherwise they are those that have
	// changed, or are gone.
	whole   bool
	gone    bool
	objects []map[string]any

	note   string // what keeps the follower from seeing all it could
	denied error  // the server does not let this user read the source's objects
}

// follower keeps a board up to date with one source.
type follower struct {
	api     *cluster.Cluster
	source  source
	updates chan<- update
	reduce  func(map[string]any) map[string]any // nil: as a board needs it
	noted   bool
}

// How long a follower pauses after a server that could not be asked, and between two
// looks where it may not watch.
const (
	minPause = 200 * time.Millisecond
	maxPause = 5 * time.Second
	polling  = 2 * time.Second
)

// run lists and watches until ctx ends. A version that is too old to go on from, and a
// server that comes back, begin with a list again; who may not watch lists again and
// again, and who may not list reads the objects one by one.
func (f *follower) run(ctx context.Context) {
	if f.source.class != "" {
		f.readClass(ctx)
		return
	}
	for pause := minPause; ctx.Err() == nil; {
		version, err := f.list(ctx)
		switch {
		case err == nil:
			pause = minPause
			err = f.watch(ctx, version)
		case refused(err) && f.source.names == nil:
			f.send(ctx, update{note: "the wait cannot report why pods are not ready: " + err.Error(), denied: err})
			return
		case refused(err):
			err = f.readEach(ctx)
		}
		switch {
		case err == nil:
			continue
		case cluster.IsGone(err):
			f.sleep(ctx, minPause)
			continue
		case refused(err): // it may be listed, and not watched
			f.sleep(ctx, polling)
			continue
		}
		f.note(ctx, err.Error()+": trying again")
		f.sleep(ctx, pause)
		pause = min(2*pause, maxPause)
	}
}

// refused: the server has answered, and does not let this user, or anybody, do that.
func refused(err error) bool {
	code := cluster.Code(err)
	return code == 401 || code == 403 || code == 405 || code == 404
}

func (f *follower) sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (f *follower) send(ctx context.Context, u update) {
	u.source = f.source
	select {
	case f.updates <- u:
	case <-ctx.Done():
	}
}

// note reports trouble once, until it is over.
func (f *follower) note(ctx context.Context, text string) {
	if !f.noted && ctx.Err() == nil {
		f.noted = true
		f.send(ctx, update{note: text})
	}
}

// keep reduces an object to what the board needs of it; nil for one that it does not
// know.
func (f *follower) keep(obj map[string]any) map[string]any {
	switch {
	case f.reduce != nil:
		return f.reduce(obj)
	case slices.Contains(f.source.names, text(obj, "metadata", "name")):
		return obj
	case helps(f.source.Kind):
		return reduced(f.source.Kind, obj)
	}
	return nil
}

func helps(kind string) bool { return kind == kindPod || kind == kindReplicaSet || kind == kindEvent }

func (f *follower) list(ctx context.Context) (version string, err error) {
	s, err := f.api.Snapshot(ctx, f.source.Watching, f.keep)
	if err != nil {
		return "", err
	}
	f.noted = false
	f.send(ctx, update{whole: true, objects: s.Objects})
	return s.Version, nil
}

// watch goes on from a version, and again each time that the server ends a watch, until
// there is an error.
func (f *follower) watch(ctx context.Context, version string) error {
	w := f.source.Watching
	for w.Version = version; ctx.Err() == nil; {
		begun := time.Now()
		err := f.api.Watch(ctx, w, func(e cluster.Event) {
			w.Version = e.Version
			if e.Type == cluster.Bookmark {
				return
			}
			if obj := f.keep(e.Object); obj != nil {
				f.send(ctx, update{gone: e.Type == cluster.Deleted, objects: []map[string]any{obj}})
			}
		})
		var down *cluster.Unreachable
		if err != nil && !errors.As(err, &down) {
			return err
		}
		if time.Since(begun) < minPause { // a server that ends every watch at once is not asked in a loop
			f.sleep(ctx, minPause)
		}
		if err != nil {
			return nil // what happened meanwhile is in the next list
		}
	}
	return ctx.Err()
}

// readEach reads the objects one by one, as only the right to get them is there.
func (f *follower) readEach(ctx context.Context) error {
	var all []map[string]any
	for _, name := range f.source.names {
		obj, err := f.api.Get(ctx, cluster.Target{Resource: f.source.Resource, Namespace: f.source.Namespace, Name: name})
		switch {
		case cluster.IsNotFound(err):
		case refused(err):
			f.send(ctx, update{denied: err})
			return err
		case err != nil:
			return err
		default:
			all = append(all, obj)
		}
	}
	f.noted = false
	f.send(ctx, update{whole: true, objects: all})
	f.sleep(ctx, polling)
	return nil
}

// readClass reads a StorageClass. Who may not has the events of the claim.
func (f *follower) readClass(ctx context.Context) {
	obj, err := f.api.Get(ctx, cluster.Target{Resource: classResource, Name: f.source.class})
	if err == nil {
		f.send(ctx, update{objects: []map[string]any{obj}})
	}
}
