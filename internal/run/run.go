// Package run takes many objects through one run: all are found, read and merged
// before the first is written, every write has passed the server's dry run, and
// what others need is written first. It refuses to know how two objects are
// merged, and to print.
package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// Item is one object on its way. Its Object may be Packed, and of its plan and
// outcome there may be no more than Job.Keep says.
type Item struct {
	Object  object.Object
	Target  cluster.Target
	Answers []apply.Answer // what the user said about its conflicts
	Planned apply.Planned
	Result  write.Result // its Outcome is "" until the item is through
	Err     error        // why it stays as it is
	Late    error        // what went wrong after it was written
	Skipped bool         // the user leaves it with its conflicts, which hold nothing then

	found   bool // there is a live form
	changes bool // there is something to write
	away    *away

	state   state
	refusal error // the last one, while deferred
	written time.Time
}

// state is how far an item has come in Write.
type state uint8

const (
	ready    state = iota // may be written
	deferred              // refused in the dry run, perhaps for lack of an object of this run
	through               // written, or nothing to write
	halted                // not to be written any more
)

// Job is what is the same for all items of a run.
type Job struct {
	API         *cluster.Cluster
	Planner     *apply.Planner
	Forget      func() // called when the server has got new kinds; may be nil
	Write       cluster.Write
	Concurrency int
	Preflight   bool // have the server try every write first, where there are several
	Partial     bool // write what has no conflict, though others have
	Keep        Keep
	Shown       bool     // what Keep says is needed once only, when the item is told of
	Progress    Progress // may be nil

	held  bool
	shelf bool // what is shown is put away until then
}

// Namespacing is where objects go that do not say.
type Namespacing struct {
	Default string
	Enforce bool // the user named it, and objects that name another are refused
}

// Resolve finds out how the server calls each object's kind and puts it into its
// namespace. The error joins what is wrong with any of them.
func (j *Job) Resolve(ctx context.Context, objects []object.Object, ns Namespacing) ([]*Item, error) {
	for _, o := range objects {
		if o.Group() == "apiextensions.k8s.io" && o.Kind() == "CustomResourceDefinition" {
			for _, r := range cluster.Declared(o.Value) {
				j.API.Declare(r)
			}
		}
	}
	var (
		items []*Item
		errs  []error
	)
	for _, o := range objects {
		item, err := j.resolve(ctx, o, ns)
		var down *cluster.Unreachable
		if errors.As(err, &down) {
			return nil, down
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		items = append(items, item)
	}
	if len(errs) == 0 {
		errs = append(errs, Repeated(items))
	}
	return items, errors.Join(errs...)
}

// Repeated tells of objects that stand among the items more than once, see
// source.Repeated.
func Repeated(items []*Item) error {
	objects := make([]object.Object, len(items))
	for i, item := range items {
		objects[i] = item.Object
	}
	return source.Repeated(objects)
}

func (j *Job) resolve(ctx context.Context, o object.Object, ns Namespacing) (*Item, error) {
	r, err := j.API.Find(ctx, o.Group(), o.Version(), o.Kind())
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", o.Origin, o, err)
	}
	if o, err = ns.Place(o, r.Namespaced); err != nil {
		return nil, err
	}
	return &Item{Object: o, Target: cluster.Target{Resource: r, Namespace: o.Namespace(), Name: o.Name()}}, nil
}

// Place is the object in its namespace: its own, else the default; none where its
// kind is cluster-scoped.
func (ns Namespacing) Place(o object.Object, namespaced bool) (object.Object, error) {
	own := o.Namespace()
	switch {
	case !namespaced:
		return o.InNamespace(""), nil
	case own == "":
		return o.InNamespace(ns.Default), nil
	case ns.Enforce && own != ns.Default:
		return o, fmt.Errorf("%s: %s: the namespace from the provided object %q does not match the namespace %q. You must pass '--namespace=%s' to perform this operation", o.Origin, o, own, ns.Default, own)
	}
	return o, nil
}

// Merge reads and merges every item; what went wrong is in its Err.
func (j *Job) Merge(ctx context.Context, items []*Item) {
	j.shelf = j.Shown && len(items) > shelfFrom
	through := j.count(Reading, len(items))
	rest := j.readLists(ctx, items, through)
	j.each(ctx, rest, func(i int) { j.read(ctx, rest[i]) }, through)
}

// each does something with every item, several at once, and calls done for each in
// order. What ctx's end keeps from its turn has that as its error.
func (j *Job) each(ctx context.Context, items []*Item, do, done func(i int)) {
	begun := parallel.Each(ctx, len(items), j.Concurrency, do, done)
	for _, item := range items[begun:] {
		if item.Err == nil {
			item.Err = notMerged(item)
		}
	}
}

// MergeWith merges every item with the live form that live gives for it, nil where
// there is none; what went wrong is in its Err. Nobody is asked for anything.
func (j *Job) MergeWith(ctx context.Context, items []*Item, live func(i int) (map[string]any, error)) {
	j.shelf = j.Shown && len(items) > shelfFrom
	j.each(ctx, items, func(i int) {
		obj, err := live(i)
		if items[i].Err = err; err == nil {
			j.merge(ctx, items[i], obj)
		}
	}, func(int) {})
}

// read reads one item by itself, and merges it.
func (j *Job) read(ctx context.Context, item *Item) {
	live, err := j.API.Get(ctx, item.Target)
	switch {
	case errors.Is(err, context.Canceled):
		item.Err = notMerged(item)
		return
	case err != nil && !cluster.IsNotFound(err):
		item.Err = fmt.Errorf("%s: %w", item.Target, err)
		return
	}
	j.merge(ctx, item, live)
}

// merge merges an item with its live form, nil where there is none.
func (j *Job) merge(ctx context.Context, item *Item, live map[string]any) {
	item.found = live != nil
	if item.Planned, item.Err = j.again(ctx, item, live); item.Err == nil {
		item.changes = item.Planned.Action != apply.Nothing
		item.Err = j.lighten(item)
	}
}

// again merges an item with what live is now.
func (j *Job) again(ctx context.Context, item *Item, live map[string]any) (apply.Planned, error) {
	whole, err := item.Object.Whole()
	if err != nil {
		return apply.Planned{}, err
	}
	return j.Planner.Plan(ctx, apply.Subject{
		Object:    whole,
		Name:      item.Target.String(),
		HasStatus: item.Target.Status,
		Answers:   item.Answers,
	}, live)
}

// Replan merges an item anew with the live form it has, after something about it
// was decided.
func (j *Job) Replan(ctx context.Context, item *Item) {
	item.Planned, item.Err = j.again(ctx, item, item.Planned.Live)
	item.changes = item.Planned.Action != apply.Nothing
}

// Failed joins the items' errors, each an *ObjectError; nil where there are none.
func Failed(items []*Item) error {
	var errs []error
	for _, item := range items {
		for _, err := range []error{item.Err, item.Late} {
			if err != nil {
				errs = append(errs, &ObjectError{Target: item.Target, Err: err})
			}
		}
	}
	return errors.Join(errs...)
}

// grace is how long writes that are under way may take to end once the user has
// stopped the run: a request cut off is one of which nobody knows what became.
const grace = 20 * time.Second

// outlasting is a context that ends a while after ctx does.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return long, func() { stop(); cancel() }
}
