package annotate

import (
	"cmp"
	"context"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// API is the required part of the API server.
type API interface {
	run.API
	Find(ctx context.Context, group, version, kind string) (cluster.Resource, error)
}

// Run is a run over objects of which the last-applied annotation is shown, or changed alone. An item
// has an Object if that is from a file.
type Run struct {
	*run.Plan
	Planner Planner

	// Rewrite gives the configuration that is to stand in the last-applied annotation in place of what live
	// has, nil where nothing changes. It is called for each plan of an item, by several goroutines, also
	// where live is nil, or is being deleted: that is the error then. nil: nothing changes.
	Rewrite func(ctx context.Context, item *run.Item, live map[string]any) (*lastapplied.Original, error)

	api    API
	listed map[cluster.Target]map[string]any // live objects that a query has listed
}

// New returns a run without objects. Of the reader, only Resolve is used: an object that is missing
// is an error of API.Get.
func New(api API, reader live.Reader, planner *apply.Planner) *Run {
	r := &Run{Planner: Planner{planner}, api: api, listed: map[cluster.Target]map[string]any{}}
	r.Plan = &run.Plan{Job: &run.Job{
		Live: found{reader, r}, API: api, Planner: planner, Plans: r.planned, Apart: true, Write: cluster.Write{FieldManager: planner.Manager},
	}}
	return r
}

// found reads the objects that no query has listed.
type found struct {
	live.Reader
	*Run
}

// Get returns an object that exists.
func (f found) Get(ctx context.Context, t cluster.Target) (map[string]any, error) {
	if obj := f.listed[t]; obj != nil {
		return obj, nil
	}
	return f.api.Get(ctx, t)
}

// Name adds the objects that a query has found.
func (r *Run) Name(all []cluster.Found) {
	for _, f := range all {
		r.listed[f.Target], r.Items = f.Live, append(r.Items, run.NewItem(object.Object{}, f.Target))
	}
}

// Chosen reports whether an item was chosen by its type or labels, and not by its name.
func (r *Run) Chosen(item *run.Item) bool { return r.listed[item.Target] != nil }

// Local returns the object of a file that an item is about; nil if it was named on the command line.
func Local(item *run.Item) *object.Object {
	if item.Object.Origin == (object.Origin{}) {
		return nil
	}
	return &item.Object
}

// subject returns an item for the planner: local or, if there is none, live.
func subject(item *run.Item, live map[string]any) apply.Subject {
	s := apply.Subject{Object: item.Object, Name: item.Target.String(), HasStatus: item.Target.Status}
	if Local(item) == nil && live != nil {
		s.Object = object.Object{Value: live}
	}
	return s
}

// planned is the run.Plans. An object that has what was planned before is as it should be.
func (r *Run) planned(ctx context.Context, item *run.Item, live map[string]any) (apply.Planned, error) {
	s, before := subject(item, live), item.Planned.Final
	out := apply.Planned{Subject: s, Live: live, Final: live}
	if r.Rewrite == nil || before != nil && live != nil && lastapplied.Read(live).Text == lastapplied.Read(before).Text {
		return out, nil
	}
	conf, err := r.Rewrite(ctx, item, live)
	switch gone := apply.Gone(s, live); {
	case err != nil:
		err = cmp.Or(gone, err)
	case conf != nil:
		out, err = r.Planner.Annotate(ctx, s, live, *conf)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", s.Name, err)
	}
	return out, err
}

// Sensitive returns the fields of an item and of its configuration that are secret.
func (r *Run) Sensitive(item *run.Item, conf any) redact.Fields {
	s := subject(item, item.Planned.Live)
	return r.Planner.Sensitive(s, merge.Triple{Original: conf, Local: s.Value, Live: item.Planned.Live})
}

// Set returns Rewrites that put the local objects, which must exist, in the annotation. Without
// create, an object without an annotation is an error. warn is called with a lenient planner's
// report of fields that the kind does not have, and of values of a wrong type.
//
// Unlike kubectl: an unknown field, or a value of another type, is an error. The next merge would look for it in
// live in vain, and the one that was meant would not be owned by the applier.
func (r *Run) Set(create bool, warn func(item *run.Item, text string)) {
	r.Rewrite = func(ctx context.Context, item *run.Item, live map[string]any) (*lastapplied.Original, error) {
		if lastapplied.Read(live).State == lastapplied.None && !create {
			return nil, fmt.Errorf("no last-applied-configuration annotation found on resource: %s, to create the annotation, run the command with --create-annotation", item.Target.Name)
		}
		conf, err := apply.Given(item.Object.Value, live)
		if err != nil {
			return nil, err
		}
		warning, err := r.Planner.Check(ctx, subject(item, live), conf, nil)
		if warning != "" {
			warn(item, warning)
		}
		return &conf, err
	}
}
