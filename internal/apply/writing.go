package apply

import (
	"context"
	"errors"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Writing says how objects are written, and so where the next run finds what was applied
// last. The merge between the two is the same. There are ClientSide and ServerSide.
type Writing interface {
	// sides returns the sides of a merge, and the type of the object.
	sides(ctx context.Context, m merging) (sides, error)

	// stamp completes a merged plan with the write.
	stamp(p *Planned, known sides) error
}

// writing returns how the planner's objects are written.
func (p *Planner) writing() Writing {
	if p.Writing == nil {
		return ClientSide{}
	}
	return p.Writing
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
	t := merge.Triple{Local: m.local, Appliers: []string{m.Manager}}
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
	if out.typ, err = m.schema(ctx, m.Subject, original.value, m.live); err != nil {
		return out, err
	}
	if original.fromFields {
		original.value = ownership.Original(m.live, m.holders(m.live), out.typ)
	}
	out.Triple, out.problem, out.fromOwners = m.triple(), original.problem, original.fromFields
	out.Triple.Original, out.Triple.Blanked = original.value, original.blanked
	return out, nil
}

// stamp puts the annotation on the result and determines the action.
func (ClientSide) stamp(p *Planned, _ sides) error {
	final, err := p.stamped()
	if err != nil {
		return err
	}
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

// stamped returns the result with local recorded as applied last. Where the policy has
// withheld a change that only local has made, the record stays as live has it. The change
// was not written, and has to be one the next time.
func (p *Planned) stamped() (any, error) {
	if slices.ContainsFunc(p.Settled, func(d merge.Disagreement) bool {
		_, ruled := merge.RuleAt(p.Rules, d.Path)
		return d.Kind == merge.Update && d.Winner == merge.LiveSide && !ruled
	}) {
		if text := lastapplied.Read(p.Live).Text; text != "" {
			return lastapplied.With(p.Result, text), nil
		}
		return p.Result, nil
	}
	text, err := lastapplied.Encode(p.Value, lastapplied.Options{Namespace: p.Namespace(), Type: p.Type, On: p.Result})
	if err != nil {
		return nil, err
	}
	return lastapplied.With(p.Result, text), nil
}

// finish sets the object to store.
func (p *Planned) finish(final any) error {
	obj, ok := final.(map[string]any)
	if !ok {
		return errors.New("is no object after the merge: look at the strategy and the rules given")
	}
	p.Final = obj
	return nil
}
