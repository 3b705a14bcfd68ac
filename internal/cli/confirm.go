package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/ask"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

// confirmation is a question before much is deleted.
type confirmation struct {
	plan   *run.Plan
	look   string // the command that shows what would be deleted
	given  bool   // confirmed with a flag
	piped  bool   // standard input is read as a file
	dryRun dryRun
}

// confirmation returns the question of a run that prunes.
func (r askRequest) confirmation(plan *run.Plan, f *pruneFlags, mode dryRun) confirmation {
	return confirmation{plan: plan, look: "kubectl merge diff --prune", given: f.yes, piped: r.inputs.stdin(), dryRun: mode}
}

// confirm asks before so much is deleted that it may be a mistake. In a preview it reports
// that a run would ask. The error ends the run.
//
// Unlike kubectl: which deletes without a question.
func (e *env) confirm(ctx context.Context, c confirmation) error {
	p := prunerOf(c.plan)
	if p == nil || c.given || c.plan.Failed() != nil {
		return nil
	}
	why := p.Surprising(c.plan)
	if why == "" {
		return nil
	}
	if c.dryRun != dryNone {
		p.Note(p.Target.String(), why+": a run asks first, or needs --yes")
		return nil
	}
	t := e.terminal(c.piped)
	if t == nil {
		return &exit{Code: conflicted, Err: fmt.Errorf("%s: nothing was written or deleted: look at them with %s, and confirm with --yes", why, c.look)}
	}
	defer t.Close()
	t.Print(why + ":")
	for _, item := range c.plan.Others {
		if item.Action() == run.Delete {
			t.Print("  " + escape.Line(item.Target.String()))
		}
	}
	answer, err := t.Prompt(ctx, "Delete them [y,N]? ")
	if err == nil && !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
		err = ask.ErrNo
	}
	return e.quit(err)
}
