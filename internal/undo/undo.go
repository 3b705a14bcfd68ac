// Package undo plans to undo a recorded run, by three-way merges: the original is what the run
// wrote, local what existed before it, and live the current state. Later changes of others are
// preserved. It refuses to send anything but deletions, of objects that the run has made.
//
// Rules: docs/plan.md#undo.
package undo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// API is the required part of an API server.
type API interface {
	run.API
	Find(ctx context.Context, group, version, kind string) (cluster.Resource, error)
	FindKind(ctx context.Context, group, kind string) (cluster.Resource, error)
	Declare(crd map[string]any)
}

// Undo undoes one record.
type Undo struct {
	Record  *plandoc.Document
	API     API
	Live    live.Reader
	Planner *apply.Planner // its policy, manager and schemas are used

	// Contents reads what the Namespaces and CustomResourceDefinitions among the deletions contain.
	Contents func(ctx context.Context, deletions []applyset.Decision) applyset.Contents

	// Cover makes the parent of the set with that id list the kinds and namespaces of objects that
	// become members of it again. It is called before anything is written. May be nil.
	Cover func(ctx context.Context, id string, members []applyset.Member) error

	// Note reports what a deletion waits for, or that it could not be tried first.
	Note func(t cluster.Target, text string)

	// Except reports whether an object is left unchanged, and not reported. May be nil.
	Except func(t cluster.Target) bool

	entries map[*run.Item]*plandoc.Item // of the record

	mu      sync.Mutex
	left    []Left
	joining map[string][]applyset.Member // objects that become members again, by the id of its set
}

// Left is a value that is not undone.
type Left struct {
	Target cluster.Target
	Value  string // of the object, which may be undone besides; "" for the whole of it
	Reason string
	Lost   bool // it cannot be undone under any policy
}

// Plan returns the run that undoes the record, before it is merged; it sets the required parts of
// job. The error means that the server cannot be reached.
func (u *Undo) Plan(ctx context.Context, job *run.Job) (*run.Plan, error) {
	job.Plans, job.Pruner = u.planned, &deletions{u}
	u.entries, u.joining = map[*run.Item]*plandoc.Item{}, map[string][]applyset.Member{}
	p := &run.Plan{Job: job}
	u.declare()
	for _, item := range u.Record.Executed() {
		t, err := u.target(ctx, item)
		switch {
		case errors.As(err, new(*cluster.Unreachable)):
			return nil, err
		case u.Except != nil && u.Except(t), item.Action == apply.Create && errors.As(err, new(*cluster.UnknownKindError)) && u.undefined(ctx, t.Group):
			continue
		case err != nil:
			u.leave(Left{Target: t, Reason: err.Error(), Lost: true})
			continue
		}
		one := run.NewItem(t.Identity(), t)
		if before, _ := configured(item); before != nil && item.Action == apply.Delete && definition(item) {
			one.Object.Value = anew(before) // by which the run determines what other objects wait for
		}
		u.entries[one] = &item
		if item.Action == apply.Recreate { // immutable fields are undone in the same way
			job.Recreate.Propagation = cluster.Background
			job.Recreate.Kinds = append(job.Recreate.Kinds, strings.TrimSuffix(t.Kind+"."+t.Group, "."))
		}
		if item.Action != apply.Create {
			p.Items = append(p.Items, one)
		}
	}
	return p, nil
}

// undefined reports whether the run has created definitions of kinds in the group, and none of them exists any
// more: its objects are gone with them.
func (u *Undo) undefined(ctx context.Context, group string) (gone bool) {
	for _, item := range u.Record.Executed() {
		if item.Action != apply.Create || !definition(item) || !strings.HasSuffix(item.Name, "."+group) {
			continue
		}
		t, err := u.target(ctx, item)
		if err == nil {
			_, err = u.API.Get(ctx, t)
		}
		if gone = cluster.IsNotFound(err); !gone {
			return false
		}
	}
	return gone
}

