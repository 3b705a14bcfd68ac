package files

import (
	"slices"
	"sort"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

// follow pairs resources whose kind, API group, namespace or name one side has changed: each
// is known by what it is in original, so that the other side's changes are merged into it,
// and two different new names are a conflict of values like any other. In a merge of two, and
// of what original does not have, a namespace that one side leaves out makes no difference.
func (m *merger) follow(one bool) {
	if m.Original != nil {
		inUpdated, inDest := successors(m.original, m.updated, one), successors(m.original, m.dest, one)
		for _, o := range m.original.list {
			u, d := inUpdated[o], inDest[o]
			if u != nil && m.dest.byID[u.id] != nil && m.dest.byID[u.id] != d {
				u = nil // dest has an object of that name, which is another one
			}
			if d != nil && m.updated.byID[d.id] != nil && m.updated.byID[d.id] != inUpdated[o] {
				d = nil
			}
			m.updated.rename(u, o.id)
			m.dest.rename(d, o.id)
		}
	}
	known := func(r *resource) bool { return m.original.byID[r.id] != nil }
	pairs := best(m.dest.without(m.updated, known), m.updated.without(m.dest, known), func(d, u *resource) float64 { return namespaceLeftOut(d.id, u.id) })
	for d, u := range pairs {
		m.updated.rename(u, d.id)
	}
}

// rename has a resource known by another name.
func (rs resources) rename(r *resource, to id) {
	if r != nil && rs.byID[to] == nil {
		delete(rs.byID, r.id)
		r.id = to
		rs.byID[to] = r
	}
}

// without are the resources that the other set does not have, and that are not known.
func (rs resources) without(other resources, known func(*resource) bool) []*resource {
	return slices.DeleteFunc(slices.Clone(rs.list), func(r *resource) bool { return other.byID[r.id] != nil || r.id.kind == "" || known(r) })
}

// successors are the objects that objects of original have become that a side does not have any more,
// among those that are new there. one: the sides are single files.
func successors(original, side resources, one bool) map[*resource]*resource {
	never := func(*resource) bool { return false }
	gone, come := original.without(side, never), side.without(original, never)
	if len(gone) == 0 || len(come) == 0 {
		return nil
	}
	all := map[*resource]map[string]int{}
	for _, r := range slices.Concat(gone, come) {
		all[r] = yamldoc.Facts(r.docValue())
	}
	return best(gone, come, func(was, is *resource) float64 {
		switch likeness := namespaceLeftOut(was.id, is.id); {
		case likeness > 0:
			return likeness
		case !one && was.file.Name != is.file.Name, len(all[was])+len(all[is]) == 0 && was.id.kind != is.id.kind:
			return 0
		}
		likeness := share(all[was], all[is])
		if one && likeness > 0 && len(original.list) == 1 && len(side.list) == 1 && was.id.kind == is.id.kind && was.id.group == is.id.group {
			likeness = max(likeness, leastShare) // what a file is for, by another name
		}
		return likeness + inPlace(was, is)
	})
}

// samePlace prefers what stands where it stood, among equal candidates.
const samePlace = 1e-9

func inPlace(was, is *resource) float64 {
	at := func(r *resource) int {
		if r.in != nil {
			return r.in.nth
		}
		return slices.Index(r.file.YAML.Documents(), r.doc)
	}
	if at(was) == at(is) {
		return samePlace
	}
	return 0
}

// namespaceLeftOut: two names differ in nothing but a namespace that one leaves out.
func namespaceLeftOut(a, b id) float64 {
	if (a.namespace == "") == (b.namespace == "") {
		return 0
	}
	a.namespace, b.namespace = "", ""
	if a == b {
		return 2
	}
	return 0
}

// leastShare is how much two objects have in common that are one by another name; git asks as
// much of a renamed file.
const leastShare = 0.5

// best pairs what is most alike. What has two equal candidates has none.
func best[T comparable](gone, come []T, likeness func(was, is T) float64) map[T]T {
	type match struct {
		was, is T
		by      float64
	}
	var all []match
	for _, was := range gone {
		for _, is := range come {
			if by := likeness(was, is); by >= leastShare {
				all = append(all, match{was, is, by})
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].by > all[j].by })
	out, taken := map[T]T{}, map[T]bool{}
	for i, x := range all {
		tie := slices.ContainsFunc(all, func(y match) bool {
			return y != all[i] && y.by == x.by && (y.was == x.was && !taken[y.is] || y.is == x.is && !taken[y.was])
		})
		if !taken[x.was] && !taken[x.is] && !tie {
			out[x.was], taken[x.was], taken[x.is] = x.is, true, true
		}
	}
	return out
}

// share is how much of two objects is the same, from 0 to 1.
func share(a, b map[string]int) float64 {
	both, ofA, ofB := yamldoc.Common(a, b)
	if ofA+ofB == 0 {
		return 1
	}
	return float64(2*both) / float64(ofA+ofB)
}
