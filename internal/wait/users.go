package wait

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/follow"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ready"
	"github.com/kubectl-merge/kubectl-merge/internal/references"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Users finds the users of objects that are to be deleted. Users are pods that have not ended, and
// ReplicaSets and other objects with a pod template, unless they are scaled to 0 or have ended.
type Users struct {
	API  *cluster.Cluster
	Type func(ctx context.Context, group, version, kind string) (*merge.Type, error) // as Waiter.Type

	// Kinds are searched besides Pods and ReplicaSets, if their objects hold pod templates.
	Kinds []cluster.Resource

	// Leaving holds the UIDs of deleted objects: neither they nor what they control count, except
	// in Await.
	Leaving map[string]bool

	Noted func(text string) // as Waiter.Noted

	owners map[string]string // controllers of users, by uid, also of deleted ones
}

// Use states what names an object. The zero value: nothing.
type Use struct {
	By      string // in words: pod/web-1, pod/web-2 and 3 more; "" for none
	Unknown error  // why others may exist
}

// Find returns the users of each target. Called before deletions, too, it knows after them to whom a
// pod belongs whose ReplicaSet is gone already. The error means that the server could not be asked.
func (u *Users) Find(ctx context.Context, targets []cluster.Target) ([]Use, error) {
	sources, err := u.sources(ctx, targets)
	if err != nil {
		return nil, err
	}
	s, err := u.look(ctx, sources)
	if err != nil {
		return nil, err
	}
	return s.who(targets, func(one user) bool { return u.Leaving[one.uid] }), nil
}

// look lists possible users, pods after all that starts them. A pod missing in its list is then not
// started any more, unless something is scaled up again.
func (u *Users) look(ctx context.Context, sources []source) (*use, error) {
	s := newUse()
	for _, from := range sources {
		list, err := u.API.Snapshot(ctx, from.Watching, from.keep)
		switch {
		case cluster.IsNotFound(err): // the server has no such kind any more
		case follow.Refused(err):
			s.unknown[from.Namespace] = cmp.Or(s.unknown[from.Namespace], err)
		case err != nil:
			return nil, err
		}
		s.take(update{source: from, Update: follow.Update{Whole: true, Objects: list.Objects}})
	}
	if u.owners == nil {
		u.owners = map[string]string{}
	}
	for uid, one := range s.users {
		u.owners[uid] = one.owner
	}
	s.owners = u.owners
	return s, nil
}

