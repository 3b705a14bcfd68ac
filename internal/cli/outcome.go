package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

var _ = registerPrinter(printerRow{
	name: "outcome", help: "what became of each object, as JSON: outcome, impact, changes, notes, error, requests, seconds", values: true, conflicts: true, merges: true, impact: true, needs: run.Changes,
	open: func(v view) (printer, error) {
		return &outcomePrinter{view: v, report: outcome.Report{ShowSecrets: v.secrets}, notes: v.reporter()}, nil
	},
})

// outcomePrinter prints one JSON document about the whole run.
type outcomePrinter struct {
	view
	report outcome.Report
	notes  *reporter
}

func (f *outcomePrinter) printObject(item *run.Item) error {
	notes := append(f.notes.problemsOf(item), f.notes.of(item)...)
	f.report.Add(item, append(notes, diff.Conflicts(reportOf(item.Result.Planned, f.secrets))...))
	return nil
}

// ended prints the document, or leaves that to the rollback, if there may be one.
func (f *outcomePrinter) ended(e outcome.Ended) error {
	print := func(rolledBack map[string]write.Outcome) error {
		f.report.RolledBack = rolledBack
		return f.report.Write(f.Out, e, f.secretValues())
	}
	if f.rollback {
		f.document = print
		return nil
	}
	return print(nil)
}

// aim returns a server, nil for none, and the namespaces of targets on it, each once, in order.
func (e *env) aim(api *cluster.Cluster, targets []cluster.Target) outcome.Target {
	t, seen := outcome.Target{}, map[string]bool{"": true}
	for _, one := range targets {
		if !seen[one.Namespace] {
			seen[one.Namespace], t.Namespaces = true, append(t.Namespaces, one.Namespace)
		}
	}
	if api == nil {
		return t
	}
	t.Server = api.Host()
	if config, err := e.flags.ToRawKubeConfigLoader().RawConfig(); err == nil {
		t.Context = cmp.Or(*e.flags.Context, config.CurrentContext)
	}
	return t
}

// summary prints one line about the run as a whole, unless the line of its only object reports the
// same.
func (t *reporter) summary(s outcome.Summary) {
	if t.quiet || len(s.Counts) == 0 || s.Objects == 1 && s.Total() == 1 {
		return
	}
	if !t.json {
		fmt.Fprintln(t.ErrOut, s)
		return
	}
	_ = escape.WriteJSON(t.ErrOut, s, "") // only stdout matters
}

// finish shows the effects, or passes the items to send, which is Send or Preview; each is reported.
func (c *call) finish(ctx context.Context, p *run.Plan, send func(context.Context, func(*run.Item)), report func(*run.Item)) {
	if c.mode == dryClient {
		p.Show(ctx, report)
		return
	}
	defer c.line.End()
	send(ctx, term.Around(c.line, report))
}

// results prints items as they are done.
type results struct {
	*call
	out   printer
	notes *reporter
	errs  []error
	start time.Time
}

// prints reports whether the printer prints an item, which may have conflicts.
func (t *results) prints(item *run.Item) bool {
	p, _ := printerNamed(t.output)
	return p.conflicts || item.Result.Outcome != write.Unsettled
}

func (t *results) item(item *run.Item) {
	p, _ := printerNamed(t.output)
	switch item.Action() {
	case apply.Failed:
		return // reported at the end, in input order
	case apply.Keep:
		t.notes.kept(item)
		if !p.kept {
			return
		}
	default:
		t.notes.item(item)
		shown := "" // on the outcome line
		if t.output == "" {
			shown = string(item.Result.Outcome)
		}
		if !p.impact {
			t.notes.impact(item, shown)
		}
	}
	if t.prints(item) {
		if err := t.out.printObject(item); err != nil {
			t.errs = append(t.errs, &run.ObjectError{Target: item.Target, Err: err})
		}
	}
}

// close ends the output, and reports what concerns the run as a whole. It counts the objects that are
// left to the user.
func (t *results) close(ctx context.Context, s *session, ended outcome.Ended) (left int) {
	t.errs = append(t.errs, t.out.ended(ended), t.out.close(ctx))
	left = t.notes.conflicts(s.Items) + unpruned(s.Plan)
	t.notes.unused(s.Planner)
	for _, old := range s.Plan.Stale() {
		t.notes.hint(diff.Note{Object: old.Object, Namespace: old.Namespace, Kind: noteStale, Message: escape.Line(old.String())})
	}
	if t.mode == dryClient {
		t.notes.missing(s.MissingNamespaces(ctx))
	}
	return left
}

// end returns the error of the run: errors of objects, otherwise that conflicts, or objects that
// are not pruned, are left to the user.
func (t *results) end(ctx context.Context, s *session) error {
	ended := outcome.Ended{Plan: s.Plan, DryRun: t.mode != dryNone, Took: time.Since(t.start), Target: t.aim(s.api, targetsOf(s.Items))}
	left := t.close(ctx, s, ended)
	err := errors.Join(s.Failed(), errors.Join(t.errs...))
	if t.mode != dryNone {
		err = errors.Join(err, s.Held())
	}
	t.notes.summary(outcome.Summarize(ended))
	if left > 0 && held(err) {
		return &exit{Code: conflicted, Err: err}
	}
	return err
}
