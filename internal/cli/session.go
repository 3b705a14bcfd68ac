package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/batch"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/plan"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// session is a run that has its objects: each with its live form and its plan.
type session struct {
	job   *batch.Job // its API is nil offline
	items []*batch.Item

	// bad is what kept input from becoming items. While there is any, nothing is
	// to be written.
	bad error
}

// offline: the live objects came from files.
func (s *session) offline() bool { return s.job.API == nil }

// request is what a session is opened for.
type request struct {
	inputs      *inputFlags
	planner     *plan.Planner
	live        []string // files that hold live objects; none: the cluster is asked
	write       cluster.Write
	concurrency int
	preflight   bool
}

// open reads local and live and merges them. The error is for what ends the run at
// once; what is wrong with single objects is in the session.
func (e *env) open(ctx context.Context, r request) (*session, error) {
	if err := r.inputs.validate(); err != nil {
		return nil, err
	}
	s := &session{job: &batch.Job{Planner: r.planner, Write: r.write, Concurrency: r.concurrency, Preflight: r.preflight}}
	inputs := r.inputs.Inputs
	inputs.Stdin = e.In
	objects, bad := source.Read(ctx, inputs)
	if len(objects) == 0 {
		if bad == nil {
			bad = r.inputs.none()
		}
		return nil, bad
	}
	var err error
	if len(r.live) > 0 {
		s.items, err = e.saved(ctx, s.job, objects, r)
	} else {
		s.items, err = e.asked(ctx, s.job, objects)
	}
	var down *cluster.Unreachable
	if errors.As(err, &down) {
		return nil, errors.Join(bad, down)
	}
	s.bad = errors.Join(bad, err)
	return s, nil
}

// asked takes live from the cluster.
func (e *env) asked(ctx context.Context, job *batch.Job, objects []source.Object) ([]*batch.Item, error) {
	api, err := e.connect()
	if err != nil {
		return nil, err
	}
	ns, err := e.namespacing()
	if err != nil {
		return nil, err
	}
	docs := &plan.Documents{Fetch: api.OpenAPI}
	job.API, job.Forget = api, docs.Forget
	job.Planner.Schemas, job.Planner.Struct = docs.Type, cluster.Struct
	items, err := job.Resolve(ctx, objects, ns)
	job.Merge(ctx, items)
	return items, err
}

// saved takes live from files; nobody is contacted.
func (e *env) saved(ctx context.Context, job *batch.Job, objects []source.Object, r request) ([]*batch.Item, error) {
	saved, err := source.ReadSaved(ctx, source.Inputs{Files: r.live, Stdin: e.In})
	if err != nil {
		return nil, fmt.Errorf("--live: %w", err)
	}
	job.Planner.Struct = cluster.Struct
	var (
		items []*batch.Item
		errs  []error
		ns    = e.offlineNamespacing()
	)
	for _, o := range objects {
		item, err := pair(ctx, job.Planner, saved, ns, o)
		if err != nil {
			errs = append(errs, err)
		}
		if item != nil {
			items = append(items, item)
		}
	}
	local := make([]source.Object, len(items))
	for i, item := range items {
		local[i] = item.Object
	}
	return items, errors.Join(append(errs, source.Repeated(local))...)
}

// pair finds an object's saved live form, and merges.
func pair(ctx context.Context, planner *plan.Planner, saved *source.Saved, ns batch.Namespacing, o source.Object) (*batch.Item, error) {
	kind, known := schema.BuiltinKind(o.Group(), o.Version(), o.Kind())
	var err error
	if !known || kind.Namespaced {
		if ns.Default != "" || o.Namespace() != "" {
			if o, err = ns.Place(o, true); err != nil {
				return nil, err
			}
		}
	} else {
		o = o.InNamespace("")
	}
	found, err := saved.Find(o)
	if err != nil {
		return nil, err
	}
	var live map[string]any
	if found != nil {
		live = found.Value
		o = o.InNamespace(found.Namespace())
	}
	if known && kind.Namespaced && o.Namespace() == "" {
		o = o.InNamespace("default")
	}
	item := &batch.Item{Object: o, Target: cluster.Target{
		Resource: cluster.Resource{
			Group: o.Group(), Version: o.Version(), Kind: o.Kind(), Plural: kind.Resource,
			Namespaced: o.Namespace() != "", Status: kind.HasStatus,
		},
		Namespace: o.Namespace(),
		Name:      o.Name(),
	}}
	item.Planned, item.Err = planner.Plan(ctx, plan.Subject{Object: o, Name: item.Target.String(), HasStatus: item.Target.Status}, live)
	return item, nil
}
