package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/drift"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/strategic"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
)

// session is a planned run. The plan's Err includes errors of the input; nothing is written
// then.
type session struct {
	*run.Plan
	api *cluster.Cluster // nil offline
}

// request is a run that a verb asks for.
type request struct {
	*run.Job
	from    *liveSide
	objects []object.Object // instead of those that the flags name; nil: none
	note    noteFunc        // reports facts that concern no single object; may be nil
	shard   drift.Shard
}

// request returns the run that the flags ask for, as that of a verb that writes nothing.
func (c *call) request(ctx context.Context) (request, error) {
	planner, err := c.planner(ctx)
	if err != nil {
		return request{}, err
	}
	p, _ := printerNamed(c.output)
	planner.Trace = p.traces
	if err := neverRecreated(c.recreate); err != nil {
		return request{}, err
	}
	objects, err := c.lastApplied(ctx)
	if objects != nil && c.release == "" {
		planner.Validate = apply.Ignore // what was applied is stored as far as it is known
	}
	job := &run.Job{
		Planner: planner, Concurrency: c.concurrency, Needs: p.needs, Shown: true,
		// By the flag, and by the plan that the run is bound to, which refuses all others.
		Recreate: run.Recreation{Kinds: slices.Concat(c.recreate, c.bound.recreated()), Propagation: propagations[c.cascade]},
		Write:    cluster.Write{FieldManager: c.manager, FieldValidation: fieldValidation[planner.Validate], DryRun: true},
	}
	return request{Job: job, from: &liveSide{call: c}, objects: objects}, err
}

// open reads local and live objects and merges them. The error ends the run; errors of
// single objects are in the session.
func (c *call) open(ctx context.Context, r request) (_ *session, err error) {
	if r.objects == nil {
		err = mark("usage", c.validateInput())
	}
	if slices.Contains(c.live, "-") && c.readsStdin() {
		err = errors.Join(err, errors.New("only one of --live and -f can be - (standard input)"))
	}
	if err != nil {
		return nil, err
	}
	c.line = c.progress(ctx)
	r.Progress = func(phase run.Phase, done, total int) { c.line.Note(string(phase), done, total) }
	defer c.line.End()
	objects, bad := r.objects, error(nil)
	if objects == nil && c.local != nil {
		objects, bad = slices.Clone(c.local.objects), c.local.bad
	} else if objects == nil {
		objects, bad, err = c.readLocal(ctx, packed)
	}
	if err != nil {
		return nil, err
	}
	defs, err := c.definitions(ctx)
	if err != nil {
		return nil, err
	}
	defs.Input(objects)
	if c.set.name != "" {
		if err := c.openSet(ctx, r); err != nil {
			return nil, errors.Join(bad, err)
		}
	}
	p, err := merged(ctx, r, input{objects, defs, bad})
	if err == nil {
		c.releaseRest(p)
	}
	var down *cluster.Unreachable
	switch {
	case errors.As(err, &down):
		return nil, errors.Join(bad, down)
	case err != nil:
		p = &run.Plan{Job: r.Job, Err: errors.Join(bad, err)}
	}
	return &session{Plan: p, api: r.from.api}, nil
}

// packed makes readLocal keep the objects compactly.
func packed(in *source.Inputs) { in.Pack, in.Kept = true, heap.reading }

// readLocal reads the objects of the files. bad holds the errors of some of them; err is returned if
// there are no objects.
func (c *call) readLocal(ctx context.Context, adapt ...func(*source.Inputs)) (objects []object.Object, bad, err error) {
	inputs := c.inputs
	inputs.Stdin, inputs.Agent, inputs.Values = term.Stdin(ctx, c.In), userAgent(), c.secretValues()
	if inputs.Timeout, err = c.requestTimeout(); err != nil {
		return nil, nil, err
	}
	inputs.Timeout = cmp.Or(inputs.Timeout, -1) // as for --request-timeout=0
	for _, f := range adapt {
		f(&inputs)
	}
	var empty []string
	inputs.Empty, inputs.Note = func(name string) { empty = append(empty, name) }, c.note
	objects, bad = source.Read(ctx, inputs)
	if len(empty) > 0 && len(objects) > 0 {
		bad = errors.Join(bad, c.without(empty))
	}
	if bad = mark("input", bad); len(objects) == 0 {
		return nil, nil, cmp.Or(bad, mark("input", c.noObjects()))
	}
	return objects, bad, nil
}

// without reports inputs that have no object beside those that have. With --prune that is an error,
// since what a failed command before a pipe does not write would be deleted.
func (c *call) without(empty []string) error {
	if c.prune {
		return fmt.Errorf("%s: holds no object: check what it was made by, or leave it out: with --prune, what it had before would be deleted", listed(empty))
	}
	c.note(listed(empty), "holds no object")
	return nil
}

// input holds what was read: objects, definitions of kinds from them and the flags, and errors.
type input struct {
	objects []object.Object
	defs    *apply.Definitions
	bad     error
}

