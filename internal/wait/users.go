package wait

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/ready"
	"github.com/kubectl-merge/kubectl-merge/pkg/references"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Users finds out who names objects that are to be deleted: pods that have not ended, and
// ReplicaSets and other objects with a pod template, unless they are scaled to 0 or have
// ended.
type Users struct {
	API  *cluster.Cluster
	Type func(ctx context.Context, group, version, kind string) (*merge.Type, error) // as Waiter.Type

	// Kinds are looked at besides Pods and ReplicaSets, if their objects hold pod templates.
	Kinds []cluster.Resource

	// Leaving are the UIDs of objects that were deleted: neither they nor what they control
	// counts, unless it is waited for.
	Leaving map[string]bool

	Noted func(text string) // as Waiter.Noted

	owners map[string]string // what controls a user, by uid, also of those that are gone
}

// Use is who names an object. The zero value: nobody.
type Use struct {
	By      string // in words: pod/web-1, pod/web-2 and 3 more; "" for nobody
	Unknown error  // why there may be others
}

// Free says whether nobody names the object.
func (u Use) Free() bool { return u == Use{} }

// Find returns for each target who names it. The error means that the server could not be
// asked.
func (u *Users) Find(ctx context.Context, targets []cluster.Target) ([]Use, error) {
	sources, err := u.sources(ctx, targets)
	if err != nil {
		return nil, err
	}
	s, err := u.look(ctx, sources)
	if err != nil {
		return nil, err
	}
	return s.who(targets, u.leaves), nil
}

// Remember finds out what controls the users of the targets. Called before anything is
// deleted, it has Find know later to whom a pod belongs whose ReplicaSet is gone already.
func (u *Users) Remember(ctx context.Context, targets []cluster.Target) error {
	sources, err := u.sources(ctx, targets)
	if err == nil {
		_, err = u.look(ctx, sources)
	}
	return err
}

