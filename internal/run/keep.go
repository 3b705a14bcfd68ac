package run

import (
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
)

// Keep says what of the items is to be there until the run ends. An object whose
// merge has something to tell is always kept, with all of its sides.
type Keep uint8

// What is kept.
const (
	Everything Keep = iota // local, live and result
	Changes                // the same, of objects that a merge changes
	Outcomes               // what becomes of each, and what is to be sent until it is
)

// lighten puts away what Keep does not ask for.
func (j *Job) lighten(item *Item) error {
	p := item.Planned
	if j.Keep == Everything || j.Keep == Changes && p.Action != apply.Nothing || tells(p) || item.consulted() {
		// Conflicts are asked about, and told of twice.
		if j.shelf && len(p.Conflicts) == 0 && !item.consulted() {
			return item.putOnShelf()
		}
		item.Object = p.Subject.Object
		return nil
	}
	prepared, err := p.Prepare()
	if err != nil {
		return err
	}
	item.Object = item.Object.Packed()
	prepared.Subject.Object = item.Object
	item.Planned = prepared
	return nil
}

// consulted: what it was and what it becomes says what other objects wait for.
func (i *Item) consulted() bool {
	switch kindOf(i.Target.Resource) {
	case "Namespace", "apiextensions.k8s.io/CustomResourceDefinition", "admissionregistration.k8s.io/ValidatingWebhookConfiguration", "admissionregistration.k8s.io/MutatingWebhookConfiguration":
		return true
	}
	return false
}

// tells: there is a note on values, or a conflict, for which the sides are needed.
func tells(p apply.Planned) bool {
	return len(p.Conflicts)+len(p.Settled)+len(p.Removed)+len(p.Undecided) > 0
}

// outcome is what is kept of what became of an item.
func (j *Job) outcome(out write.Result) write.Result {
	if j.Keep == Outcomes {
		out.Object = nil
	}
	return out
}

// putAway drops what was needed to tell of an item. A conflict is told of once more
// at the end.
func (j *Job) putAway(item *Item) {
	if j.Keep != Outcomes && item.away == nil || item.consulted() || len(item.Result.Planned.Conflicts) > 0 {
		return
	}
	item.drop()
}
