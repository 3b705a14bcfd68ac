package strategy

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// kubectlApply is the manager as which kubectl apply --server-side enters what it
// applies: the same user's, by another way.
const kubectlApply = "kubectl"

// Adopted says of which entries of managedFields a local file may take the place: those
// of the object's creator, unless that is part of the control plane, and of kubectl
// apply --server-side. Nobody else's are ever taken for the user's own.
//
// Rules: docs/semantics.md#where-original-comes-from.
//
// live is the object, typ its type; o are its owners.
func Adopted(live any, typ *merge.Type, o *merge.Owners) func(manager, operation string) bool {
	creator := creatorOf(live, typ, o)
	return func(manager, operation string) bool {
		return manager == creator && creator != "" || manager == kubectlApply && operation == "Apply"
	}
}

// creatorOf is the manager that made the object, "" where nobody is known for it. That an
// entry has the time of the creation is not enough, since times are in seconds: whoever
// wrote in the same second is taken for the creator once the creator writes again. So the
// creator has to hold something that was there from the start, if anybody does.
func creatorOf(live any, typ *merge.Type, o *merge.Owners) string {
	name := o.Creator()
	if name == "" || schema.ControlPlane(name) {
		return ""
	}
	if first := fromTheStart(live, typ, o); len(first) > 0 && !slices.Contains(first, name) {
		return ""
	}
	return name
}

// fromTheStart are the managers that hold what an object has as soon as it is made: the
// defaults that the server gives any of its kind, and what its contents are in (data, spec).
// An Apply entry holds no defaults, so that nobody may.
func fromTheStart(live any, typ *merge.Type, o *merge.Owners) []string {
	obj, _ := live.(map[string]any)
	owners := []merge.Owner{}
	for name := range obj {
		if p := (merge.Path{merge.Named(name)}); !isServers(p) {
			owners = append(owners, o.Made(p)...)
		}
	}
	bare := map[string]any{"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": map[string]any{}}
	for _, c := range merge.Diff(bare, merge.Complete(bare, typ, true), typ) {
		for _, p := range leavesOf(c.New.Value, c.Path) {
			owners = append(owners, o.At(p)...)
		}
	}
	var names []string
	for _, owner := range owners {
		if owner.Operation == "Update" && owner.Subresource == "" {
			names = append(names, owner.Manager)
		}
	}
	return names
}

// leavesOf are the paths of the values in v, which stands at p, that have no fields.
func leavesOf(v any, p merge.Path) []merge.Path {
	m, ok := v.(map[string]any)
	if !ok {
		return []merge.Path{p}
	}
	var out []merge.Path
	for name, e := range m {
		out = append(out, leavesOf(e, p.Child(merge.Named(name)))...)
	}
	return out
}

// adoptable lists what may be adopted and stays, though neither local nor original has
// it.
func adoptable(in Input, result any) []merge.Removal {
	t := in.Triple
	adopted := Adopted(t.Live, in.Schema, t.Owners)
	has := func(manager, operation string) bool {
		return adopted(manager, operation) && !slices.Contains(t.Appliers, manager)
	}
	if !slices.ContainsFunc(t.Owners.At(nil), func(o merge.Owner) bool { return has(o.Manager, o.Operation) }) {
		return nil
	}
	conf := lastapplied.FromManagedFields(t.Live, lastapplied.Holders{Has: has, Alone: true}, in.Schema)
	if conf == nil {
		return nil
	}
	changes := merge.Diff(conf, t.Local, in.Schema)
	out := entriesOf(in.Schema, nil, changes)
	s := set{Input: in, result: result, told: out}
	s.look(in.Schema, nil, changes)
	out = slices.DeleteFunc(append(out, s.found...), func(r merge.Removal) bool {
		_, had := merge.Lookup(t.Original, r.Path, in.Schema)
		is, stays := merge.Lookup(result, r.Path, in.Schema)
		return isServers(r.Path) || serverMade(in, r) || had || !stays || is == nil
	})
	for i := range out {
		out[i].Owner, _ = person(t.Owners, out[i].Path)
	}
	merge.SortByPath(out, func(r merge.Removal) merge.Path { return r.Path })
	return out
}
