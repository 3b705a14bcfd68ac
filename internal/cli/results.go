package cli

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// finish sends the items, or shows the effects, and reports each.
func (s *session) finish(ctx context.Context, t *results) {
	if t.mode == dryClient {
		s.Show(ctx, t.item)
		return
	}
	defer s.line.End()
	s.Send(ctx, term.Around(s.line, t.item))
}

// results prints items as they are done.
type results struct {
	*call
	out   printer
	notes *reporter
	errs  []error
	start time.Time
}

// impact reports the impact of an item if neither the printer nor the outcome line does.
func (t *results) impact(item *run.Item) {
	shown := ""
	if t.output == "" {
		shown = string(item.Result.Outcome)
	}
	if p, _ := printerNamed(t.output); !p.impact {
		t.notes.impact(item, shown)
	}
}

func (t *results) item(item *run.Item) {
	switch item.Action() {
	case apply.Failed:
		return // reported at the end, in input order
	case apply.Keep:
		t.notes.kept(item)
		if _, all := t.out.(ofRun); !all {
			return
		}
	default:
		t.notes.item(item)
		t.impact(item)
	}
	if item.Result.Outcome != write.Unsettled || t.out.conflicts() {
		if err := t.out.object(item); err != nil {
			t.errs = append(t.errs, &run.ObjectError{Target: item.Target, Err: err})
		}
	}
}

// close ends the output, and reports what concerns the run as a whole. It counts the objects that are
// left to the user.
func (t *results) close(ctx context.Context, s *session, ended outcome.Ended) (left int) {
	if whole, ok := t.out.(runPrinter); ok {
		t.errs = append(t.errs, whole.run(ended))
	}
	t.errs = append(t.errs, t.out.close(ctx))
	left = t.notes.conflicts(s.Items) + unpruned(s.Plan)
	t.notes.unused(s.Planner.Rules)
	t.notes.stale(s.Plan)
	if t.mode == dryClient {
		t.notes.missing(s.MissingNamespaces(ctx))
	}
	return left
}

// end returns the error of the run: errors of objects, otherwise that conflicts, or objects that
// are not pruned, are left to the user.
func (t *results) end(ctx context.Context, s *session) error {
	ended := outcome.Ended{Plan: s.Plan, DryRun: t.mode != dryNone, Took: time.Since(t.start), Target: t.target(s)}
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
