package cli

import (
	"github.com/kubectl-merge/kubectl-merge/internal/impact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

// The kinds of notes about what a run does to what runs in the cluster.
const (
	noteImpact diff.NoteKind = "impact"
	noteStale  diff.NoteKind = "stale" // pods keep old values of a ConfigMap or Secret
)

// impact reports what a preview would do to an object, unless that is what its outcome
// line has already: outcome. That an object was deleted and created again is reported by a run, too.
func (t *reporter) impact(item *run.Item, outcome string) {
	i := item.Impact()
	if t.quiet || !t.preview && i.Word != impact.Recreated || i.Word == impact.None || i.String() == outcome {
		return
	}
	t.note("note", diff.Note{Object: item.Target.String(), Namespace: item.Target.Namespace, Kind: noteImpact, Message: escape.Line(i.String())})
}

// stale reports pods that keep old values of what the run changes.
func (t *reporter) stale(p *run.Plan) {
	if t.quiet {
		return
	}
	for _, s := range p.Stale() {
		t.note("note", diff.Note{Object: s.Object, Namespace: s.Namespace, Kind: noteStale, Message: escape.Line(s.String())})
	}
}