// Await returns the same once no target has users, and at the latest at the time given (the zero
// time: never). Users that are leaving count, too. changed is called with the users of a target
// whenever they change; it may be nil. The error is ctx's, or that of determining the sources.
func (u *Users) Await(ctx context.Context, targets []cluster.Target, until time.Time, changed func(cluster.Target, Use)) ([]Use, error) {
	sources, err := u.sources(ctx, targets)
	if err != nil {
		return nil, err
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	updates := make(chan update)
	for _, from := range sources {
		go from.run(watching, u.API, 0, updates)
	}
	var timeout, again <-chan time.Time
	if !until.IsZero() {
		timeout = time.After(time.Until(until))
	}
	s, last := newUse(), make([]Use, len(targets))
	for {
		select {
		case one := <-updates:
			if one.Note != "" && one.Denied == nil && u.Noted != nil {
				u.Noted(one.Note)
			}
			s.take(one)
		case <-again:
		case <-timeout: // it may have passed before the first look
			s, err := u.look(ctx, sources)
			if err != nil {
				return slices.Repeat([]Use{{Unknown: err}}, len(targets)), nil
			}
			return s.who(targets, noUser), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if len(s.seen) < len(sources) {
			continue
		}
		now := s.who(targets, noUser)
		for i, use := range now {
			if changed != nil && use.By != "" && use != last[i] {
				changed(targets[i], use)
			}
		}
		if last = now; !s.free(targets) {
			continue
		}
		// Watches may lag behind each other.
		if sure, err := u.look(ctx, sources); err == nil && sure.free(targets) {
			return now, nil
		}
		again = time.After(follow.Pause)
	}
}

// sources returns the kinds to be searched, in each namespace of the targets.
func (u *Users) sources(ctx context.Context, targets []cluster.Target) ([]source, error) {
	var all []source
	added := map[cluster.Watching]bool{}
	add := func(r cluster.Resource, typ *merge.Type) {
		for _, t := range targets {
			if w := (cluster.Watching{Resource: r, Namespace: t.Namespace}); !added[w] {
				added[w] = true
				all = append(all, source{Source: follow.Source{Watching: w}, reduce: keepUser(typ)})
			}
		}
	}
	for i, r := range slices.Concat([]cluster.Resource{replicaSetResource}, u.Kinds, []cluster.Resource{podResource}) {
		if r.Group == "batch" && r.Kind == "CronJob" { // its pods belong to its Jobs
			add(jobResource, nil)
		}
		typ, builtin := schema.Builtin(r.Group, r.Version, r.Kind)
		if !builtin && u.Type != nil {
			var err error
			if typ, err = u.Type(ctx, r.Group, r.Version, r.Kind); err != nil {
				return nil, err
			}
		}
		if r.Namespaced && references.Embeds(typ) && (follow.Plain(r) != podResource || i > len(u.Kinds)) {
			add(follow.Plain(r), typ)
		}
	}
	return all, nil
}

var jobResource = cluster.Resource{Group: "batch", Version: "v1", Kind: "Job", Plural: "jobs", Namespaced: true}

// keepUser reduces an object to its identity and its references; without references if it starts no
// pod any more.
func keepUser(typ *merge.Type) func(map[string]any) map[string]any {
	return func(obj map[string]any) map[string]any {
		small := reduced("", obj)
		delete(small, "status")
		if !idle(obj) {
			small[namesField] = references.Of(obj, typ)
		}
		return small
	}
}

// namesField is where keepUser puts the references.
const namesField = "references"

// idle reports whether a pod or a Job has ended, or a workload is scaled to 0 and has no pods.
func idle(obj map[string]any) bool {
	phase := merge.At[string](obj, "status", "phase")
	status, _ := obj["status"].(map[string]any)
	switch {
	case obj["kind"] == kindPod:
		return phase == "Succeeded" || phase == "Failed"
	case obj["kind"] == "Job":
		return ready.Ended(obj)
	}
	return zero(merge.At[any](obj, "spec", "replicas")) && (status["replicas"] == nil || zero(status["replicas"]))
}

func zero(n any) bool { return n != nil && fmt.Sprint(n) == "0" }

// user is an object that may name others.
type user struct {
	cluster.Target
	uid, owner string
	names      []references.Reference
}

// use is the known state of users.
type use struct {
	users   map[string]user // by uid
	seen    map[cluster.Watching]bool
	unknown map[string]error // by namespace: why some users are unknown
	owners  map[string]string
}

func newUse() *use {
	return &use{users: map[string]user{}, seen: map[cluster.Watching]bool{}, unknown: map[string]error{}}
}

// take stores an update of one source.
func (s *use) take(u update) {
	switch {
	case u.Denied != nil:
		if s.seen[u.source.Watching] = true; !cluster.IsNotFound(u.Denied) { // otherwise the server has no such kind any more
			s.unknown[u.source.Namespace] = u.Denied
		}
		return
	case u.Note != "":
		return
	case u.Whole:
		s.seen[u.source.Watching] = true
		for uid, one := range s.users {
			if one.Resource == u.source.Resource && one.Namespace == u.source.Namespace {
				delete(s.users, uid)
			}
		}
	}
	for _, obj := range u.Objects {
		uid := merge.At[string](obj, "metadata", "uid")
		if u.Gone {
			delete(s.users, uid)
			continue
		}
		names, _ := obj[namesField].([]references.Reference)
		s.users[uid] = user{
			Target: cluster.Target{Resource: u.source.Resource, Namespace: u.source.Namespace, Name: merge.At[string](obj, "metadata", "name")},
			uid:    uid, owner: ready.Controller(obj), names: names,
		}
	}
}

// by returns the users of a target, except those that leave, or whose controller leaves.
func (s *use) by(t cluster.Target, leaves func(user) bool) (by []string) {
	for _, one := range s.users {
		if one.Namespace == t.Namespace && slices.Contains(one.names, references.Reference{Kind: t.Kind, Name: t.Name}) && !s.leaving(one, leaves) {
			by = append(by, one.String())
		}
	}
	slices.Sort(by)
	return by
}

// who returns the same for each target in words.
func (s *use) who(targets []cluster.Target, leaves func(user) bool) []Use {
	return object.Each(targets, func(t cluster.Target) Use {
		return Use{By: suggest.Few(s.by(t, leaves), mostUsers), Unknown: s.unknown[t.Namespace]}
	})
}

// mostUsers is how many users a reason names; the others are counted.
const mostUsers = 2

// leaving reports whether the user leaves, or what controls it directly or through others.
func (s *use) leaving(one user, leaves func(user) bool) bool {
	for range maxOwners {
		if leaves(one) {
			return true
		}
		if one.owner == "" {
			return false
		}
		owner, listed := s.users[one.owner]
		if !listed {
			owner = user{uid: one.owner, owner: s.owners[one.owner]}
		}
		one = owner
	}
	return false
}

// maxOwners ends a cyclic chain of owners.
const maxOwners = 8

// free reports whether no known user names any of the targets.
func (s *use) free(targets []cluster.Target) bool {
	return !slices.ContainsFunc(targets, func(t cluster.Target) bool { return len(s.by(t, noUser)) > 0 })
}

func noUser(user) bool { return false }
