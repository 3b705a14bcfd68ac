package wait

import (
	"slices"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/follow"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ready"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// board holds the known state of the objects and of what they control.
type board struct {
	*Waiter
	objects []*tracked
	at      map[cluster.Target]*tracked
	uids    map[string]*tracked // with a known UID

	children map[string]map[string]child // by uid of their controller, then by their own
	owner    map[string]string           // controllers of ReplicaSets, by uid
	events   map[string]map[string]any   // the latest, by uid of their subject
	class    map[string]map[string]any   // StorageClasses by name; nil: asked for
	read     map[cluster.Watching]bool   // sources that have just been read as a whole
	done     int                         // objects that are ready
}

// child is an object that a workload controls, reduced.
type child struct {
	kind string
	obj  map[string]any
}

// tracked is an object that is waited for.
type tracked struct {
	Object
	row     ready.Row
	typ     *merge.Type
	over    *ready.Problem // why it can never become ready
	denied  error          // its reads were refused
	history ready.History
	verdict ready.Verdict
}

func (w *Waiter) board(objects []Object) *board {
	b := &board{
		Waiter: w, at: map[cluster.Target]*tracked{}, uids: map[string]*tracked{}, children: map[string]map[string]child{},
		owner: map[string]string{}, events: map[string]map[string]any{}, class: map[string]map[string]any{}, read: map[cluster.Watching]bool{}, done: -1,
	}
	for _, o := range objects {
		t := &tracked{Object: o, row: ready.Find(o.Group, o.Version, o.Kind)}
		b.objects = append(b.objects, t)
		b.at[follow.Key(o.Resource, o.Namespace, o.Name)] = t
		if o.UID != "" {
			b.uids[o.UID] = t
		}
	}
	return b
}

// end returns why the wait ends: all objects are ready, or one has failed; otherwise Waiting.
func (b *board) end() ready.State {
	done := 0
	for _, t := range b.objects {
		switch t.verdict.State {
		case ready.Failed:
			return ready.Failed
		case ready.Ready, ready.Skipped:
			done++
		}
	}
	if b.Progress != nil && done != b.done {
		b.Progress(done, len(b.objects))
	}
	b.done = done
	if done == len(b.objects) {
		return ready.Ready
	}
	return ready.Waiting
}

// judgeAll judges every object that is not ready yet.
func (b *board) judgeAll(now time.Time) {
	for _, t := range b.objects {
		if t.verdict.State != ready.Ready && t.verdict.State != ready.Skipped {
			b.judge(t, now)
		}
	}
}

// judge computes an object's verdict anew, and reports it if it has changed.
func (b *board) judge(t *tracked, now time.Time) {
	var v ready.Verdict
	switch {
	case t.over != nil:
		v = ready.Verdict{State: ready.Failed, Problem: *t.over}
	case t.Rule.Skip:
		v = t.row.Judge(ready.Subject{Rule: t.Rule})
	case t.Live == nil && t.UID != "" && t.row.Instant && t.Rule.Path == nil:
		v = ready.Verdict{State: ready.Ready}
	case t.Live == nil:
		return // not seen yet
	default:
		v = t.row.Judge(b.subject(t, now))
	}
	var reported ready.Verdict
	t.history, reported = t.history.Next(v, now, b.Patience)
	changed := !reported.Same(t.verdict)
	t.verdict = reported
	if changed && b.Changed != nil {
		b.Changed(t.Object, reported)
	}
}

// subject returns an object with its known dependents and events.
func (b *board) subject(t *tracked, now time.Time) ready.Subject {
	s := ready.Subject{Object: t.Live, Type: t.typ, Rule: t.Rule, Now: now, Class: b.class[className(t.Live)]}
	if e := b.events[t.UID]; e != nil {
		s.Events = []map[string]any{e}
	}
	for uid, c := range b.children[t.UID] {
		switch c.kind {
		case kindPod:
			s.Pods = append(s.Pods, c.obj)
		case kindReplicaSet:
			s.ReplicaSets = append(s.ReplicaSets, c.obj)
			for _, p := range b.children[uid] {
				s.Pods = append(s.Pods, p.obj)
			}
		}
	}
	return s
}

func className(claim map[string]any) string {
	return merge.At[string](claim, "spec", "storageClassName")
}

// take stores an update of a follower, and judges the objects that it concerns.
func (b *board) take(u update, now time.Time) {
	touched := map[*tracked]bool{}
	touch := func(t *tracked) {
		if t != nil {
			touched[t] = true
		}
	}
	switch {
	case u.Note != "":
		if b.Noted != nil {
			b.Noted(u.Note)
		}
		return
	case u.Denied != nil:
		b.each(u.source, func(t *tracked) {
			t.denied, t.over = u.Denied, &ready.Problem{Reason: "Forbidden", Message: "it cannot be read: " + u.Denied.Error()}
			touch(t)
		})
	case u.source.class != "":
		b.class[u.source.class] = u.Objects[0]
		for _, t := range b.objects {
			touch(t)
		}
	case u.Whole:
		b.prune(u, touch)
	}
	b.read[u.source.Watching] = u.Whole
	for _, obj := range u.Objects {
		b.put(u, obj, touch)
	}
	for _, t := range b.objects {
		if touched[t] {
			b.judge(t, now)
		}
	}
}

// each calls do for the objects that a source was made for.
func (b *board) each(s source, do func(*tracked)) {
	for _, name := range s.Names {
		if t := b.at[follow.Key(s.Resource, s.Namespace, name)]; t != nil {
			do(t)
		}
	}
}

// prune removes all that is not in a complete list.
func (b *board) prune(u update, touch func(*tracked)) {
	there := map[string]bool{}
	for _, obj := range u.Objects {
		there[merge.At[string](obj, "metadata", "uid")] = true
		there[merge.At[string](obj, "metadata", "name")] = true
	}
	b.each(u.source, func(t *tracked) {
		if there[t.Name] {
			return
		}
		if t.over = &deleted; t.UID == "" {
			t.over = &ready.Problem{Reason: ready.ReasonNotFound, Message: "it does not exist" + object.Within(t.Namespace) + ": check its name, or merge it first"}
		}
		touch(t)
	})
	for owner, children := range b.children {
		for uid, c := range children {
			if c.kind == u.source.Kind && merge.At[string](c.obj, "metadata", "namespace") == u.source.Namespace && !there[uid] {
				b.drop(owner, uid)
				touch(b.controller(owner))
			}
		}
	}
}

// drop removes a child that an owner no longer controls; owners without children are not kept.
func (b *board) drop(owner, uid string) {
	delete(b.children[owner], uid)
	delete(b.owner, uid)
	if len(b.children[owner]) == 0 {
		delete(b.children, owner)
	}
}

var deleted = ready.Problem{Reason: "Deleted", Message: "it was deleted while it was waited for"}

// controller returns the awaited object that controls, directly or through a ReplicaSet, what the
// owner with that uid controls; nil if none does.
func (b *board) controller(owner string) *tracked {
	if t := b.uids[owner]; t != nil {
		return t
	}
	return b.uids[b.owner[owner]]
}

// put stores the current state of one object, or that it is gone.
func (b *board) put(u update, obj map[string]any, touch func(*tracked)) {
	s := u.source
	if t := b.at[follow.Key(s.Resource, s.Namespace, merge.At[string](obj, "metadata", "name"))]; t != nil && slices.Contains(s.Names, t.Name) {
		b.see(t, obj, u.Gone)
		touch(t)
	}
	switch s.Kind {
	case kindEvent:
		if uid := about(obj); uid != "" && !u.Gone && b.waitsFor(obj) {
			b.events[uid] = obj
			touch(b.uids[uid])
		}
	case kindPod, kindReplicaSet:
		owner, uid := ready.Controller(obj), merge.At[string](obj, "metadata", "uid")
		if owner == "" {
			return
		}
		if u.Gone {
			b.drop(owner, uid)
		} else {
			if b.children[owner] == nil {
				b.children[owner] = map[string]child{}
			}
			b.children[owner][uid] = child{s.Kind, reduced(s.Kind, obj)}
			if s.Kind == kindReplicaSet {
				b.owner[uid] = owner
			}
		}
		touch(b.controller(owner))
	}
}

// waitsFor reports whether an event is about an object that is waited for, whose uid may not be known yet.
func (b *board) waitsFor(event map[string]any) bool {
	name, kind := merge.At[string](event, "involvedObject", "name"), merge.At[string](event, "involvedObject", "kind")
	return slices.ContainsFunc(b.objects, func(t *tracked) bool {
		return t.Name == name && t.Kind == kind && t.Namespace == merge.At[string](event, "metadata", "namespace")
	})
}

// see stores the state of an object that is waited for. Another object of its name is ignored.
func (b *board) see(t *tracked, obj map[string]any, gone bool) {
	uid := merge.At[string](obj, "metadata", "uid")
	if t.UID == "" {
		t.UID = uid
		b.uids[uid] = t
	}
	switch {
	case uid == t.UID && gone:
		t.over = &deleted
	case uid == t.UID:
		t.Live, t.over, t.denied = obj, nil, nil
	case !gone:
		t.over = &ready.Problem{Reason: "Replaced", Message: "it was deleted while it was waited for, and another object of its name was created"}
	}
}
