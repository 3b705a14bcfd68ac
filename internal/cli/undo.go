package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/undo"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

const undoLong = `Undo what a run has written, from its record (kubectl merge --record FILE).

It is a three-way merge: original is what the run wrote, local what was there before, and
live what is there now. What others have done since stays. Values that they have changed,
too, are conflicts, which --policy decides: strict (the default) writes nothing then, live
keeps theirs, apply restores what was there before.

Objects that the run has created are deleted if only the run has changed them; those that it
has deleted are created again as they were configured. The last-applied configuration is
restored as well.

Exit code 0: it is undone, but for what --policy=live or apply leaves and a note reports; 1: an error;
3: something is left to you.`

const undoExample = `  kubectl merge -f web.yaml --record run.yaml

  # See what would be undone, and undo it
  kubectl merge undo run.yaml --dry-run -o diff
  kubectl merge undo run.yaml`

var _ = registerVerb(verb{
	use: "undo FILE", short: "Undo what a run with --record has written", long: undoLong, example: undoExample, args: anyFile,
	takes: exactly(1, func(c *call) error {
		return fmt.Errorf("name one record, as an argument, which is undone as a whole: %s", c.cmd.UseLine())
	}),
	run: func(c *call, ctx context.Context) error { return (&undoing{call: c}).file(ctx, c.args[0]) },
})

var _ = registerFlags(flagRow{verbs: "undo", name: "filename", short: "f", advice: "the record is an argument: kubectl merge undo FILE"})

// undoing undoes one record.
type undoing struct {
	*call
	doc        *plandoc.Document
	name       string                   // of the record's file
	rolledBack map[string]write.Outcome // by the names of objects, of a run that has failed; nil: undo of a record
	omitted    []string                 // objects left unchanged by --partial
	kept       bool                     // something that was set since is kept
	waiting    []string                 // whose finalizers have been reported
}

const takesRecord = "undo takes the record of a run, which --record writes"

// unrepeatable says what to do about an unusable record.
const unrepeatable = "a record is made by kubectl merge --record FILE while it writes: of a damaged one use a copy, or set back by hand what can still be read in it"

func (u *undoing) file(ctx context.Context, name string) (err error) {
	if u.doc, err = readPlan(ctx, name, advice{takesRecord, takesRecord, unrepeatable}); err != nil {
		return err
	}
	u.name = name
	if !u.doc.Record {
		return fmt.Errorf("%s: is a plan and no record: a record is made by kubectl merge --record FILE", name)
	}
	for _, item := range u.doc.Items {
		if ns := u.offlineNamespacing(); ns.Enforce && item.Namespace != "" && item.Namespace != ns.Default {
			return fmt.Errorf("%s: %s: %s/%s is of the namespace %s: leave -n out, since a record has the namespaces of its objects", ns.Of, name, strings.ToLower(item.Kind), item.Name, item.Namespace)
		}
	}
	return u.run(ctx)
}

// stopped is the error of an undo that writes nothing: others have changed values of the run since.
// lost states that no policy helps with what is left.
func (u *undoing) stopped(lost bool, conflicts int) error {
	text, several := "nothing was written", len(u.doc.Executed()) > 1
	if !lost && (conflicts > 0 || several) {
		text += ": --policy=live leaves what others have done, and undoes the rest"
	}
	if conflicts > 0 {
		text += "; --policy=apply sets back what was there before the run"
	}
	if several && !u.partial {
		text += "; --partial undoes the other objects"
	}
	return &exit{Code: conflicted, Err: errors.New(text)}
}

