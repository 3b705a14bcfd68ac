package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/drift"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// session is a planned run. The plan's Err includes errors of the input; nothing is written
// then.
type session struct {
	*run.Plan
	line *term.Progress
	api  *cluster.Cluster // nil offline
}

// request is the configuration of a session.
type request struct {
	inputs      *inputFlags
	objects     []object.Object // instead of those that the flags name; nil: none
	plan        *planFlags
	planner     *apply.Planner
	live        []string // files with live objects; none: the cluster is read
	write       cluster.Write
	concurrency int
	adapt       bool // concurrency is for a server that is near
	preflight   bool
	partial     bool
	needs       run.Needs
	shown       bool // objects are printed one by one
	asked       bool // they are shown and confirmed before the first is written
	quiet       bool // show no progress
	shard       drift.Shard

	recreation run.Recreation

	bind   func(*run.Item, apply.Planned) error // what every merge plan has to pass; may be nil
	prune  *pruneFlags                          // nil: nothing is pruned
	note   noteFunc                             // reports facts that concern no single object; may be nil
	render run.Render                           // of a run that is only shown; may be nil
}

// stdin returns an error if live and another input are read from standard input, which can be read
// only once.
func (r request) stdin() error {
	if slices.Contains(r.live, "-") && r.inputs.stdin() {
		return errors.New("only one of --live and -f can be - (standard input)")
	}
	return nil
}

// open reads local and live objects and merges them. The error ends the run; errors of
// single objects are in the session.
func (e *env) open(ctx context.Context, r request) (_ *session, err error) {
	if r.concurrency < 1 {
		return nil, fmt.Errorf("--concurrency=%d: must be at least 1", r.concurrency)
	}
	var missing error
	if r.objects == nil {
		missing = r.inputs.validate()
	}
	if err := errors.Join(missing, r.stdin()); err != nil {
		return nil, err
	}
	job := &run.Job{Planner: r.planner, Write: r.write, Concurrency: r.concurrency, Preflight: r.preflight, Recreate: r.recreation, Partial: r.partial, Needs: r.needs, Shown: r.shown, Asked: r.asked, Bind: r.bind, Render: r.render}
	e.line = e.progress(r.quiet)
	if e.line != nil {
		job.Progress = func(phase run.Phase, done, total int) { e.line.Note(string(phase), done, total) }
	}
	defer e.line.End()
	from := &liveSide{env: e, files: r.live}
	if r.adapt {
		job.Adapt = from.atOnce
	}
	objects, bad, err := e.objects(ctx, r)
	if err != nil {
		return nil, err
	}
	defs, err := r.plan.definitions(ctx)
	if err != nil {
		return nil, err
	}
	defs.Input(objects)
	if r.prune != nil {
		if err := r.prune.open(ctx, from, job, r.note); err != nil {
			return nil, errors.Join(bad, err)
		}
	}
	p, err := merged(ctx, job, from, input{objects, defs, bad, r.shard})
	var down *cluster.Unreachable
	switch {
	case errors.As(err, &down):
		return nil, errors.Join(bad, down)
	case err != nil:
		p = &run.Plan{Job: job, Err: errors.Join(bad, err)}
	}
	return &session{Plan: p, line: e.line, api: from.api}, nil
}

// objects reads the objects of a run. bad holds the errors of some of them; err is returned if
// there are no objects.
func (e *env) objects(ctx context.Context, r request) (objects []object.Object, bad, err error) {
	inputs, err := e.local(ctx, r.inputs)
	if err != nil {
		return nil, nil, err
	}
	inputs.Pack, inputs.Kept = true, heap.reading
	if objects = r.objects; objects == nil {
		objects, bad = source.Read(ctx, inputs)
	}
	if len(objects) == 0 {
		if bad == nil {
			bad = r.inputs.none()
		}
		return nil, nil, bad
	}
	return objects, bad, nil
}

// input holds what was read: objects, definitions of kinds from them and the flags, and errors.
type input struct {
	objects []object.Object
	defs    *apply.Definitions
	bad     error
	shard   drift.Shard
}

// merged returns the plan of a run over the input. The error means that there is no plan.
func merged(ctx context.Context, job *run.Job, from *liveSide, in input) (*run.Plan, error) {
	serves, err := from.open(ctx, job, in.defs)
	if err != nil {
		return nil, err
	}
	p, err := job.Resolve(ctx, in.objects)
	if err != nil {
		return nil, err
	}
	if err := job.Planner.CheckRules(ctx, in.objects, serves); err != nil {
		return nil, errors.Join(p.Err, err)
	}
	p.Err = errors.Join(in.bad, p.Err)
	p.Items = slices.DeleteFunc(p.Items, func(i *run.Item) bool { return !in.shard.Has(i.Target.Namespace) })
	p.Merge(ctx)
	return p, nil
}

// local returns the inputs that the flags name, with standard input, user agent and timeout.
func (e *env) local(ctx context.Context, flags *inputFlags) (in source.Inputs, err error) {
	in = flags.Inputs
	in.Stdin, in.Agent, in.Values = term.Stdin(ctx, e.In), userAgent(), e.secretValues()
	if in.Timeout, err = e.timeout(); in.Timeout == 0 {
		in.Timeout = -1 // as for --request-timeout=0
	}
	return in, err
}

// liveSide is the cluster or the files that live objects are read from. Either is opened
// once, when it is first needed.
type liveSide struct {
	env   *env
	files []string // none: the cluster
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
		l.api, err = l.env.connect()
	}
	return l.api, err
}

func (l *liveSide) read(ctx context.Context) (_ *source.Saved, err error) {
	if l.saved == nil {
		if l.saved, err = source.ReadSaved(ctx, source.Inputs{Files: l.files, Flag: "--live", Stdin: term.Stdin(ctx, l.env.In), Pack: true, Values: l.env.secretValues()}); err != nil {
			return nil, fmt.Errorf("--live: %w", err)
		}
	}
	return l.saved, nil
}

// open sets the reader of live objects in the job and the schemas in its planner. serves
// reports whether the server has a kind; nil offline.
func (l *liveSide) open(ctx context.Context, job *run.Job, defs *apply.Definitions) (serves func(context.Context, string) (bool, error), err error) {
	job.Planner.Struct = cluster.Struct
	if len(l.files) > 0 {
		saved, err := l.read(ctx)
		if err != nil {
			return nil, err
		}
		job.Planner.Schemas = defs.Around(nil)
		job.Live = &live.Files{Saved: saved, Namespaces: l.env.offlineNamespacing(), Kind: defs.Kind}
		return nil, nil
	}
	api, err := l.cluster()
	if err != nil {
		return nil, err
	}
	ns, err := l.env.namespacing()
	if err != nil {
		return nil, err
	}
	if job.Recreate.Kinds, err = spelledOut(ctx, api, job.Recreate.Kinds); err != nil {
		return nil, err
	}
	docs := &apply.Documents{Fetch: api.OpenAPI}
	job.Planner.Schemas = defs.Around(docs.Type)
	job.Live, job.API, job.Invalidate = &live.Server{API: api, Namespaces: ns}, api, docs.Forget
	return api.ServesKind, nil
}
