package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/ask"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

// confirm asks before so much is deleted that it may be a mistake. In a preview it reports
// that a run would ask. look is the command that shows what would be deleted. The error ends the run.
//
// Unlike kubectl: which deletes without a question.
func (c *call) confirm(ctx context.Context, plan *run.Plan, look string) error {
	p := prunerOf(plan)
	if p == nil || c.yes || plan.Failed() != nil {
		return nil
	}
	why := p.Surprising(plan)
	if why == "" {
		return nil
	}
	if c.mode != dryNone {
		p.Note(p.Target.String(), why+": a run asks first, or needs --yes")
		return nil
	}
	t := c.terminal(c.inputs.stdin())
	if t == nil {
		return &exit{Code: conflicted, Err: fmt.Errorf("%s: nothing was written or deleted: look at them with %s, and confirm with --yes", why, look)}
	}
	defer t.Close()
	t.Print(why + ":")
	for _, item := range plan.Others {
		if item.Action() == apply.Delete {
			t.Print("  " + escape.Line(item.Target.String()))
		}
	}
	answer, err := t.Prompt(ctx, "Delete them [y,N]? ")
	if err == nil && !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
		err = ask.ErrNo
	}
	return c.quit(err)
}
