package wait

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/follow"
	"github.com/kubectl-merge/kubectl-merge/internal/ready"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// source is the subject of one watch.
type source struct {
	follow.Source                                     // Names are the awaited objects; none: dependents or events
	class         string                              // a StorageClass that is read once, and not watched
	reduce        func(map[string]any) map[string]any // of users; nil: as the board needs them
}

// The kinds whose objects show why others are not ready.
const (
	kindPod        = "Pod"
	kindReplicaSet = "ReplicaSet"
	kindEvent      = "Event"
	kindClass      = "StorageClass"
)

var (
	podResource        = cluster.Resource{Version: "v1", Kind: kindPod, Plural: "pods", Namespaced: true}
	replicaSetResource = cluster.Resource{Group: "apps", Version: "v1", Kind: kindReplicaSet, Plural: "replicasets", Namespaced: true}
	eventResource      = cluster.Resource{Version: "v1", Kind: kindEvent, Plural: "events", Namespaced: true}
	classResource      = cluster.Resource{Group: "storage.k8s.io", Version: "v1", Kind: kindClass, Plural: "storageclasses"}
)

// helpers lists the watches that show why an object of a kind is not ready; those of events carry
// the reason that they select.
var helpers = map[string][]cluster.Watching{
	"Deployment":            {{Resource: replicaSetResource}, {Resource: podResource}},
	"StatefulSet":           {{Resource: podResource}, {Resource: eventResource, Fields: "reason=FailedCreate"}},
	"DaemonSet":             {{Resource: podResource}, {Resource: eventResource, Fields: "reason=FailedCreate"}},
	"Job":                   {{Resource: podResource}, {Resource: eventResource, Fields: "reason=FailedCreate"}},
	"PersistentVolumeClaim": {{Resource: eventResource, Fields: "reason=WaitForFirstConsumer"}},
}

// sources returns the watches that the objects need: their own, and those that show why they are
// not ready. The latter are for all objects of a namespace.
func (b *board) sources() (all []source) {
	var targets []cluster.Target
	var others []cluster.Watching
	for _, t := range b.objects {
		if t.verdict.State == ready.Ready && !t.row.HasPods() || t.verdict.State == ready.Skipped && t.Rule.Skip {
			continue // it has been read, and nothing about it can change
		}
		targets = append(targets, t.Target)
		if t.row.When == "" || t.Rule.Path != nil {
			continue
		}
		for _, h := range helpers[t.Kind] {
			h.Namespace = t.Namespace
			others = append(others, h)
		}
	}
	at := map[cluster.Watching]int{}
	for i, s := range follow.Sources(targets) {
		all = append(all, source{Source: s})
		s.Fields = ""
		at[s.Watching] = i
	}
	for _, w := range others {
		i, ok := at[w]
		if !ok {
			i, at[w] = len(all), len(all)
			all = append(all, source{Source: follow.Source{Watching: w}})
		}
		all[i].Fields = w.Fields
	}
	return all
}

// classes returns the StorageClasses of claims that have not been requested yet.
func (b *board) classes() (all []source) {
	for _, t := range b.objects {
		name := className(t.Live)
		if _, asked := b.class[name]; !asked && name != "" && t.Kind == "PersistentVolumeClaim" && t.verdict.State == ready.Waiting {
			b.class[name] = nil
			all = append(all, source{Source: follow.Source{Watching: cluster.Watching{Resource: classResource}}, class: name})
		}
	}
	return all
}

// reduced returns the required fields of an object that is not awaited by name.
func reduced(kind string, obj map[string]any) map[string]any {
	small := map[string]any{}
	for _, name := range []string{"name", "namespace", "uid", "labels", "annotations", "ownerReferences", "deletionTimestamp", "creationTimestamp"} {
		if v, ok := merge.At[map[string]any](obj, "metadata")[name]; ok {
			small[name] = v
		}
	}
	out := map[string]any{"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": small, "status": obj["status"]}
	if kind == kindPod {
		out["spec"] = map[string]any{"restartPolicy": merge.At[any](obj, "spec", "restartPolicy")}
	}
	return out
}

