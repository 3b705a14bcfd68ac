package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	name: "markdown", help: "a comment for a pull request", values: true, report: true, conflicts: true, kept: true, merges: true, impact: true,
	open: func(v view) (printer, error) { return newMarkdownPrinter(v), nil },
	sum:  func(v view, s several) error { return s.comment(v) },
})

// markdownPrinter prints one comment for a pull request about all objects.
type markdownPrinter struct {
	view
	comment *diff.Comment
	became  func(*run.Item) write.Outcome
}

func newMarkdownPrinter(v view) *markdownPrinter {
	return &markdownPrinter{view: v, comment: diff.NewComment(diff.MarkdownOptions{Diff: diff.Options{ShowManagedFields: v.managedFields}})}
}

func (f *markdownPrinter) begin(_ context.Context, s *session) error {
	f.became = outcome.Ended{Plan: s.Plan, DryRun: f.mode != dryNone, Refused: f.refused}.Became()
	return nil
}

// add adds an object to the comment, and to that on several contexts.
func (f *markdownPrinter) add(s diff.Section) error {
	if f.found != nil {
		f.found.sections = append(f.found.sections, s)
	}
	return f.comment.Add(s)
}

func (f *markdownPrinter) printObject(item *run.Item) error {
	if item.Action() == apply.Keep {
		return f.add(bareSection(f.became(item), keptNote(item)))
	}
	report := reportOf(item.Result.Planned, false)
	report.Preview = f.mode != dryNone
	report.Guards = guardNotes(item)
	one := diff.Section{Report: report, Doc: f.doc(item), Outcome: string(f.became(item))}
	if !f.became(item).Left() {
		one.Impact = item.Impact().String()
	}
	return f.add(one)
}

func (f *markdownPrinter) close(context.Context) error { return f.comment.Write(f.Out) }

// ended adds the objects with errors, which no printer receives one by one.
func (f *markdownPrinter) ended(e outcome.Ended) error {
	for _, item := range slices.Concat(e.Plan.Items, e.Plan.Others) {
		err := cmp.Or(item.Err, item.Late)
		if err == nil {
			continue
		}
		name := item.Target.String()
		text := strings.TrimPrefix(errorText(f.secretValues().Blank(err.Error())), name+": ")
		failed := failedSection(name, text)
		failed.Outcome, failed.Impact = string(f.became(item)), item.Impact().String()
		if err := f.add(failed); err != nil {
			return err
		}
	}
	return nil
}

// failedSection returns the part of a comment about an error.
func failedSection(name, text string) diff.Section {
	return bareSection(write.Failed, diff.Note{Object: name, Kind: noteError, Message: text})
}

// bareSection returns the part of a comment about an object of which there is a note alone.
func bareSection(became write.Outcome, n diff.Note) diff.Section {
	return diff.Section{Outcome: string(became), Report: diff.Report{Object: n.Object, Guards: []diff.Note{n}}}
}

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
	conflicts := diff.Conflicts(reportOf(item.Result.Planned, f.secrets))
	f.report.Add(item, slices.Concat(f.notes.problemsOf(item), guardNotes(item), f.notes.of(item), conflicts))
	return nil
}

// ended prints the document, or leaves that to the rollback, if there may be one.
func (f *outcomePrinter) ended(e outcome.Ended) error {
	print := func(rolledBack map[string]write.Outcome) error {
		f.report.RolledBack = rolledBack
		return f.report.Write(f.Out, e, f.secretValues())
	}
	if f.rollback && e.Refused == nil {
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

// results returns the destination of a run's results.
func (c *call) results(ctx context.Context) (*results, error) {
	out, err := c.printer(ctx)
	return &results{call: c, out: out, notes: c.reporter(), start: time.Now()}, err
}

// begin merges the run that a verb asks for, with the conflicts that the user settles, and begins its
// output. An error ends the run before its first write.
func (t *results) begin(ctx context.Context, r request) (*session, error) {
	r.note = t.notes.set()
	s, err := t.open(ctx, r)
	if err == nil {
		err = t.misspelt(ctx, s)
	}
	if err == nil {
		err = t.refuses(ctx, s, s.Items, t.agreed(ctx, s))
	}
	if err == nil {
		err = t.out.begin(ctx, s)
	}
	return s, err
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

// ended returns the run as a report of it needs it.
func (t *results) ended(s *session, refused error, about []*run.Item) outcome.Ended {
	return outcome.Ended{Plan: s.Plan, Objects: len(about), DryRun: t.mode != dryNone, Refused: refused, Took: time.Since(t.start), Target: t.aim(s.api, targetsOf(about))}
}

// refuses returns the error that ends a run before its first write. A document about the run is printed.
func (t *results) refuses(ctx context.Context, s *session, about []*run.Item, err error) error {
	if f, is := t.out.(*outcomePrinter); is && err != nil {
		s.Show(ctx, func(item *run.Item) { _ = f.printObject(item) }) // it adds to the document, which is yet to be written
		err = errors.Join(err, f.ended(t.ended(s, err, about)))
	}
	return err
}

// end returns the error of the run: errors of objects, otherwise that conflicts, or objects that
// are not pruned, are left to the user.
func (t *results) end(ctx context.Context, s *session) error {
	ended := t.ended(s, t.refused, s.Items)
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