// declare declares the kinds whose definitions the run has deleted, and which are created again:
// their objects follow them.
func (u *Undo) declare() {
	for _, item := range u.Record.Executed() {
		if item.Action == apply.Delete && definition(item) {
			before, _ := configured(item)
			u.API.Declare(before)
		}
	}
}

func definition(i plandoc.Item) bool {
	return i.Kind == "CustomResourceDefinition" && strings.HasPrefix(i.APIVersion, "apiextensions.k8s.io/")
}

// target returns the current target of an object of the record: in another version, if the recorded
// one is no longer served.
func (u *Undo) target(ctx context.Context, i plandoc.Item) (cluster.Target, error) {
	o := object.Object{Value: map[string]any{"apiVersion": i.APIVersion}}
	t := cluster.Target{Resource: cluster.Resource{Group: o.Group(), Version: o.Version(), Kind: i.Kind}, Namespace: i.Namespace, Name: i.Name}
	r, err := u.API.Find(ctx, t.Group, t.Version, t.Kind)
	if errors.As(err, new(*cluster.UnknownKindError)) {
		r, err = u.API.FindKind(ctx, t.Group, t.Kind)
	}
	if err == nil {
		t.Resource = r
	}
	return t, err
}

func (u *Undo) leave(l Left) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !slices.Contains(u.left, l) { // an object may be merged more than once
		u.left = append(u.left, l)
	}
}

// Left lists what is not undone, as known once the run is merged. Empty if everything is undone.
func (u *Undo) Left() []Left {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.left)
}

// planned is the run.Plans: it calls plan, and keeps the set that the object becomes part of.
func (u *Undo) planned(ctx context.Context, item *run.Item, obj map[string]any) (apply.Planned, error) {
	out, err := u.plan(ctx, item, obj)
	if id := lastapplied.SetOf(out.Final); err == nil && id != "" && id != lastapplied.SetOf(obj) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.joining[id] = append(u.joining[id], applyset.Member{GroupKind: item.Target.GroupKind(), Namespace: item.Target.Namespace})
	}
	return out, err
}

// plan returns the plan that undoes the change of an item.
func (u *Undo) plan(ctx context.Context, item *run.Item, obj map[string]any) (apply.Planned, error) {
	e := u.entries[item]
	out := apply.Planned{Subject: apply.Subject{Object: item.Object, Name: item.Target.String(), HasStatus: item.Target.Status, Answers: item.Answers}, Live: obj}
	before, hidden := configured(*e)
	out.Sensitive = u.Planner.Sensitive(out.Subject, merge.Triple{Local: before, Live: obj})
	is := object.UID(obj)
	leave := func(reason string, lost bool) (apply.Planned, error) {
		u.leave(Left{Target: item.Target, Reason: reason, Lost: lost})
		return out, nil
	}
	switch {
	case obj != nil && apply.Deleting(obj) != nil:
		return leave("is being deleted: undo again when it is gone", e.Action == apply.Delete || e.Action == apply.Recreate)
	case e.Action == apply.Delete && obj == nil, e.Action == apply.Recreate && obj == nil && (e.Outcome == plandoc.Begun || u.overrides()):
		return u.recreate(e, out)
	case (e.Action == apply.Delete || e.Action == apply.Recreate) && is == e.UID: // the deletion was not executed
		return out, nil
	case obj == nil && e.Action == apply.Recreate:
		return leave("was deleted since, by others or by an undo that was killed: --policy=apply creates it as it was before the run", false)
	case obj == nil:
		return leave("was deleted since: merge its file to create it again", false)
	}
	typ, err := u.Planner.TypeOf(ctx, out.Subject, obj)
	if err != nil {
		return out, fmt.Errorf("%s: %w", item.Target, err)
	}
	switch replaced := is != e.UID && !u.isNew(e, obj); {
	case replaced && u.isBack(e, obj, typ):
		return out, nil
	case replaced && e.Action == apply.Delete:
		return leave("was deleted by the run, and another one of that name was made since", false)
	case replaced:
		return leave("was deleted, and another one of that name was made since: change that one by its file", false)
	}
	if e.Action == apply.Recreate && !hidden {
		out.Object.Value = anew(before) // if it has to be recreated once more
	}
	r := reverting{Undo: u, Item: e, target: item.Target, live: obj, typ: typ, has: map[bool]bool{}}
	planned := r.plan(out)
	if planned.Action == apply.Change && e.Outcome == plandoc.Begun && r.has[false] && !r.has[true] { // it may be missing a value for another reason
		return leave("has nothing of what the run wrote: its write was not executed, or others have overwritten all of it", false)
	}
	return planned, nil
}