func (u *undoing) run(ctx context.Context) error {
	rec := &recording{call: u.call}
	if err := errors.Join(u.openAsker(false), rec.check()); err != nil {
		return err
	}
	t, err := u.results(ctx)
	if err != nil {
		return err
	}
	if u.partial {
		if err := u.except(ctx, t.notes); err != nil {
			return err
		}
	}
	s, plan, err := u.open(ctx, u.mode)
	if err != nil {
		return err
	}
	s.Merge(ctx)
	u.line.End()
	known := plan.Left()
	left, all := u.left(t.notes, known), slices.Concat(s.Items, s.Others)
	if left > 0 && u.policy == "strict" && s.Failed() == nil {
		conflicts := u.conflicts(t.notes, s.Items)
		return t.refuses(ctx, s, all, u.stopped(conflicts == 0 && !slices.ContainsFunc(known, func(l undo.Left) bool { return !l.Lost }), conflicts))
	}
	if err = u.review(ctx, s, true); err == nil && u.interactive {
		err = u.bound.confirmed(s)
	}
	if err == nil {
		err = t.out.begin(ctx, s)
	}
	if err == nil {
		err = rec.open(ctx, s)
	}
	if err != nil {
		return err
	}
	u.finish(ctx, s.Plan, s.Send, func(item *run.Item) { u.item(t, item) })
	ended := t.ended(s, nil, all)
	t.errs = append(t.errs, t.out.ended(ended), t.out.close(ctx))
	conflicts := u.conflicts(t.notes, s.Items)
	left += len(u.omitted) + conflicts + u.skipped(t.notes, s.Plan) + u.left(t.notes, append(plan.Left()[len(known):], u.unrestored(s.Items)...))
	if u.rolledBack == nil {
		t.notes.summary(outcome.Summarize(ended))
	}
	err = u.bound.ended(errors.Join(s.Failed(), errors.Join(t.errs...)))
	if left > 0 && (err == nil || held(err)) {
		err = &exit{Code: conflicted, Err: s.Failed()}
		if conflicts > 0 && u.policy == "strict" && !u.partial {
			err = u.stopped(false, conflicts)
		}
	}
	u.idle(t.notes, s.Plan, err)
	return rec.end(ctx, s, err)
}

// open returns the run that undoes the record, before it is merged.
func (u *undoing) open(ctx context.Context, mode dryRun) (*session, *undo.Undo, error) {
	policy, err := merge.PolicyNamed(u.policy)
	if err != nil {
		return nil, nil, err
	}
	api, err := u.connect()
	if err != nil {
		return nil, nil, err
	}
	shown, _ := printerNamed(u.output)
	docs := &apply.Documents{Fetch: api.OpenAPI, Definition: api.Definition}
	rules := &apply.UserRules{Rules: u.doc.Rules, Values: u.secretValues()}
	plan := &undo.Undo{
		Record: u.doc, Except: u.omits, API: api, Live: &live.Server{API: api},
		Planner:  &apply.Planner{Policy: policy, Manager: u.manager, Schemas: docs.Type, Rules: rules, Trace: shown.traces},
		Note:     u.noteOnce,
		Contents: (&prune.Set{API: api, Limit: u.concurrency}).Contents,
		Cover: func(ctx context.Context, id string, members []applyset.Member) error {
			return u.cover(ctx, api, id, members)
		},
	}
	job := &run.Job{
		Live: plan.Live, API: api, Planner: plan.Planner, Invalidate: docs.Forget, Concurrency: u.concurrency, Preflight: true, Needs: run.Changes, Shown: true, Asked: u.interactive,
		Write: cluster.Write{FieldManager: u.manager, FieldValidation: fieldValidation[apply.Strict], DryRun: mode == dryServer, For: cluster.Undoing},
	}
	s := &session{api: api, Plan: &run.Plan{Job: job}}
	u.line = u.progress(ctx)
	job.Progress = func(phase run.Phase, done, total int) { u.line.Note(string(phase), done, total) }
	if err := s.checkCluster(ctx, u.doc.Cluster); err != nil {
		if down, ok := errors.AsType[*cluster.Unreachable](err); ok {
			return nil, nil, down // no fault of the record
		}
		return nil, nil, &exit{Code: conflicted, Err: fmt.Errorf("the record %w: nothing was written", err)}
	}
	api.Refresh(ctx) // with outdated discovery, an object of an upgraded kind seems to be gone
	s.Plan, err = plan.Plan(ctx, job)
	planned := job.Plans
	job.Plans = func(ctx context.Context, item *run.Item, live map[string]any) (apply.Planned, error) {
		p, err := planned(ctx, item, live)
		rules.Values.Add(p.Final) // these may be only in the record
		return p, err
	}
	return s, plan, err
}

