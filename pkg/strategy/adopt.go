package strategy

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Kubectls are the managers under which kubectl's commands record fields that state a whole
// object: they belong to the same user.
var Kubectls = []string{"kubectl", "kubectl-client-side-apply", "kubectl-create", "kubectl-replace", "kubectl-run", "kubectl-expose"}

// Adoption says how undecided values can be adopted: by --original=managed-fields.
//
// Rules: docs/semantics.md#where-original-comes-from.
type Adoption struct {
	Owners []string // the managers that own values which can be adopted, in order
	Named  []string // those of Owners that the user has to name
	Rest   bool     // some values have no owner that could be named
}

// adoption returns how the values can be adopted.
func (in Input) adoption(undecided []merge.Removal) (out Adoption) {
	for _, u := range undecided {
		owners := ownership.At(in.Triple.Owners, u.Path)
		if len(owners) == 0 || slices.ContainsFunc(owners, unnameable) {
			out.Rest = true
			continue
		}
		for _, o := range owners {
			out.Owners = append(out.Owners, o.Manager)
		}
	}
	slices.Sort(out.Owners)
	out.Owners = slices.Compact(out.Owners)
	out.Named = slices.DeleteFunc(slices.Clone(out.Owners), func(name string) bool {
		return slices.Contains(Kubectls, name) || slices.Contains(in.Triple.Appliers, name)
	})
	return out
}

// unnameable reports whether the owner cannot be named, so that what it holds stays.
func unnameable(o merge.Owner) bool {
	return o.Subresource != "" || o.Manager == "" || strings.Contains(o.Manager, ",") || o.Manager == merge.Unrecorded || schema.ControlPlane(o.Manager)
}

// adoptable lists what only kubectl's own managers hold and what stays, though neither
// local nor original has it.
func adoptable(in Input, result any) []merge.Removal {
	t := in.Triple
	has := func(manager, _ string) bool {
		return slices.Contains(Kubectls, manager) && !slices.Contains(t.Appliers, manager)
	}
	if !slices.ContainsFunc(ownership.At(t.Owners, nil), func(o merge.Owner) bool { return has(o.Manager, "") }) {
		return nil
	}
	conf := ownership.Original(t.Live, ownership.Holders{Has: has, Alone: true}, in.Schema)
	if conf == nil {
		return nil
	}
	changes := merge.Diff(conf, t.Local, in.Schema)
	out := entriesOf(in.Schema, nil, changes)
	s, original := in.set(result, out), merge.NewFinder(t.Original, in.Schema)
	s.look(in.Schema, nil, changes)
	out = slices.DeleteFunc(append(out, s.found...), func(r merge.Removal) bool {
		_, had := original.Lookup(r.Path)
		is, stays := s.result.Lookup(r.Path)
		return isServers(r.Path) || serverMade(in, r) || had || !stays || is == nil
	})
	for i := range out {
		out[i].Owner = addedBy(t.Owners, out[i].Path, isPerson)
	}
	merge.SortByPath(out, func(r merge.Removal) merge.Path { return r.Path })
	return out
}