// look lists what may name an object, pods after all that starts them: what a list of pods
// lacks is then not started any more, unless something is scaled up again.
func (u *Users) look(ctx context.Context, sources []usersSource) (*use, error) {
	s := newUse()
	for _, from := range sources {
		list, err := u.API.Snapshot(ctx, from.Watching, from.keep)
		switch {
		case cluster.IsNotFound(err): // the server has no such kind any more
		case refused(err) && s.unknown[from.Namespace] == nil:
			s.unknown[from.Namespace] = err
		case refused(err):
		case err != nil:
			return nil, err
		}
		s.take(update{source: from.source, whole: true, objects: list.Objects})
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

// Await returns the same as soon as nobody names any of the targets, and at the latest at
// the time given (the zero time: never), when those on their way out count, too. changed is
// called with who names a target whenever that changes; it may be nil.
func (u *Users) Await(ctx context.Context, targets []cluster.Target, until time.Time, changed func(cluster.Target, Use)) ([]Use, error) {
	sources, err := u.sources(ctx, targets)
	if err != nil {
		return nil, err
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	updates := make(chan update)
	for _, from := range sources {
		go (&follower{api: u.API, source: from.source, updates: updates, reduce: from.keep}).run(watching)
	}
	var timeout, again <-chan time.Time
	if !until.IsZero() {
		timeout = time.After(time.Until(until))
	}
	s, last := newUse(), make([]Use, len(targets))
	for {
		select {
		case one := <-updates:
			if one.note != "" && one.denied == nil && u.Noted != nil {
				u.Noted(one.note)
			}
			s.take(one)
		case <-again:
		case <-timeout:
			return u.overdue(ctx, sources, targets), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if len(s.seen) < len(sources) {
			continue
		}
		now := s.who(targets, nobody)
		for i, use := range now {
			if changed != nil && use.By != "" && use != last[i] {
				changed(targets[i], use)
			}
		}
		if last = now; !s.free(targets) {
			continue
		}
		// Watches are behind each other by moments.
		if sure, err := u.look(ctx, sources); err == nil && sure.free(targets) {
			return now, nil
		}
		again = time.After(minPause)
	}
}

// overdue looks once more when the time is over, which it may have been before the first look.
func (u *Users) overdue(ctx context.Context, sources []usersSource, targets []cluster.Target) []Use {
	s, err := u.look(ctx, sources)
	if err == nil {
		return s.who(targets, nobody)
	}
	all := make([]Use, len(targets))
	for i := range all {
		all[i].Unknown = err
	}
	return all
}

// usersSource is what one list or watch asks for, and what is needed of each object.
type usersSource struct {
	source
	keep func(map[string]any) map[string]any
}

// sources are the kinds to be looked at, in each namespace of the targets.
func (u *Users) sources(ctx context.Context, targets []cluster.Target) ([]usersSource, error) {
	var all []usersSource
	added := map[cluster.Watching]bool{}
	add := func(r cluster.Resource, typ *merge.Type) {
		for _, t := range targets {
			if w := (cluster.Watching{Resource: r, Namespace: t.Namespace}); !added[w] {
				added[w] = true
				all = append(all, usersSource{source{Watching: w}, keepUser(typ)})
			}
		}
	}
	for i, r := range slices.Concat([]cluster.Resource{replicaSetResource}, u.Kinds, []cluster.Resource{podResource}) {
		if r.Group == "batch" && r.Kind == "CronJob" { // whose pods are those of its Jobs
			add(jobResource, nil)
		}
		typ, err := u.typeOf(ctx, r)
		if err != nil {
			return nil, err
		}
		if r.Namespaced && references.Embeds(typ) && (plain(r) != podResource || i > len(u.Kinds)) {
			add(plain(r), typ)
		}
	}
	return all, nil
}

var jobResource = cluster.Resource{Group: "batch", Version: "v1", Kind: "Job", Plural: "jobs", Namespaced: true}

func (u *Users) typeOf(ctx context.Context, r cluster.Resource) (*merge.Type, error) {
	if typ, ok := schema.Builtin(r.Group, r.Version, r.Kind); ok || u.Type == nil {
		return typ, nil
	}
	return u.Type(ctx, r.Group, r.Version, r.Kind)
}

// leaves: what was deleted by this run is leaving.
func (u *Users) leaves(one user) bool { return u.Leaving[one.uid] }

// keepUser reduces an object to who it is and what it names; to nothing of the latter if it
// starts no pod any more.
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

// idle: a pod has ended, a Job too, or a workload is to have no pods and has none.
func idle(obj map[string]any) bool {
	phase := text(obj, "status", "phase")
	spec, _ := obj["spec"].(map[string]any)
	status, _ := obj["status"].(map[string]any)
	switch {
	case obj["kind"] == kindPod:
		return phase == "Succeeded" || phase == "Failed"
	case obj["kind"] == "Job":
		return ready.Ended(obj)
	}
	return zero(spec["replicas"]) && (status["replicas"] == nil || zero(status["replicas"]))
}

func zero(n any) bool { return n != nil && fmt.Sprint(n) == "0" }

// user is an object that may name others.
type user struct {
	cluster.Target
	uid, owner string
	names      []references.Reference
}

// use is what is known of users.
type use struct {
	users   map[string]user // by uid
	seen    map[cluster.Watching]bool
	unknown map[string]error // by namespace: why not all users can be known
	owners  map[string]string
}

func newUse() *use {
	return &use{users: map[string]user{}, seen: map[cluster.Watching]bool{}, unknown: map[string]error{}}
}

// take notes what one source has found out.
func (s *use) take(u update) {
	switch {
	case cluster.IsNotFound(u.denied): // the server has no such kind any more
		s.seen[u.source.Watching] = true
		return
	case u.denied != nil:
		s.unknown[u.source.Namespace] = u.denied
		s.seen[u.source.Watching] = true
		return
	case u.note != "":
		return
	case u.whole:
		s.seen[u.source.Watching] = true
		for uid, one := range s.users {
			if one.Resource == u.source.Resource && one.Namespace == u.source.Namespace {
				delete(s.users, uid)
			}
		}
	}
	for _, obj := range u.objects {
		uid := text(obj, "metadata", "uid")
		if u.gone {
			delete(s.users, uid)
			continue
		}
		names, _ := obj[namesField].([]references.Reference)
		s.users[uid] = user{
			Target: cluster.Target{Resource: u.source.Resource, Namespace: u.source.Namespace, Name: text(obj, "metadata", "name")},
			uid:    uid, owner: ready.Controller(obj), names: names,
		}
	}
}

// by are the users of a target, but for those that leave, or that something controls which
// does.
func (s *use) by(t cluster.Target, leaves func(user) bool) []string {
	var by []string
	for _, one := range s.users {
		if one.Namespace == t.Namespace && slices.Contains(one.names, references.Reference{Kind: t.Kind, Name: t.Name}) && !s.leaving(one, leaves) {
			by = append(by, one.String())
		}
	}
	slices.Sort(by)
	return by
}

// who is the same for each target in words.
func (s *use) who(targets []cluster.Target, leaves func(user) bool) []Use {
	out := make([]Use, len(targets))
	for i, t := range targets {
		by := s.by(t, leaves)
		out[i].Unknown = s.unknown[t.Namespace]
		if more := len(by) - mostUsers; more > 0 {
			out[i].By = fmt.Sprintf("%s and %d more", strings.Join(by[:mostUsers], ", "), more)
		} else {
			out[i].By = strings.Join(by, ", ")
		}
	}
	return out
}

// mostUsers is how many users a reason names; the others are counted.
const mostUsers = 2

// leaving: the user itself, or what controls it directly or through others.
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

// maxOwners ends a chain of owners that goes around.
const maxOwners = 8

// free: nobody names any of the targets, as far as that can be known.
func (s *use) free(targets []cluster.Target) bool {
	return !slices.ContainsFunc(targets, func(t cluster.Target) bool { return len(s.by(t, nobody)) > 0 })
}

func nobody(user) bool { return false }
