package apply

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Writing says how objects are written, and so where the next run finds what was applied
// last. The merge between the two is the same. There are ClientSide, ServerSide and Recorded.
type Writing interface {
	// sides returns the sides of a merge, and the type of the object.
	sides(ctx context.Context, m merging) (sides, error)

	// stamp completes a merged plan with the write.
	stamp(p *Planned, known sides) error
}

// merging is one object to be merged.
type merging struct {
	*Planner
	Subject
	local any // in the form that is merged
	live  map[string]any
}

// sides holds what is merged, and how it was found.
type sides struct {
	merge.Triple
	typ        *merge.Type
	problem    string // reported; "" for none
	fromOwners bool   // original was read from managedFields

	server *serverSides // nil for ClientSide
}

// triple holds the sides that do not depend on how the object is written.
func (m merging) triple() merge.Triple {
	t := merge.Triple{Local: m.local, Appliers: []string{m.Manager}, Owners: ownership.Of(m.live)}
	if m.live != nil {
		t.Live = m.live
	}
	return t
}

// ClientSide writes what changes as a patch, and keeps what was applied in the last-applied
// annotation, as kubectl apply does.
type ClientSide struct{}

func (ClientSide) sides(ctx context.Context, m merging) (out sides, err error) {
	original, err := m.Original.find(m.Object, m.live)
	if err != nil {
		return out, err
	}
	return m.since(ctx, original)
}

// since returns the sides of a merge with an original.
func (m merging) since(ctx context.Context, original lastapplied.Original) (out sides, err error) {
	if out.fromOwners = original.Blanking == lastapplied.BlankAll; out.fromOwners {
		original.Value = nil
	}
	if out.typ, err = m.schema(ctx, m.Subject, original.Value, m.live); err != nil {
		return out, err
	}
	out.Triple, out.problem = m.triple(), original.Problem
	switch {
	case out.fromOwners:
		original.Value = ownership.Original(m.live, m.holders(m.live), out.typ)
	case original.State == lastapplied.OK:
		out.problem = misshapen(m.Object, original.Value, out.typ)
	}
	out.Triple.Original, out.Triple.Blanked = original.Value, original.State == lastapplied.Blanked && !out.fromOwners
	return out, nil
}

// stamp puts the annotation on the result: local is recorded as applied last.
func (ClientSide) stamp(p *Planned, _ sides) error {
	text, err := p.record(merge.At[string](p.Live, "metadata", "annotations", lastapplied.Annotation), p.Result)
	switch {
	case err != nil:
		return err
	case text == "":
		return p.complete(p.Result)
	}
	return p.complete(lastapplied.With(p.Result, text))
}

// complete sets the object to store and determines the action.
func (p *Planned) complete(final any) error {
	if err := p.finish(final); err != nil {
		return err
	}
	switch {
	case p.Live == nil:
		p.Action = Create
	case p.differs():
		p.Action = Change
	}
	return nil
}

// record returns local as it is recorded as applied last, beside the annotations of on. Where the
// policy has withheld a change that only local has made, that is what was recorded before. The
// change was not written, and has to be one the next time.
func (p *Planned) record(before string, on any) (string, error) {
	if slices.ContainsFunc(p.Settled, func(d merge.Disagreement) bool {
		_, ruled := merge.RuleAt(p.Rules, d.Path)
		return d.Kind == merge.Update && d.Winner == merge.LiveSide && !ruled
	}) {
		return before, nil
	}
	return lastapplied.Encode(p.Value, lastapplied.Options{Namespace: p.Namespace(), Type: p.Type, On: on})
}

// finish sets the object to store.
func (p *Planned) finish(final any) error {
	obj, _ := final.(map[string]any)
	if obj == nil {
		return errors.New("is no object after the merge: look at the strategy and the rules given")
	}
	p.Final = obj
	return nil
}

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
		return m.since(ctx, lastapplied.Original{})
	}
	was := lastapplied.Read(lastapplied.With(lastapplied.Without(m.live), r.before(m.live)))
	if was.Problem != "" {
		was.Problem = strings.ReplaceAll(was.Flaw(), lastapplied.Annotation, "what was recorded") + ": nothing is removed because of it"
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
