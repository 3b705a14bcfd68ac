package apply

import (
	"errors"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Recreation returns the object to create after the live one, with which the plan was merged, has
// been deleted. It holds what local states, and what else is configured in live and stays in the
// plan, by managedFields (docs/outcomes.md#recreate). Every manager's fields count, since an
// earlier recreation made others' fields the applier's. What the server has allocated, filled in
// or written (uid, clusterIP, defaults, status), and what the control plane has set, is left out:
// the new object gets its own. It carries the plan's last-applied annotation.
//
// It is an error if nothing was merged with a live object. The error does not name the object.
func (p Planned) Recreation() (map[string]any, error) {
	if p.Live == nil || p.Final == nil {
		return nil, errors.New("there is no live object that could be replaced")
	}
	local := lastapplied.WithoutNullAnnotations(lastapplied.FoldStringData(p.Configuration(p.Value)))
	stated := merge.Three(merge.Triple{Local: local, Live: configured(p.Live, p.Type)}, p.Type, merge.Policies[0], false).Result
	final := lastapplied.Without(p.Final)
	changes := slices.DeleteFunc(merge.Diff(stated, final, p.Type), func(c merge.Change) bool {
		return c.Op == merge.OpSet && !c.Old.Set // no side has stated it
	})
	body, err := merge.Replay(stated, changes)
	if err != nil {
		return nil, err
	}
	return p.carried(body, p.Final), nil
}

// Recreated returns the object that is expected in place of the live one, which is deleted: the plan's, with the
// values that the server had made of others (requests of limits) as it would now make them.
func (p Planned) Recreated() map[string]any {
	body, err := p.Recreation()
	live, final := merge.NewFinder(p.Live, p.Type), merge.NewFinder(p.Final, p.Type)
	changes := slices.DeleteFunc(merge.Diff(p.Final, merge.Complete(body, p.Type, true), p.Type), func(c merge.Change) bool {
		return err != nil || !live.Refilled(c.Path) || final.Refilled(c.Path)
	})
	out, err := merge.Replay(p.Final, changes)
	if err != nil {
		return p.Final
	}
	return merge.At[map[string]any](out)
}

// Former returns the body that creates the live object again as it was configured, after it
// has been deleted. It holds what any manager but the control plane has set, by
// managedFields, what was applied last, even if the server allocates it where it is not stated, and
// the last-applied annotation that it had. Where managedFields name no manager, it holds all but status.
func (p Planned) Former() map[string]any {
	if ownership.Of(p.Live) == nil {
		return p.carried(p.Live, p.Live)
	}
	body := merge.Three(merge.Triple{Local: lastapplied.Identity(p.Live), Live: configured(ownership.WithApplied(p.Live, p.Type), p.Type)}, p.Type, merge.Policies[0], false).Result
	return p.carried(body, p.Live)
}

// carried returns a body, which is an object, with the set and the last-applied annotation of another.
func (p Planned) carried(body any, from map[string]any) map[string]any {
	body, _ = lastapplied.Strip(lastapplied.Without(body), p.HasStatus)
	if id := lastapplied.SetOf(from); id != "" {
		body = lastapplied.WithSet(body, id)
	}
	if text := lastapplied.Read(from).Text; text != "" {
		body = lastapplied.With(body, text)
	}
	return merge.At[map[string]any](body)
}

// configured returns what any manager but the control plane has set in live, without what
// was filled in; nil if managedFields name no manager.
func configured(live map[string]any, typ *merge.Type) any {
	if ownership.Of(live) == nil {
		return nil
	}
	users := func(manager string) bool { return !schema.ControlPlane(manager) && manager != merge.Unrecorded }
	return ownership.Original(live, ownership.Holders{Has: func(manager, _ string) bool { return users(manager) }, Scaled: users}, typ)
}
