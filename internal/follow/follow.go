// Package follow follows objects on a server by lists and watches. It continues after watches that
// end, versions that are too old, restarts of the server, and if watching or listing is forbidden.
// It refuses to judge what it sees.
package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// API is the server that objects are followed on.
type API interface {
	Snapshot(ctx context.Context, w cluster.Watching, keep func(map[string]any) map[string]any) (cluster.Snapshot, error)
	Watch(ctx context.Context, w cluster.Watching, each func(cluster.Event)) error
	Get(ctx context.Context, t cluster.Target) (map[string]any, error)
}

// Source selects the objects that one Follower follows.
type Source struct {
	cluster.Watching

	// Names restricts the objects: if the user may not list them, they are read one by one. nil:
	// all objects of the watch.
	Names []string
}

// Has reports whether the source was made for an object.
func (s Source) Has(obj map[string]any) bool {
	return slices.Contains(s.Names, merge.At[string](obj, "metadata", "name"))
}

// Update is the news from a Follower.
type Update struct {
	// Whole states that Objects are all that exist now. Otherwise they are those that have changed
	// or, with Gone, were removed.
	Whole   bool
	Gone    bool
	Objects []map[string]any

	// Trouble is an error that limits the Follower's view, reported once; the Follower tries again.
	// Denied states that the server does not let this user read the objects. Note is to be
	// reported, and limits nothing.
	Trouble error
	Denied  error
	Note    string
}

// Follower keeps a receiver up to date with one source.
type Follower struct {
	API API
	Source

	// Keep reduces an object; nil drops it.
	Keep func(map[string]any) map[string]any

	// Send receives all updates, in order; it may block. Nothing is sent after the context
	// has ended.
	Send func(ctx context.Context, u Update)

	// Every is the interval of reads of objects that may not be watched, or whose watch sends no events.
	Every time.Duration

	// Silence is how long a watch may send nothing before the objects are read; 0: Silence.
	Silence time.Duration

	troubled bool // an error was reported and persists
	broken   bool // the unusable watch was reported
}

// Pause is the minimum pause of a Follower after a server did not respond.
const Pause = 200 * time.Millisecond

const longestPause = 5 * time.Second

// Silence is how long a watch may send neither an event nor a bookmark before the objects are read:
// a proxy may hold back events.
const Silence = 30 * time.Second

// errSilent ends a watch that has sent nothing for too long, errNone one that has ended without
// having sent anything.
var (
	errSilent = errors.New("the watch sends nothing")
	errNone   = errors.New("the watch ends at once")
)

// Run lists and watches until ctx ends. A version too old to continue from, a silent watch, or a
// server that comes back leads to a new list. If the user may not watch, or the watch sends nothing
// or no events, it lists repeatedly. If the user may not list, it reads the objects one by one. The API
// obeys a server that asks to wait. Run returns early if it follows all objects of a kind, and
// this user may not list them.
//
// Rules: https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes.
func (f *Follower) Run(ctx context.Context) {
	for pause := Pause; ctx.Err() == nil; {
		s, listed, err := f.read(ctx)
		watched := listed && err == nil
		switch {
		case err == nil:
			f.troubled = false
			if f.Send(ctx, Update{Whole: true, Objects: s.Objects}); watched {
				pause = Pause
				err = f.watch(ctx, s.Version)
			} else {
				_ = cluster.Sleep(ctx, f.Every)
			}
		case Refused(err):
			if f.Send(ctx, Update{Denied: err}); f.Names == nil {
				return
			}
		}
		switch {
		case err == nil, errors.Is(err, errSilent):
		case cluster.IsGone(err):
			_ = cluster.Sleep(ctx, Pause)
		case Refused(err), errors.Is(err, errNone): // listing may be allowed
			_ = cluster.Sleep(ctx, f.Every)
		case watched:
			if !f.broken && ctx.Err() == nil { // reported once
				f.broken = true
				f.Send(ctx, Update{Note: fmt.Sprintf("%s cannot be watched, and are read every %s: %v", f.Plural, f.Every, err)})
			}
			_ = cluster.Sleep(ctx, f.Every)
		default:
			if !f.troubled && ctx.Err() == nil { // reported once, until it is over
				f.troubled = true
				f.Send(ctx, Update{Trouble: err})
			}
			_ = cluster.Sleep(ctx, pause)
			pause = min(2*pause, longestPause)
		}
	}
}

// Refused reports whether the server has answered, and does not let this user, or any user, do that, or lacks the kind.
func Refused(err error) bool {
	code := cluster.Code(err)
	return code == 401 || code == 403 || code == 405 || code == 404 || errors.As(err, new(*cluster.UnknownKindError))
}

// watch continues from a version, and again each time that the server ends a watch that has sent
// something, until there is an error. A broken connection is not an error: the next list has what
// happened meanwhile.
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
		if time.Since(begun) < Pause { // avoids a busy loop if the server ends every watch early
			_ = cluster.Sleep(ctx, Pause)
		}
		if err != nil {
			return nil
		}
	}
}

// Read returns the current objects: from a list or, if this user may not list, read one by one.
func (f *Follower) Read(ctx context.Context) (Update, error) {
	s, _, err := f.read(ctx)
	return Update{Whole: true, Objects: s.Objects}, err
}

// read is Read; listed reports whether the objects are from a list, with the version that a watch continues from.
func (f *Follower) read(ctx context.Context) (s cluster.Snapshot, listed bool, err error) {
	s, err = f.API.Snapshot(ctx, f.Watching, f.Keep)
	if !Refused(err) || f.Names == nil {
		return s, true, err
	}
	s = cluster.Snapshot{}
	for _, name := range f.Names { // get is the only permission
		obj, err := f.API.Get(ctx, cluster.Target{Resource: f.Resource, Namespace: f.Namespace, Name: name})
		if cluster.IsNotFound(err) {
			continue
		}
		if err != nil {
			return cluster.Snapshot{}, false, err
		}
		if obj = f.Keep(obj); obj != nil {
			s.Objects = append(s.Objects, obj)
		}
	}
	return s, false, nil
}

// Sources returns what to follow for targets, in their order: one source for each kind and
// namespace. A single object is followed by its name, which a role may be restricted to. So is
// every Secret: a list would carry the values of others.
func Sources(targets []cluster.Target) (all []Source) {
	at := map[cluster.Watching]int{}
	for _, t := range targets {
		w := cluster.Watching{Resource: Plain(t.Resource), Namespace: t.Namespace}
		if redact.IsSecretKind(t.Group, t.Kind) {
			w.Fields = named(t.Name)
		}
		i, ok := at[w]
		if !ok {
			i, at[w] = len(all), len(all)
			all = append(all, Source{Watching: w})
		}
		all[i].Names = append(all[i].Names, t.Name)
	}
	for i, s := range all {
		if len(s.Names) == 1 {
			all[i].Fields = named(s.Names[0])
		}
	}
	return all
}

func named(name string) string { return "metadata.name=" + name }

// Key returns what an object of the resource is identified by.
func Key(r cluster.Resource, namespace, name string) cluster.Target {
	return cluster.Target{Resource: Plain(r), Namespace: namespace, Name: name}
}

// Plain returns a resource reduced to what distinguishes it from others.
func Plain(r cluster.Resource) cluster.Resource {
	r.Status = false
	return r
}
