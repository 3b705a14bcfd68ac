package cli

import (
	"context"
	"errors"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/ask"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// ask settles the conflicts of the items on the terminal. Without a terminal they stay conflicts,
// as with --policy=strict. The error ends the run.
func (c *call) ask(ctx context.Context, s *session) error {
	if !c.asks() || s.Failed() != nil || !ask.Needed(s.Plan) {
		return nil // nothing will be written, or there is no question
	}
	t := c.terminal(c.inputs.stdin())
	if t == nil {
		const text = "there is no terminal to ask on; conflicts are left to you, as with --policy=strict"
		return c.remark(diff.Note{Object: "--policy=ask", Kind: noteProblem, Message: text}, "note: --policy=ask: "+text)
	}
	defer t.Close()
	a := ask.Asker{
		Terminal: t, Out: t.Out, Color: t.Color, Width: t.Width,
		Report: func(p apply.Planned) diff.Report { return reportOf(p, c.secrets) },
	}
	return c.quit(a.Settle(ctx, s.Plan, c.saveRules))
}

// quit adds the exit code to the error of a user who quits. A negative answer to the confirmation
// of the run is not an error, and is only confirmed.
func (e *env) quit(err error) error {
	switch {
	case errors.Is(err, ask.ErrNo):
		return &exit{Code: conflicted, Err: e.remark(diff.Note{Kind: noteProblem, Message: ask.ErrNo.Error()}, ask.ErrNo.Error())}
	case errors.Is(err, ask.ErrQuit):
		return &exit{Code: conflicted, Err: err}
	}
	return err
}
