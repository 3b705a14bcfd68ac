package cli

import (
	"context"
	"errors"

	"github.com/kubectl-merge/kubectl-merge/internal/ask"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// askRequest is what a run that asks was given.
type askRequest struct {
	inputs  *inputFlags
	plan    *planFlags
	secrets bool // show the values of Secrets
}

// ask settles the conflicts of the items on the terminal. Without one they stay
// conflicts, as with --policy=strict. The error ends the run.
func (e *env) ask(ctx context.Context, s *session, r askRequest) error {
	if !r.plan.asks() || s.Failed() != nil || !ask.Needed(s.Plan) {
		return nil // nothing will be written, whatever the answers; or there is no question
	}
	t := e.terminal(r.inputs.stdin())
	if t == nil {
		const text = "there is no terminal to ask on; conflicts are left to you, as with --policy=strict"
		return e.remark(diff.Note{Object: "--policy=ask", Kind: noteProblem, Message: text}, "note: --policy=ask: "+text)
	}
	defer t.Close()
	a := ask.Asker{
		Terminal: t, Out: t.Out, Color: t.Color, Width: t.Width,
		Report: func(p apply.Planned) diff.Report { return reportOf(p, r.secrets) },
	}
	return e.quit(a.Settle(ctx, s.Plan, r.plan.saveRules))
}

// quit gives the error of a user who wants nothing to be done its exit code. An answer to the question whether
// the run is to be carried out is no error, and is only confirmed.
func (e *env) quit(err error) error {
	switch {
	case errors.Is(err, ask.ErrNo):
		return &exit{Code: conflicted, Err: e.remark(diff.Note{Kind: noteProblem, Message: ask.ErrNo.Error()}, ask.ErrNo.Error())}
	case errors.Is(err, ask.ErrQuit):
		return &exit{Code: conflicted, Err: err}
	}
	return err
}
