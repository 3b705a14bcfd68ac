package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/undo"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

// idle reports, for a run that has ended with err, that there was nothing to undo. Values in left
// have been reported already.
func (u *undoing) idle(notes *reporter, p *run.Plan, left []undo.Left, err error) {
	all := slices.Concat(p.Items, p.Others)
	if err != nil || u.rollback || len(u.waiting) > 0 || slices.ContainsFunc(all, func(i *run.Item) bool { return i.Result.Outcome != write.Unchanged }) {
		return
	}
	text := "nothing to undo: everything is as it was before the run"
	if len(all) == 0 && len(u.doc.Executed()) == 0 {
		text = "nothing to undo: the run has written nothing"
	}
	if u.kept || len(left) > 0 {
		text = "nothing was undone: what the run has written is not there any more, or left as it is"
	}
	notes.set()(u.name, text)
}

// left reports values that are not undone, and counts those that the policy leaves to the user.
func (u *undoing) left(notes *reporter, all []undo.Left) int {
	n := 0
	for _, l := range all {
		word := "note"
		if l.Lost || u.policy == "strict" {
			word = "error"
			n++
		}
		text := "is left as it is: " + l.Reason
		if l.Value != "" {
			text = l.Value + ": " + text
		}
		notes.note(word, diff.Note{Object: l.Target.String(), Kind: noteKept, Message: escape.Line(text)})
	}
	return n
}

// skipped reports objects that the user left unchanged, and counts them.
func (u *undoing) skipped(notes *reporter, p *run.Plan) int {
	n := 0
	for _, item := range slices.Concat(p.Items, p.Others) {
		if item.Skipped {
			n++
			notes.note("note", diff.Note{Object: item.Target.String(), Kind: noteKept, Message: item.Reason()})
		}
	}
	return n
}

// conflicts reports the values that others have changed since, and counts the objects.
func (u *undoing) conflicts(notes *reporter, items []*run.Item) int {
	objects := 0
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
			text := fmt.Sprintf("%s: live has %s%s, the run wrote %s, and there was %s before", n.Path, value(n.Live), by, value(n.Original), value(n.Local))
			notes.note("error", diff.Note{Object: n.Object, Kind: diff.NoteConflict, Message: strings.TrimSpace(text)})
		}
	}
	return objects
}
