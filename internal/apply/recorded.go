package apply

import (
	"context"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Recorded writes what changes as a patch, as ClientSide does, and leaves kubectl's annotation as
// it is. What was applied last is kept in another annotation, or by the caller.
type Recorded struct {
	Annotation string // its key; "" for none
	Text       string // Planned.Record of the last plan, where Annotation is ""
}

// before returns what was recorded before.
func (r Recorded) before(live map[string]any) string {
	if r.Annotation != "" {
		return merge.At[string](live, "metadata", "annotations", r.Annotation)
	}
	return r.Text
}

func (r Recorded) sides(ctx context.Context, m merging) (sides, error) {
	if m.live == nil {
		return m.since(ctx, original{})
	}
	read := lastapplied.With(lastapplied.Without(m.live), r.before(m.live)).(map[string]any)
	was := annotated(read)
	if was.problem != "" {
		was.problem = strings.ReplaceAll(lastapplied.Read(read).Flaw(), lastapplied.Annotation, "what was recorded") + ": nothing is removed because of it"
	}
	return m.since(ctx, was)
}

// stamp puts the record where the next plan finds it.
func (r Recorded) stamp(p *Planned, _ sides) (err error) {
	final, _ := p.Result.(map[string]any)
	if p.Record, err = p.record(r.before(p.Live), merge.Without(final, "metadata", "annotations", r.Annotation)); err != nil {
		return err
	}
	if text := merge.At[string](p.Live, "metadata", "annotations", lastapplied.Annotation); text != "" {
		final = merge.With(final, text, "metadata", "annotations", lastapplied.Annotation)
	}
	if r.Annotation != "" && p.Record != "" {
		final = merge.With(final, p.Record, "metadata", "annotations", r.Annotation)
	}
	return p.complete(final)
}
