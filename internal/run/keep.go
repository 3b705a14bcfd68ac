package run

import (
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
)

// Needs says what of the items has to be there until the run ends. Of an object whose
// merge has something to report, all sides are.
type Needs uint8

// What is needed.
const (
	Everything Needs = iota // local, live and result
	Changes                 // the same, of objects that a merge changes
	Outcomes                // what becomes of each, and what is to be sent until it is
)

// lighten puts away what Needs does not ask for.
func (p *Plan) lighten(item *Item) error {
	planned := item.Planned
	if p.Needs == Everything || p.Needs == Changes && planned.Action != apply.Nothing || tells(planned) || item.consulted() {
		// Conflicts are asked about, and reported twice.
		if p.shelf && len(planned.Conflicts) == 0 && !item.consulted() {
			return item.putOnShelf()
		}
		item.Object = planned.Subject.Object
		return nil
	}
	prepared, err := planned.Prepare()
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
func (p *Plan) outcome(out write.Result) write.Result {
	if p.Needs == Outcomes {
		out.Object = nil
	}
	return out
}

// putAway drops what was needed to tell of an item. A conflict is told of once more
// at the end.
func (p *Plan) putAway(item *Item) {
	if p.Needs != Outcomes && item.away == nil || item.consulted() || len(item.Result.Planned.Conflicts) > 0 {
		return
	}
	item.drop()
}
