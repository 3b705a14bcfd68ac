package wait

import (
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ready"
	"github.com/kubectl-merge/kubectl-merge/internal/references"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

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
	case cluster.IsNotFound(u.Denied): // the server has no such kind any more
		s.seen[u.source.Watching] = true
		return
	case u.Denied != nil:
		s.unknown[u.source.Namespace] = u.Denied
		s.seen[u.source.Watching] = true
		return
	case u.note != "":
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