// isNew reports whether the object is the one that the run has created in place of another.
func (u *Undo) isNew(e *plandoc.Item, obj map[string]any) bool {
	switch is := object.UID(obj); {
	case e.Action != apply.Recreate:
		return false
	case e.Written.UID != "":
		return is == e.Written.UID
	}
	return (&deletions{u}).marked(e, obj)
}

// isBack reports whether the object that the run has deleted exists again, created by an earlier
// undo or another writer, with its whole former configuration. Later additions of others are
// ignored.
func (u *Undo) isBack(e *plandoc.Item, obj map[string]any, typ *merge.Type) bool {
	before, _ := configured(*e)
	if before == nil {
		return false
	}
	was, known := u.Record.Reveal(e.Identity, nil, anew(before), merge.Some(obj))
	return known && !slices.ContainsFunc(merge.Diff(was, obj, typ), func(c merge.Change) bool {
		f, _ := schema.FieldAt(typ, c.Path)
		return c.Op != merge.OpOrder && c.Old.Set && !f.Allocated
	})
}

// recreate plans the creation of a deleted object as it was configured.
func (u *Undo) recreate(e *plandoc.Item, out apply.Planned) (apply.Planned, error) {
	before, hidden := configured(*e)
	if before == nil || hidden {
		u.leave(Left{Target: cluster.Target{Resource: cluster.Resource{Group: out.Group(), Kind: out.Kind()}, Namespace: e.Namespace, Name: e.Name}, Lost: true, Reason: "was deleted, and has values that are hidden in the record: only a record of a run with --show-secrets has them"})
		return out, nil
	}
	before = anew(before)
	if l := e.LastApplied; l != nil && l.Before.Set {
		if text, ok := l.Before.Value.(string); ok {
			before = annotated(before, text)
		}
	}
	out.Action, out.Final, out.Result, out.Theirs = apply.Create, before, before, e.ManagedFields
	for name := range before {
		if e.ManagedFields != nil {
			out.Unowned = append(out.Unowned, merge.Change{Path: merge.Path{merge.Named(name)}})
		}
	}
	out.Problems = []string{"is made again as it was configured"}
	if out.HasStatus {
		out.Problems[0] += "; what it held besides is not restored"
	}
	return out, nil
}

// configured returns the whole object that was deleted; hidden states that it contains hashes.
func configured(i plandoc.Item) (obj map[string]any, hidden bool) {
	for _, c := range i.Changes {
		if m, ok := c.Before.Value.(map[string]any); ok && c.Path == "." {
			return m, plandoc.Hashes(m)
		}
	}
	return nil, false
}

// overrides reports whether a disagreement is decided in favor of the former values.
func (u *Undo) overrides() bool { return u.Planner.Policy.Name == merge.Policies[0].Name }

// ofRun reports whether an owner by server-side apply is the run, or owned what it wrote as soon as it was written.
func (u *Undo) ofRun(e *plandoc.Item) func(o merge.Owner) bool {
	return func(o merge.Owner) bool {
		return u.Record.ServerSide && o.Manager == u.Record.Manager || slices.Contains(e.Written.AppliedBy, o.Manager)
	}
}
