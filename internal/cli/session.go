package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// session is a run that has its objects: each with its live form and its plan.
type session struct {
	job   *run.Job // its API is nil offline
	items []*run.Item
	line  *progress

	// bad is what kept input from becoming items. While there is any, nothing is
	// to be written.
	bad error
}

// request is what a session is opened for.
type request struct {
	inputs      *inputFlags
	plan        *planFlags
	planner     *apply.Planner
	live        []string // files that hold live objects; none: the cluster is asked
	write       cluster.Write
	concurrency int
	preflight   bool
	partial     bool
	keep        run.Keep
	shown       bool // each object is printed by itself
	quiet       bool // no progress is shown
}

// stdin is what is wrong where live and something else are to be read from standard
// input, which can be read once.
func (r request) stdin() error {
	switch {
	case !slices.Contains(r.live, "-"):
	case r.inputs.stdin():
		return errors.New("only one of --live and -f can be - (standard input)")
	case r.plan.replace.stdin():
		return errors.New("only one of --live and --replacements can be - (standard input)")
	}
	return nil
}

// manyObjects is from where on memory counts for more than a tenth of the time: the
// collector then lets half as much pile up as is in use.
const manyObjects = 2000

// open reads local and live and merges them. The error is for what ends the run at
// once; what is wrong with single objects is in the session.
func (e *env) open(ctx context.Context, r request) (_ *session, err error) {
	if r.concurrency < 1 {
		return nil, fmt.Errorf("--concurrency=%d: must be at least 1", r.concurrency)
	}
	if err := errors.Join(r.inputs.validate(), r.plan.replace.validate(r.inputs), r.stdin()); err != nil {
		return nil, err
	}
	s := &session{job: &run.Job{Planner: r.planner, Write: r.write, Concurrency: r.concurrency, Preflight: r.preflight, Partial: r.partial, Keep: r.keep, Shown: r.shown}}
	e.line = e.progress(r.quiet)
	s.line, s.job.Progress = e.line, e.line.report()
	defer e.line.end()
	inputs, err := e.local(ctx, r.inputs)
	if err != nil {
		return nil, err
	}
	inputs.Pack = true
	inputs.Values = e.secretValues()
	from := &liveSide{env: e, files: r.live}
	if r.plan.replace.given() {
		if inputs.Change, err = r.plan.replace.change(ctx, e, r.inputs, from); err != nil {
			return nil, err
		}
	}
	objects, bad := source.Read(ctx, inputs)
	if len(objects) == 0 {
		if bad == nil {
			bad = r.inputs.none()
		}
		return nil, bad
	}
	if len(objects) > manyObjects {
		debug.SetGCPercent(50)
	}
	defs, err := r.plan.definitions(ctx)
	if err != nil {
		return nil, err
	}
	defs.Input(objects)
	if len(r.live) > 0 {
		s.items, err = e.saved(ctx, s.job, objects, from, defs)
	} else {
		s.items, err = e.asked(ctx, s.job, objects, from, defs)
	}
	var down *cluster.Unreachable
	if errors.As(err, &down) {
		return nil, errors.Join(bad, down)
	}
	s.bad = errors.Join(bad, err)
	return s, nil
}

// local is what the flags name as inputs, with who is asked for it and for how long.
func (e *env) local(ctx context.Context, flags *inputFlags) (in source.Inputs, err error) {
	in = flags.Inputs
	in.Stdin, in.Agent = e.stdin(ctx), userAgent()
	if in.Timeout, err = e.timeout(); in.Timeout == 0 {
		in.Timeout = -1 // as --request-timeout=0 has it
	}
	return in, err
}

// liveSide is where live objects are: in a cluster, or in files. Either is opened
// when it is needed first, and once.
type liveSide struct {
	env   *env
	files []string // none: the cluster
	api   *cluster.Cluster
	saved *source.Saved
}

func (l *liveSide) cluster() (_ *cluster.Cluster, err error) {
	if l.api == nil {
		l.api, err = l.env.connect()
	}
	return l.api, err
}

func (l *liveSide) read(ctx context.Context) (_ *source.Saved, err error) {
	if l.saved == nil {
		if l.saved, err = source.ReadSaved(ctx, source.Inputs{Files: l.files, Flag: "--live", Stdin: l.env.stdin(ctx), Pack: true, Values: l.env.secretValues()}); err != nil {
			return nil, fmt.Errorf("--live: %w", err)
		}
	}
	return l.saved, nil
}

// asked takes live from the cluster.
func (e *env) asked(ctx context.Context, job *run.Job, objects []object.Object, from *liveSide, defs *apply.Definitions) ([]*run.Item, error) {
	api, err := from.cluster()
	if err != nil {
		return nil, err
	}
	ns, err := e.namespacing()
	if err != nil {
		return nil, err
	}
	docs := &apply.Documents{Fetch: api.OpenAPI}
	job.API, job.Forget = api, docs.Forget
	job.Planner.Schemas, job.Planner.Struct = defs.Around(docs.Type), cluster.Struct
	items, err := job.Resolve(ctx, objects, ns)
	if wrong := job.Planner.CheckRules(ctx, objects, api.ServesKind); wrong != nil {
		return nil, errors.Join(err, wrong)
	}
	job.Merge(ctx, items)
	return items, err
}

// saved takes live from files; nobody is contacted.
func (e *env) saved(ctx context.Context, job *run.Job, objects []object.Object, from *liveSide, defs *apply.Definitions) ([]*run.Item, error) {
	files, err := from.read(ctx)
	if err != nil {
		return nil, err
	}
	job.Planner.Schemas, job.Planner.Struct = defs.Around(nil), cluster.Struct
	var (
		items []*run.Item
		found []*object.Object
		errs  []error
		p     = pairing{files: files, defs: defs, ns: e.offlineNamespacing()}
	)
	if err := job.Planner.CheckRules(ctx, objects, nil); err != nil {
		return nil, err
	}
	for _, o := range objects {
		item, live, err := p.pair(o)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		items, found = append(items, item), append(found, live)
	}
	job.MergeWith(ctx, items, func(i int) (map[string]any, error) {
		if found[i] == nil {
			return nil, nil
		}
		live, err := found[i].Whole()
		return live.Value, err
	})
	return items, errors.Join(append(errs, run.Repeated(items))...)
}
