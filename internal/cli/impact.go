package cli

import (
	"github.com/kubectl-merge/kubectl-merge/internal/impact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

// The kinds of notes about the effects of a run on pods in the cluster.
const (
	noteImpact diff.NoteKind = "impact"
	noteStale  diff.NoteKind = "stale" // pods keep old values of a ConfigMap or Secret
)

// impact reports the effects of a preview on an object, unless outcome, its outcome line, has them
// already. A run also reports that an object was deleted and created again.
func (t *reporter) impact(item *run.Item, outcome string) {
	i := item.Impact()
	if t.quiet || !t.preview && i.Word != impact.Recreated || i.Word == impact.None || i.String() == outcome {
		return
	}
	t.note("note", diff.Note{Object: item.Target.String(), Namespace: item.Target.Namespace, Kind: noteImpact, Message: escape.Line(i.String())})
}

// stale reports pods that keep old values of objects that the run changes.
func (t *reporter) stale(p *run.Plan) {
	if t.quiet {
		return
	}
	for _, s := range p.Stale() {
		t.note("note", diff.Note{Object: s.Object, Namespace: s.Namespace, Kind: noteStale, Message: escape.Line(s.String())})
	}
}
