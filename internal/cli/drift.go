package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/drift"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

const driftLong = `Report how live objects differ from the files that describe them, who changed them, and
when. Without a file, objects are compared with what was applied last, or with the manifest
of a Helm release (--release). Nothing is written, and only permission to get the objects is
needed (and to get and list Secrets, for a release). Secret values are never shown.

    changed   live has another value than the file
    removed   live does not have what the file states
    added     live has a field or an entry that is not in the file, and that somebody other
              than you, the server and the control plane has set
    missing   there is no such object, or it is being deleted
    orphaned  a member of the set (--applyset) that is in no file

What the server fills in is no drift, and neither is what the rules (--rules) give to live
or ignore. docs/drift.md has more.

With --watch, drift is reported as it begins and ends, until --timeout or Ctrl-C; the exit
code is that for what differs then.

Exit code 0: no drift; 1: drift; 2: an error.`

const driftExample = `  # What differs from the files, who changed it and when
  kubectl merge drift -f web.yaml

  # What others have changed since the object was applied last
  kubectl merge drift deployment/web

  # What others have changed since Helm has installed or upgraded a release
  kubectl merge drift --release=shop

  # With the members of a set that are in no file any more, for programs
  kubectl merge drift -f sets/shop.yaml --applyset=shop -o json

  # Drift as it begins and ends, a line of JSON each
  kubectl merge drift -f web.yaml --watch -o json

  # Without a cluster: live objects from files
  kubectl merge drift -f web.yaml --live live.yaml`

var _ = registerVerb(verb{
	use: "drift (-f FILE | -k DIRECTORY | --release NAME | TYPE/NAME...)", short: "Report what differs from the files, and who changed it", long: driftLong, example: driftExample,
	inputs: "compare", previews: true, failure: diffFailed, args: objectArgs, takes: (*call).checkNamed, run: (*call).drift, sum: (*call).reports,
})

// driftOutputs returns the formats of a report.
func driftOutputs() []string {
	return each(drift.Formats, func(f drift.Format) string { return f.Name + "\t" + f.Help })
}

// drift compares all objects and prints the report, even if some have errors.
func (c *call) drift(ctx context.Context) error {
	d := &comparison{call: c, notes: c.reporter(), format: drift.FormatNamed(c.output), options: drift.Options{Width: term.Width(c.Out), Color: c.colored(), Now: time.Now()}}
	report, err := d.run(ctx)
	switch {
	case err != nil:
		return &exit{Code: diffFailed, Err: err, Ended: d.watched}
	case report.Drifted > 0:
		return &exit{Code: failed, Ended: d.watched}
	}
	return nil
}

func (c *comparison) run(ctx context.Context) (*drift.Report, error) {
	shard, err := drift.ParseShard(c.shard, os.Getenv("JOB_COMPLETION_INDEX"))
	if err != nil {
		return nil, err
	}
	c.compares()
	if c.release != "" {
		c.original = releasePrefix + c.release
		if !c.given("field-manager") {
			c.manager = "helm"
		}
	}
	r, err := c.request(ctx)
	if err != nil {
		return nil, err
	}
	r.Planner.Compare = true
	r.Needs, r.note, r.shard = run.Changes, c.notes.set(), shard
	r.Render = func(item *run.Item) any { return drift.Of(item, r.Planner.Manager) }
	if c.session, err = c.open(ctx, r); err != nil {
		return nil, err
	}
	if c.watch {
		return c.follow(ctx)
	}
	report := c.each(ctx, func(*run.Item, []drift.Row) {})
	if c.found != nil {
		c.found.report = report
	}
	return c.end(report, c.Failed(), func(r *drift.Report) error { return c.format.Write(c.Out, r, c.options) })
}

// comparison is a run whose objects are compared.
type comparison struct {
	*call
	*session
	notes   *reporter
	format  drift.Format
	options drift.Options
	watched bool // all objects were compared, and then watched
}

// each returns the report of all items, calls do for each with its rows, and prints its problems.
func (c *comparison) each(ctx context.Context, do func(*run.Item, []drift.Row)) *drift.Report {
	report := &drift.Report{}
	c.Show(ctx, func(item *run.Item) {
		if item.Err != nil {
			do(item, nil)
			return
		}
		do(item, report.Add(item, c.Planner.Manager))
		c.notes.problems(item)
	})
	c.notes.unused(c.Planner)
	return report
}

// end prints a report, with the errors of objects that could not be compared, and its summary.
func (c *comparison) end(report *drift.Report, failed error, write func(*drift.Report) error) (*drift.Report, error) {
	failures := compared(failed)
	report.Errors = lines(failures, c.secretValues())
	printed := write(report)
	if failures == nil && printed == nil && !c.quiet && c.found == nil && c.output == drift.Formats[0].Name {
		printed = c.remark(noteOf(report), report.Summary())
	}
	return report, errors.Join(failures, printed)
}

// compared returns the errors of a comparison, in which nothing would have been pruned.
func compared(err error) error {
	return errors.Join(each(leaves(err), func(one error) error {
		if errors.Is(one, run.ErrNotPruned) {
			return errors.New("orphaned members were not looked for because of that: fix it, and run it again")
		}
		return one
	})...)
}

// noteDrift is the kind of the note that summarizes a report.
const noteDrift diff.NoteKind = "drift"

func noteOf(r *drift.Report) diff.Note {
	return diff.Note{Object: "drift", Kind: noteDrift, Message: r.Summary()}
}

// driftEvery is the interval of searches for members of a set that are in no file, and of reads of
// objects that may not be watched.
const driftEvery = 10 * time.Second

// follow reports the differences, and then each change of them, until the time is over or the user
// ends it. The report is that of the end.
func (c *comparison) follow(ctx context.Context) (*drift.Report, error) {
	stream, err := c.format.Stream(c.Out, c.options)
	if err != nil {
		return nil, fmt.Errorf("--watch: --output=%s: %w", c.output, err)
	}
	w := &drift.Watcher{API: c.session.api, Manager: c.Planner.Manager, Compare: c.Compare, Every: driftEvery, Event: stream.Event, Noted: c.noted}
	if c.call.set.name != "" {
		w.Orphans = c.members
	}
	report := c.each(ctx, w.Add)
	report.Errors = lines(compared(c.Failed()), c.secretValues())
	for _, line := range report.Errors {
		c.noted(line)
	}
	if err := stream.Begin(report); err != nil || ctx.Err() != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	if w.Orphans == nil {
		c.Items = nil // the watch has its own copies
	}
	c.watched = true
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	if c.timeout == 0 && c.output != "json" {
		c.noted("watching until Ctrl-C; nothing is written: kubectl merge absorb -w takes live's values into the files")
	}
	bad := w.Watch(ctx)
	return c.end(w.Report(), errors.Join(c.Plan.Err, w.Failed(), bad), stream.End)
}

// noted prints a note about the watch as a whole.
func (c *comparison) noted(text string) { c.notes.set()("drift", c.secretValues().Blank(text)) }

// members returns the current members of the set that are in no file.
func (c *comparison) members(ctx context.Context) ([]*run.Item, error) {
	set, err := c.readSet(ctx, c.call.set, c.session.api, (*prune.Set).Existing)
	if err != nil {
		return nil, err
	}
	return (&prune.Pruner{Set: set}).Decide(ctx, c.Plan)
}
