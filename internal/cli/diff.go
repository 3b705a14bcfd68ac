package cli

import (
	"context"
	"errors"

	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

const diffLong = `Show what a merge would change in the cluster, as a unified diff of live against the
result. Without a file, what was applied last is used as local. Needs only permission to
get the objects. The values of Secrets are not shown.

With --dry-run=server the server is asked what it would make of the result, with its
defaults and webhooks; that needs permission to write, and writes nothing.

-o prints another report instead of the diff; -o plan prints one that a run can be bound to
with --plan.

KUBECTL_EXTERNAL_DIFF names a program, and its arguments, that shows the differences between
two folders instead. It has to exit with 0 for none, 1 for some, and more for errors.

Exit code 0: nothing would change; 1: something would; 2: an error; 3: conflicts are left.`

const diffExample = `  kubectl merge diff -f web.yaml
  kubectl merge diff deployment/web
  kubectl merge diff -f web.yaml -o plan > plan.yaml
  kubectl merge diff -f web.yaml --live live.yaml
  KUBECTL_EXTERNAL_DIFF="colordiff -N -u" kubectl merge diff -f web.yaml`

// Unlike kubectl: it merges here rather than in a dry run of the server, so that permission to get
// the objects is enough.
var _ = registerVerb(verb{
	use: "diff (-f FILE | -k DIRECTORY | TYPE/NAME...)", short: "Show what a merge would change in the cluster", long: diffLong, example: diffExample,
	inputs: "diff", previews: true, failure: diffFailed, args: objectArgs, takes: (*call).checkNamed, run: (*call).diff, sum: (*call).printed,
})

// diff runs the verb; on a terminal, its output is shown page by page.
func (c *call) diff(ctx context.Context) error {
	done := c.page()
	differs, left, err := c.differs(ctx)
	err = c.guarded(errors.Join(err, done()))
	switch {
	case err == nil && left > 0:
		return &exit{Code: conflicted}
	case err == nil && differs:
		return &exit{Code: failed}
	}
	return err
}

// planned returns the run whose report is printed, with the conflicts that the user has settled.
func (c *call) planned(ctx context.Context, notes *reporter, render run.Render) (*session, error) {
	r, err := c.request(ctx)
	if err != nil {
		return nil, err
	}
	r.note, r.Render = notes.set(), render
	s, err := c.open(ctx, r)
	if err == nil {
		err = c.misspelt(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	return s, errors.Join(c.checkGuard(ctx, s, notes), c.ask(ctx, s), c.confirm(ctx, s.Plan, "kubectl merge diff --prune"))
}

// differs prints the diff, or another report, of every object, even if others have errors. left
// counts the objects that are left to the user.
func (c *call) differs(ctx context.Context) (differs bool, left int, err error) {
	notes := c.reporter()
	out, err := c.printer(ctx)
	if err != nil {
		return false, 0, err
	}
	s, err := c.planned(ctx, notes, rendering(out, notes, c.mode))
	if err == nil {
		err = out.begin(ctx, s)
	}
	if err != nil {
		return false, 0, err
	}
	t := &results{call: c, out: out, notes: notes}
	c.finish(ctx, s.Plan, s.Preview, func(item *run.Item) {
		differs = differs || item.Action().Writes()
		t.item(item)
	})
	left = t.close(ctx, s, outcome.Ended{Plan: s.Plan, DryRun: true})
	if d, ok := out.(*differ); ok {
		differs = d.differs
	}
	return differs, left, errors.Join(s.Failed(), errors.Join(t.errs...))
}
