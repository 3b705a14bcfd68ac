package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/undo"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// except finds the objects that --partial leaves unchanged, so that the others are undone: those
// that --policy=strict leaves to the user, and those that the server refuses in a trial. It reports
// each.
func (u *undoing) except(ctx context.Context, notes *reporter) error {
	trial := dryServer
	if u.mode == dryClient {
		trial = dryClient
	}
	for found := true; found; {
		s, plan, err := u.open(ctx, trial)
		if err != nil {
			return err
		}
		s.Merge(ctx)
		u.line.End()
		found = u.unsettled(notes, s, plan)
		if u.mode == dryClient {
			return s.Failed()
		}
		if found {
			continue
		}
		s.Send(ctx, func(*run.Item) {})
		u.line.End()
		found = u.refused(notes, s)
	}
	return nil
}

// unsettled adds the objects for which the policy leaves a value to the user.
func (u *undoing) unsettled(notes *reporter, s *session, plan *undo.Undo) (found bool) {
	if u.policy != "strict" {
		return false
	}
	for _, l := range plan.Left() {
		u.left(notes, []undo.Left{l})
		found = u.omit(l.Target) || found
	}
	for _, item := range s.Items {
		if u.conflicts(notes, []*run.Item{item}) > 0 {
			found = u.omit(item.Target) || found
		}
	}
	return found
}

// refused adds the objects that the server refuses.
func (u *undoing) refused(notes *reporter, s *session) (found bool) {
	for _, item := range slices.Concat(s.Items, s.Others) {
		if item.Err != nil && !errors.As(item.Err, new(*run.NotReached)) && u.omit(item.Target) {
			found = true
			u.left(notes, []undo.Left{{Target: item.Target, Reason: "is refused: " + escape.Line(strings.TrimPrefix(item.Err.Error(), item.Target.String()+": ")), Lost: true}})
		}
	}
	return found
}

// omit leaves an object unchanged. It is false if it is omitted already.
func (u *undoing) omit(t cluster.Target) bool {
	if u.omits(t) {
		return false
	}
	u.omitted = append(u.omitted, omittedKey(t))
	return true
}

func (u *undoing) omits(t cluster.Target) bool { return slices.Contains(u.omitted, omittedKey(t)) }

func omittedKey(t cluster.Target) string { return t.Namespace + " " + t.String() }

// noteOnce reports the finalizers that delay an object's deletion: with --partial it is decided
// about more than once.
func (u *undoing) noteOnce(t cluster.Target, text string) {
	if key := omittedKey(t); !slices.Contains(u.waiting, key) {
		u.waiting = append(u.waiting, key)
		u.note(t.String(), text)
	}
}

// idle reports, for a run that has ended with err, that there was nothing to undo.
func (u *undoing) idle(notes *reporter, p *run.Plan, err error) {
	all := slices.Concat(p.Items, p.Others)
	if err != nil || u.rolledBack != nil || len(u.waiting) > 0 || slices.ContainsFunc(all, func(i *run.Item) bool { return i.Result.Outcome != write.Unchanged }) {
		return
	}
	text := "nothing to undo: everything is as it was before the run"
	if len(all) == 0 && len(u.doc.Executed()) == 0 {
		text = "nothing to undo: the run has written nothing"
	}
	if u.kept {
		text = "nothing was undone: what the run has written is not there any more, or left as it is"
	}
	notes.set()(u.name, text)
}

// left reports values that are not undone, and counts those that the policy leaves to the user.
func (u *undoing) left(notes *reporter, all []undo.Left) (n int) {
	u.kept = u.kept || len(all) > 0
	for _, l := range all {
		word := "Warning"
		if l.Lost || u.policy == "strict" {
			word = "error"
			n++
		}
		text := "is not undone: " + l.Reason
		if l.Value != "" {
			text = l.Value + ": " + text
		}
		notes.note(word, diff.Note{Object: l.Target.String(), Namespace: l.Target.Namespace, Kind: noteKept, Message: escape.Line(text)})
	}
	return n
}

// skipped reports objects that the user left unchanged, and counts them.
func (u *undoing) skipped(notes *reporter, p *run.Plan) (n int) {
	for _, item := range slices.Concat(p.Items, p.Others) {
		if item.Skipped {
			n++
			notes.note("note", diff.Note{Object: item.Target.String(), Namespace: item.Target.Namespace, Kind: noteKept, Message: item.Reason()})
		}
	}
	return n
}

// conflicts reports the values that others have changed since, and counts the objects.
func (u *undoing) conflicts(notes *reporter, items []*run.Item) (objects int) {
	for _, item := range items {
		p := item.Planned
		if len(item.Result.Planned.Conflicts) > 0 {
			p = item.Result.Planned
		}
		all := diff.Conflicts(reportOf(p, u.secrets))
		if len(all) > 0 {
			objects++
		}
		for _, n := range all {
			by := ""
			if name := diff.OwnerName(n.Owner); name != "" {
				by = " (" + name + ")"
			}
			text := fmt.Sprintf("%s: live has %s%s, the run wrote %s, and there was %s before", n.Path, shownSide(n.Live), by, shownSide(n.Original), shownSide(n.Local))
			if d := since(n); d != "" {
				text = fmt.Sprintf("%s: what the run wrote was changed since%s: %s", n.Path, by, d)
			}
			notes.note("error", diff.Note{Object: n.Object, Namespace: n.Namespace, Kind: diff.NoteConflict, Message: strings.TrimSpace(text)})
		}
	}
	return objects
}

// cover makes the parent of the set with that id list the kinds and namespaces of members. A set
// that is not found is reported: the objects are members of none.
func (u *undoing) cover(ctx context.Context, api *cluster.Cluster, id string, members []applyset.Member) error {
	parent := setFlags{}
	if s := u.doc.Set; s != nil && s.ID == id {
		parent = setFlags{name: s.Parent, namespace: s.Namespace}
	} else if set, found, err := prune.ByID(ctx, api, id); err == nil && found {
		parent = setFlags{name: set.String(), namespace: set.Namespace}
	} else {
		u.note(u.name, "objects of the set "+id+" are restored, and its parent is not found: no run prunes them until they are applied as part of a set")
		return err
	}
	set, err := u.readSet(ctx, parent, api)
	if err != nil {
		return err
	}
	set.Note = u.note
	return set.Cover(ctx, members)
}
