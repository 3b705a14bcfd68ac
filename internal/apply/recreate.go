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
	local, _ := lastapplied.Strip(lastapplied.Without(p.Value), p.HasStatus)
	local = lastapplied.WithoutNullAnnotations(lastapplied.FoldStringData(local))
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

// Recreated returns the object that is expected in place of the live one, which is deleted: the plan's,
// without the values that the server had made of others (requests of limits) and would now make differently.
func (p Planned) Recreated() map[string]any {
	r := &remade{p, merge.NewFinder(p.Live, p.Type), merge.NewFinder(p.Final, p.Type)}
	v, _ := r.kept(p.Final, nil, p.Type)
	return merge.At[map[string]any](v)
}

// remade finds the values of a plan's object that a new one does not get.
type remade struct {
	Planned
	live, final *merge.Finder
}

// kept returns the part of a value that the new object has as it is; false if there is none.
func (r *remade) kept(v any, at merge.Path, typ *merge.Type) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			below := at.Child(merge.Named(name))
			_, stated := merge.Lookup(r.Value, below, r.Type)
			if !stated && r.live.Refilled(below) && !r.final.Refilled(below) {
				continue
			}
			if part, ok := r.kept(e, below, typ.Field(name).Type); ok {
				out[name] = part
			}
		}
		return out, len(out) > 0 || len(v) == 0
	case []any:
		if !listed(typ) {
			break
		}
		out := make([]any, len(v))
		for i, step := range schema.EntrySteps(typ, v) {
			out[i], _ = r.kept(v[i], at.Child(step), typ.Elem)
		}
		return out, true
	}
	return v, true
}

// Former returns the body that creates the live object again as it was configured, after it
// has been deleted. It holds what any manager but the control plane has set, by
// managedFields, what was applied last, even if the server allocates it where it is not stated, and
// the last-applied annotation that it had. Where managedFields name no manager, it holds all but status.
func (p Planned) Former() map[string]any {
	if ownership.Of(p.Live) == nil {
		return p.carried(p.Live, p.Live)
	}
	meta, _ := p.Live["metadata"].(map[string]any)
	identity := map[string]any{"apiVersion": p.Live["apiVersion"], "kind": p.Live["kind"], "metadata": map[string]any{"name": meta["name"], "namespace": meta["namespace"]}}
	body := merge.Three(merge.Triple{Local: identity, Live: configured(ownership.WithApplied(p.Live, p.Type), p.Type)}, p.Type, merge.Policies[0], false).Result
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
