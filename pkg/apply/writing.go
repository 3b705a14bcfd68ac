package apply

import (
	"context"
	"errors"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/ownership"
)

// Writing is how objects are written, and so where what was applied last is to be found the
// next time. The merge between the two is the same. There are ClientSide and ServerSide.
type Writing interface {
	// sides are the sides of a merge, and the type of the object.
	sides(ctx context.Context, m merging) (sides, error)

	// stamp completes a merged plan by what is to be written.
	stamp(p *Planned, known sides) error
}

// writing is how the planner's objects are written.
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
	local any // as it is to be merged
	live  map[string]any
}

// sides are what is merged, and how it was found.
type sides struct {
	merge.Triple
	typ        *merge.Type
	problem    string // reported; "" for none
	fromOwners bool   // original was worked out from managedFields

	server *serverSides // nil for ClientSide
}

// triple has the sides that do not depend on how the object is written.
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

// stamp puts the annotation on the result and determines what is to be done.
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

// stamped is the result with local as what was applied last. Where the policy has withheld a change
// that only local has made, what was applied last stays as live has it: the change was not written,
// and has to be one the next time.
func (p *Planned) stamped() (any, error) {
	if slices.ContainsFunc(p.Settled, func(d merge.Disagreement) bool {
		return d.Kind == merge.Update && d.Winner == merge.LiveSide && d.Rule == ""
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

// finish sets what is to be stored.
func (p *Planned) finish(final any) error {
	obj, ok := final.(map[string]any)
	if !ok {
		return errors.New("is no object after the merge: look at the strategy and the rules given")
	}
	p.Final = obj
	return nil
}