// about returns the uid of an event's subject.
func about(event map[string]any) string {
	return cmp.Or(merge.At[string](event, "involvedObject", "uid"), merge.At[string](event, "regarding", "uid"))
}

// update is the news about a source. Its Note is also what limits the wait's view.
type update struct {
	follow.Update
	source source
}

// polling is the interval in which objects are read that may not be watched.
const polling = 2 * time.Second

// run sends the updates of a source to a board until ctx ends.
func (s source) run(ctx context.Context, api *cluster.Cluster, silence time.Duration, updates chan<- update) {
	send := func(ctx context.Context, u follow.Update) {
		switch {
		case u.Trouble != nil:
			u.Note = u.Trouble.Error() + ": trying again"
		case u.Denied != nil && s.Names == nil:
			u.Note = "the wait cannot report why pods are not ready: " + u.Denied.Error()
		}
		select {
		case updates <- update{u, s}:
		case <-ctx.Done():
		}
	}
	if s.class != "" {
		class, err := api.Get(ctx, cluster.Target{Resource: classResource, Name: s.class})
		if err == nil { // users who may not read it have the events of the claim
			send(ctx, follow.Update{Objects: []map[string]any{class}})
		}
		return
	}
	(&follow.Follower{API: api, Source: s.Source, Keep: s.keep, Send: send, Every: polling, Silence: silence}).Run(ctx)
}

// confirm reads all sources that have not just been read, and all of them if that took long, since
// a server asks to be read later. If all objects are ready, it reads only these, otherwise
// also what shows why they are not. What cannot be read keeps its known state, which is noted.
func (b *board) confirm(ctx context.Context, all []source) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detailTime)
	defer cancel()
	over, begun := b.end() == ready.Ready, time.Now()
	all = slices.DeleteFunc(slices.Clone(all), func(s source) bool { return over && s.Names == nil })
	unread := b.readAll(ctx, slices.DeleteFunc(slices.Clone(all), func(s source) bool { return b.read[s.Watching] }))
	if time.Since(begun) > time.Second {
		unread = b.readAll(ctx, all)
	}
	for _, u := range unread {
		b.take(u, time.Now())
	}
	b.judgeAll(time.Now())
}

// readAll reads sources at once, and returns a note for each of objects that could not be read.
func (b *board) readAll(ctx context.Context, all []source) (unread []update) {
	updates, errs := make([]update, len(all)), make([]error, len(all))
	var group sync.WaitGroup
	for i, s := range all {
		group.Go(func() {
			updates[i].source = s
			updates[i].Update, errs[i] = (&follow.Follower{API: b.API, Source: s.Source, Keep: s.keep}).Read(ctx)
		})
	}
	group.Wait()
	for i, u := range updates {
		known := false
		b.each(u.source, func(t *tracked) { known = known || t.Live != nil || t.over != nil })
		switch {
		case !known && follow.Refused(errs[i]):
			u.Denied = errs[i]
			fallthrough
		case errs[i] == nil:
			b.take(u, time.Now())
		case errs[i] != nil && u.source.Names != nil && !follow.Refused(errs[i]):
			unread = append(unread, update{Update: follow.Update{Note: u.source.Plural + " could not be read again: " + errs[i].Error() + ": what is reported was read before"}})
		}
	}
	return unread
}

// keep reduces an object to the required fields; nil for a kind that the board ignores.
func (s source) keep(obj map[string]any) map[string]any {
	switch {
	case s.reduce != nil:
		return s.reduce(obj)
	case s.Has(obj), s.Kind == kindEvent:
		return obj
	case s.Kind == kindPod, s.Kind == kindReplicaSet:
		return reduced(s.Kind, obj)
	}
	return nil
}