// merged returns the plan of a run over the input. The error means that there is no plan.
func merged(ctx context.Context, r request, in input) (*run.Plan, error) {
	serves, err := r.from.open(ctx, r.Job, in.defs)
	if err != nil {
		return nil, err
	}
	p, err := r.Resolve(ctx, in.objects)
	if err != nil {
		return nil, err
	}
	if err := r.Planner.CheckRules(ctx, in.objects, serves); err != nil {
		return nil, errors.Join(p.Err, err)
	}
	p.Err = errors.Join(in.bad, p.Err)
	all := len(p.Items)
	p.Items = slices.DeleteFunc(p.Items, func(i *run.Item) bool { return !r.shard.Has(i.Target.Namespace) })
	p.Merge(ctx)
	if len(p.Items) == all { // of a shard it would not be known
		if l := r.from; l.saved != nil && !l.saved.Empty() {
			l.unmatched(p, l.saved.Find, "--live", listed(l.live)+": holds none of the objects of the input: all of them count as absent; kubectl get -f FILE -o yaml --show-managed-fields saves them")
		}
		if from := p.Planner.Original; from.From == apply.File {
			r.from.unmatched(p, from.Saved, "--original", r.from.original+": holds none of the objects of the input: what was removed from the input stays")
		}
	}
	r.from.unknown(ctx, p)
	return p, nil
}

// liveSide is the cluster or the files that live objects are read from. Either is opened
// once, when it is first needed.
type liveSide struct {
	*call // with --live: the files
	api   *cluster.Cluster
	saved *source.Saved
}

// atOnce returns the number of concurrent requests, given limit for a server that is near.
func (l *liveSide) atOnce(limit int) int {
	if l.api == nil {
		return limit
	}
	return l.api.AtOnce(limit)
}

func (l *liveSide) cluster() (_ *cluster.Cluster, err error) {
	if l.api == nil {
		l.api, err = l.connect()
	}
	return l.api, err
}

// unmatched notes with a text that none of the saved objects is in the input, as of another file. An error of an
// object says more.
func (l *liveSide) unmatched(p *run.Plan, find func(object.Object) (*object.Object, error), flag, text string) {
	found := func(i *run.Item) bool {
		o, err := find(i.Target.Identity())
		return i.Err != nil || o != nil || err != nil
	}
	if p.Err == nil && len(p.Items) > 0 && !slices.ContainsFunc(p.Items, found) {
		l.note(flag, text)
	}
}

// unknown notes the kinds whose fields are not known offline.
func (l *liveSide) unknown(ctx context.Context, p *run.Plan) {
	asked, kinds := map[cluster.Resource]bool{}, []string(nil)
	for _, i := range p.Items {
		if r := i.Target.Resource; l.saved != nil && i.Err == nil && !asked[r] {
			asked[r] = true
			if typ, err := p.Planner.TypeOf(ctx, apply.Subject{Object: i.Target.Identity()}, nil); typ == nil && err == nil {
				kinds = append(kinds, r.Kind)
			}
		}
	}
	if slices.Sort(kinds); len(kinds) > 0 {
		l.note("--live", listed(slices.Compact(kinds))+": fields are not checked, and lists are replaced as a whole, since the schema is not known: --schema FILE gives it")
	}
}

// open sets the reader of live objects in the job and the schemas in its planner. serves
// reports whether the server has a kind; nil offline.
func (l *liveSide) open(ctx context.Context, job *run.Job, defs *apply.Definitions) (serves func(kind string) bool, err error) {
	job.Planner.Strategic = strategic.By(cluster.Struct)
	if len(l.live) > 0 {
		in := source.Inputs{Files: l.live, Flag: "--live", Stdin: term.Stdin(ctx, l.In), Pack: true, Values: l.secretValues()}
		if l.saved, err = source.ReadSaved(ctx, in); err != nil {
			return nil, errors.Join(each(leaves(err), func(err error) error { return fmt.Errorf("--live: %w", err) })...)
		}
		if l.saved.Empty() {
			l.note("--live", listed(l.live)+": holds no object: all objects count as absent")
		}
		job.Planner.Schemas = defs.Around(nil)
		job.Live = &live.Files{Saved: l.saved, Namespaces: l.offlineNamespacing(), Kind: defs.Kind}
		return nil, nil
	}
	api, err := l.cluster()
	if err != nil {
		return nil, err
	}
	ns, err := l.namespacing()
	if err != nil {
		return nil, err
	}
	ns.Enforce = ns.Enforce && l.release == "" // -n is the release's, whose objects may be in others
	for i, kind := range job.Recreate.Kinds {
		job.Recreate.Kinds[i] = inFull(ctx, api, kind)
	}
	if err := neverRecreated(job.Recreate.Kinds); err != nil {
		return nil, err
	}
	docs := &apply.Documents{Fetch: api.OpenAPI, Definition: api.Definition}
	job.Planner.Schemas, job.Planner.Defined = defs.Around(docs.Type), defs.Around(docs.Defined)
	job.Live, job.API, job.Invalidate = &live.Server{API: api, Namespaces: ns}, api, docs.Forget
	return func(kind string) bool {
		there, err := api.ServesKind(ctx, kind)
		return there || err != nil // what cannot be looked up may be there
	}, nil
}
