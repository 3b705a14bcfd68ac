package cli

import (
	"cmp"
	"context"
	"errors"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/guard"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

const mergeLong = `Merge files into what the cluster holds, field by field, and apply the result.
The three sides are what was applied last (original), the file (local) and the cluster (live).
What local states is set; what it has dropped since original is removed.
What others have set stays, unless a line on stderr reports it.

Exit codes: 0 done; 1 an error; 3 left to you, such as a conflict; 4 not ready (--wait).
Of diff and drift: 0 no differences, 1 differences, 2 an error.`

const mergeExample = `  kubectl merge diff -f web.yaml             # preview: what would change
  kubectl merge -f web.yaml                  # apply
  kubectl merge -f web.yaml --live live.yaml # without a cluster`

// mergeRow is the main verb: it merges local into live and applies the result.
var mergeRow = verb{
	use: "kubectl-merge (-f FILE | -k DIRECTORY)", short: "Three-way merge of local objects into a cluster", long: mergeLong, example: mergeExample, inputs: "merge",
	takes: func(c *call) error { return unknownVerb(c.cmd, c.args) },
	run:   (*call).merge,
}

func (c *call) merge(ctx context.Context) error {
	if !c.hasInput() && c.cmd.Flags().NFlag() == 0 {
		return c.usage("must specify one of -f and -k; -f - reads standard input")
	}
	rec := &recording{call: c}
	if err := errors.Join(rec.check(), c.openAsker(c.readsStdin()), c.readPlan(ctx)); err != nil {
		return err
	}
	t, err := c.results(ctx)
	if err != nil {
		return err
	}
	r, err := c.mergeRequest(ctx)
	if err != nil {
		return err
	}
	s, err := t.begin(ctx, r)
	if err != nil {
		return err
	}
	c.waitAfter(s)
	c.holdNamed(s, t.notes.set())
	if err := rec.open(ctx, s); err != nil {
		return err
	}
	c.finish(ctx, s.Plan, s.Send, t.item)
	c.unusedKinds(s.Plan, t.notes.set())
	return rec.end(ctx, s, c.guarded(c.bound.ended(t.end(ctx, s))))
}

// mergeRequest returns the run that the flags ask for, without the destination of its notes.
func (c *call) mergeRequest(ctx context.Context) (request, error) {
	r, err := c.request(ctx)
	if err != nil {
		return r, err
	}
	if c.waits != waitNone {
		r.Recreate.Within = c.timeout
	}
	if !c.given("concurrency") {
		r.Adapt = r.from.atOnce
	}
	if r.Needs = c.needs(); r.Needs == run.Outcomes && (c.bound.plan != nil || c.recorded() || c.interactive) {
		r.Needs = run.Changes // they are compared, or recorded, whole
	}
	r.Preflight, r.Partial, r.Bind, r.Shown, r.Asked = c.preflight, c.partial, c.bound.bind(), c.oneByOne(), c.interactive
	r.Write.DryRun, r.Writes = c.mode == dryServer, c.mode == dryNone
	return r, nil
}

// agreed returns an error unless all agree to the run before anything is written: the plan that it
// is bound to, the guard, and the user about conflicts and deletions.
func (t *results) agreed(ctx context.Context, s *session) error {
	err := t.bound.check(ctx, s, t.notes)
	if err == nil {
		err = t.checkGuard(ctx, s, t.notes)
	}
	if err == nil {
		err = t.ask(ctx, s)
	}
	switch {
	case err != nil:
	case !t.interactive:
		err = t.confirm(ctx, s.Plan, "kubectl merge diff --prune")
	default:
		if err = t.review(ctx, s, false); err == nil {
			err = t.bound.confirmed(s)
		}
	}
	return err
}

// noteGuard is the kind of a note about who else manages an object or a field.
const noteGuard diff.NoteKind = "guard"

// checkGuard reports who else manages the objects to be written. With --guard=refuse, other managers are
// an error with exit code 3; that of a preview is kept for its end.
func (c *call) checkGuard(ctx context.Context, s *session, notes *reporter) error {
	if c.guard == "off" {
		for _, item := range s.Items {
			if item.Guards != nil {
				item.Own()
				item.Guards = nil
			}
		}
		return nil
	}
	if s.api != nil {
		s.Guard(ctx, s.api)
	}
	objects, found := 0, []diff.Note(nil)
	for _, item := range s.Items {
		if len(item.Guards) > 0 && item.Err == nil {
			objects++
			for _, n := range guardNotes(item) {
				notes.hint(n)
				found = append(found, n)
			}
		}
	}
	if objects == 0 || c.guard != "refuse" {
		return nil
	}
	what := diff.Count(objects, "object is", "objects are") + " managed by somebody else, too"
	c.refused = &exit{Code: conflicted, Err: &guardError{errors.New("--guard=refuse: " + what + ": nothing was written: see the notes, or merge with --guard=warn"), found}}
	if c.mode == dryNone && s.Failed() == nil {
		return c.refused
	}
	return nil
}

// guardError is the error of --guard=refuse, with all that others manage.
type guardError struct {
	error
	found []diff.Note
}

// guarded returns the error that a verb ends with: its own, otherwise that of a refused preview.
func (c *call) guarded(err error) error {
	return cmp.Or(err, c.refused)
}

func guardNotes(item *run.Item) []diff.Note {
	return each(item.Guards, func(f guard.Finding) diff.Note {
		return diff.Note{Object: item.Target.String(), Namespace: item.Target.Namespace, Kind: noteGuard, Path: f.Path, Message: escape.Line(f.Text)}
	})
}
