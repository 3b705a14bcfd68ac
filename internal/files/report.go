package files

import (
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// report records what a merge decided against dest, and its conflicts. That the
// source wins a two-way merge, and that dest keeps its own changes in a three-way
// merge, is expected and not reported.
func (w weave) report() {
	d, plan := w.d, w.plan
	triple := merge.Triple{Local: plan.Result, Original: w.was, Live: d.value()}
	found := diff.Report{
		Object: d.called(), Live: d.value(), Local: plan.Result, Voice: diff.Voice{Merged: d.file.Where(), Policy: w.Policy.Name},
		Sensitive: w.Rules.Sensitive(d.named.ruled(triple)),
		Plan:      merge.Plan{Result: plan.Result, Conflicts: plan.Conflicts},
	}
	w.out.Conflicts = append(w.out.Conflicts, diff.Conflicts(found)...)
	if w.Original == nil {
		return
	}
	for _, s := range plan.Settled {
		if s.Kind != merge.Drift {
			found.Plan.Settled = append(found.Plan.Settled, s)
		}
	}
	for _, r := range plan.Removed {
		was, ok := merge.Lookup(w.was, r.Path, w.t)
		if ok && was == nil && r.Cause == merge.CauseNull {
			r.Cause = merge.CauseStillNull
		}
		if !ok || !equal(was, r.Value) {
			found.Plan.Removed = append(found.Plan.Removed, r)
		}
	}
	w.out.Notes = append(w.out.Notes, diff.Notes(found)...)
}

// note records the decision about a whole resource.
func (m *merger) note(kind diff.NoteKind, r *resource, what string, winner merge.Side) {
	m.out.Notes = append(m.out.Notes, diff.Note{Object: r.called(), Kind: kind, Message: what, Winner: winner})
}