// item prints the outcome of an item.
func (u *undoing) item(t *results, item *run.Item) {
	if item.Result.Outcome == write.Pruned {
		item.Own()
		item.Result.Outcome = write.Deleted
	}
	switch a := item.Action(); {
	case a == apply.Failed, a == apply.Keep, !t.prints(item):
		return
	case u.rolledBack != nil && item.Result.Outcome != write.Unchanged:
		u.rolledBack[item.Target.String()] = item.Result.Outcome
		u.note(item.Target.String(), "rolled back: "+string(item.Result.Outcome))
	}
	t.notes.problems(item)
	report := reportOf(item.Result.Planned, u.secrets)
	for _, n := range diff.Notes(report) {
		u.kept = u.kept || n.Winner == merge.LiveSide && n.Moved != 0
		word, kind := outcomeOf(n, item), "Warning"
		if n.Winner != merge.LiveSide {
			kind = "note"
		}
		if word == "" || u.quiet && kind == "note" {
			continue
		}
		text := n.Path.String() + ": " + shownSide(n.Live) + " " + word
		if d := since(n); d != "" {
			text += "; changed since: " + d
		}
		t.notes.note(kind, diff.Note{Object: n.Object, Namespace: n.Namespace, Kind: n.Kind, Message: text})
	}
	if u.rolledBack != nil || item.Result.Outcome == write.Unchanged && (u.output == "" || item.Result.Object == nil) {
		return
	}
	if err := t.out.printObject(item); err != nil {
		t.errs = append(t.errs, &run.ObjectError{Target: item.Target, Err: err})
	}
}

// unrestored returns the values that were sent to be restored, and that the server has not stored. One that was sent
// to be removed, and is there again, may be the server's own: it is kept.
func (u *undoing) unrestored(items []*run.Item) (left []undo.Left) {
	for _, item := range items {
		for _, at := range slices.Concat(item.Result.Restored, item.Result.Unstored) {
			if _, sent := merge.Lookup(item.Result.Planned.Final, at, item.Result.Planned.Type); !sent {
				u.kept = true
				continue
			}
			left = append(left, undo.Left{Target: item.Target, Value: at.String(), Reason: "the server does not store it as it was before the run", Lost: true})
		}
	}
	return left
}

// outcomeOf describes what an undo does about the value of a note; "" if only the server had set it,
// or only the run.
func outcomeOf(n diff.Note, item *run.Item) string {
	p := item.Result.Planned
	_, there := merge.Lookup(p.Live, n.Path, p.Type)
	switch {
	case n.Moved == 0 && (n.Cause != merge.CauseDisplaced || n.Own || there && n.Owner == nil):
		return ""
	case n.Moved == 0:
		return "is left out: " + n.Excluding() + " excludes it"
	case slices.ContainsFunc(item.Answers, func(a apply.Answer) bool { return a.Path.String() == n.Path.String() }):
		return "stays: you left it as it is"
	case n.Winner == merge.LiveSide:
		return "stays, as others have set it since"
	case !n.Local.Set:
		return "is removed, as it was not there before"
	}
	return "is overwritten with what was there before"
}

// since names what others have changed in a list, map or text that is too long for the line; "" for any other value.
func since(n diff.Note) string {
	if !n.Original.Set || !n.Live.Set {
		return ""
	}
	return diff.Difference(n.Original.Value, n.Live.Value)
}

func shownSide(o merge.Opt) string {
	if !o.Set {
		return "nothing"
	}
	return plandoc.Inline(o.Value)
}
