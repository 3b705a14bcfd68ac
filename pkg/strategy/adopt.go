package strategy

import (
	"slices"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/ownership"
)

// kubectlApply is the manager as which kubectl apply --server-side enters what it
// applies: the same user's, by another way.
const kubectlApply = "kubectl"

// Adopted determines which entries of managedFields a local file may take the place of: those
// of the object's creator, unless that is part of the control plane, and of kubectl
// apply --server-side. Nobody else's are ever taken for the user's own.
//
// Rules: docs/semantics.md#where-original-comes-from.
//
// live is the object, typ its type; both are read when the function is first called.
func Adopted(live any, typ *merge.Type) func(manager, operation string) bool {
	creator := sync.OnceValue(func() string { return ownership.Creator(live, typ) })
	return func(manager, operation string) bool {
		return manager == kubectlApply && operation == "Apply" || manager != "" && manager == creator()
	}
}

// adoptable lists what may be adopted and stays, though neither local nor original has
// it.
func adoptable(in Input, result any) []merge.Removal {
	t := in.Triple
	adopted := Adopted(t.Live, in.Schema)
	has := func(manager, operation string) bool {
		return !slices.Contains(t.Appliers, manager) && adopted(manager, operation) // who created it takes longest to find out
	}
	if !slices.ContainsFunc(ownership.At(t.Owners, nil), func(o merge.Owner) bool { return has(o.Manager, o.Operation) }) {
		return nil
	}
	conf := ownership.Original(t.Live, ownership.Holders{Has: has, Alone: true}, in.Schema)
	if conf == nil {
		return nil
	}
	changes := merge.Diff(conf, t.Local, in.Schema)
	out := entriesOf(in.Schema, nil, changes)
	s := set{Input: in, result: result, reported: out}
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
