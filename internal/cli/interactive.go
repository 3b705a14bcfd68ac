package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/ask"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// openAsker finds the terminal that -i asks on. The error reports why the user cannot be asked.
func (c *call) openAsker(piped bool) error {
	switch {
	case !c.interactive || c.yes:
		return nil
	case piped:
		return errors.New("-i: standard input is read as a file (-), so that nobody can answer there: name a file, or confirm with --yes")
	}
	if c.asked = term.Open(c.In, c.ErrOut, false); c.asked == nil {
		see := "diff"
		if c.verb.name() == "undo" {
			see = "undo --dry-run -o diff"
		}
		return errors.New("-i: there is no terminal to ask on: standard input and standard error must be one: confirm with --yes, or see what would be written with kubectl merge " + see)
	}
	return nil
}

// review shows a merged run, and asks. The error ends the run.
func (c *call) review(ctx context.Context, s *session, undo bool) error {
	if !c.interactive || s.Failed() != nil || s.Held() != nil || !ask.Writes(s.Plan) {
		return nil // nothing will be written
	}
	e, shown := *c.env, *c
	if e.Out = c.ErrOut; c.asked != nil {
		e.Out = c.asked.Out
	}
	shown.env, shown.output, shown.mode = &e, "diff", dryClient
	if err := shown.show(ctx, s, undo); err != nil || c.asked == nil {
		return err
	}
	a := ask.Reviewer{Terminal: c.asked, Out: c.asked.Out, Spelling: plandoc.Spelling{Salt: salt(), ShowSecrets: c.secrets}}
	return c.quit(a.Confirm(ctx, s.Plan))
}

// show prints, before a review, the diff with its notes, then the target of the run, and its size.
func (c *call) show(ctx context.Context, s *session, undo bool) error {
	notes, d := c.reporter(), view{c}.differ()
	var errs []error
	s.Show(ctx, func(item *run.Item) {
		if !item.Action().Writes() {
			return
		}
		errs = append(errs, d.show(d.doc(item)))
		notes.item(item)
		if undo && item.Action() == apply.Delete {
			item.Own()
			item.Result.Outcome = write.Deleted
		} else {
			notes.impact(item, "")
		}
	})
	errs = append(errs, d.close(ctx))
	sum := outcome.Summarize(outcome.Ended{Plan: s.Plan, DryRun: true, Target: c.aim(s.api, targetsOf(s.Items))})
	at := sum.Target.String()
	if sum.Target.Server != "" && sum.Target.Context != "" {
		at += ", server " + escape.Line(sum.Target.Server)
	}
	fmt.Fprintln(c.Out)
	if p := prunerOf(s.Plan); p != nil {
		if why := p.Surprising(s.Plan); why != "" {
			fmt.Fprintln(c.Out, "warning: "+why)
		}
	}
	fmt.Fprintf(c.Out, "%s\n%s, if written: %s\n", at, sum.Size(), sum.Count())
	return errors.Join(errs...)
}

// ask settles the conflicts of the items on the terminal. Without a terminal they stay conflicts,
// as with --policy=strict. The error ends the run.
func (c *call) ask(ctx context.Context, s *session) error {
	if !c.asks() || s.Failed() != nil || !ask.Needed(s.Plan) {
		return nil // nothing will be written, or there is no question
	}
	t := term.Open(c.In, c.ErrOut, c.readsStdin())
	if t == nil {
		const text = "there is no terminal to ask on; conflicts are left to you, as with --policy=strict"
		return c.remark(diff.Note{Object: "--policy=ask", Kind: noteProblem, Message: text}, "note: --policy=ask: "+text)
	}
	defer t.Close()
	a := ask.Asker{
		Terminal: t, Out: t.Out, Color: c.coloredErr(), Width: term.Width(t.Out),
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
	t := term.Open(c.In, c.ErrOut, c.readsStdin())
	if t == nil {
		return &exit{Code: conflicted, Err: fmt.Errorf("%s: nothing was written or deleted: look at them with %s, and confirm with --yes", why, look)}
	}
	defer t.Close()
	fmt.Fprintln(t.Out, why+":")
	for _, item := range run.Deletions(plan.Others) {
		fmt.Fprintln(t.Out, "  "+escape.Line(item.Target.String()))
	}
	answer, err := t.Prompt(ctx, "Delete them [y,N]? ")
	if err == nil && !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
		err = ask.ErrNo
	}
	return c.quit(err)
}
