package applyset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
)

// Contents holds the contents of the Namespaces, and the objects of the kinds of the
// CustomResourceDefinitions, that are to be deleted, by their UIDs.
type Contents struct {
	Objects map[string][]Member
	Unknown map[string]error // why contents are unknown
}

// Contains reports whether a member's contents must be known before it is deleted: all of them are
// deleted with it.
func (m Member) Contains() bool { return m.GroupKind == namespaceKind || m.GroupKind == CRDKind }

// IsCRD reports whether the member defines a kind.
func (m Member) IsCRD() bool { return m.GroupKind == CRDKind }

// Contain decides about the Namespaces and CustomResourceDefinitions among the decisions: one that
// holds an object which is not deleted itself is kept. Other decisions are unchanged.
//
// Unlike kubectl: which deletes it, and everybody's objects with it.
func (r Run) Contain(decisions []Decision, in Contents) []Decision {
	gone := map[string]bool{}
	if r.Disband {
		gone[r.Parent.UID] = true
	}
	for _, d := range decisions {
		if !d.Contains() && (d.Action == Delete || d.Action == Terminating) {
			gone[d.UID] = true
		}
	}
	out := slices.Clone(decisions)
	for i, d := range out {
		if d.Action != Delete || !d.Contains() {
			continue
		}
		if err := in.Unknown[d.UID]; err != nil {
			out[i] = d.kept(fmt.Sprintf("what it holds cannot be known (%s)", err))
		} else if left := remaining(in.Objects[d.UID], gone); len(left) > 0 {
			out[i] = d.kept("holds " + list(left) + ", which would be deleted with it")
		}
	}
	return out
}

func (d Decision) kept(reason string) Decision {
	d.Action, d.Reason, d.Fix = Keep, reason, "delete what it holds first, or "+d.deletion()
	return d
}

// remaining returns the objects that are neither deleted themselves, nor dependents of one that is,
// nor in every namespace.
func remaining(objects []Member, deleted map[string]bool) (left []Member) {
	gone := maps.Clone(deleted)
	for grown := true; grown; { // ReplicaSets follow their Deployment, Pods follow those
		grown = false
		for _, m := range objects {
			if !gone[m.UID] && (m.Deleting != "" || slices.ContainsFunc(m.Owners, func(o Owner) bool { return gone[o.UID] })) {
				gone[m.UID], grown = true, true
			}
		}
	}
	services := map[string]bool{}
	for _, m := range objects {
		services[m.Name] = services[m.Name] || m.GroupKind == GroupKind{Kind: "Service"} && gone[m.UID]
	}
	for _, m := range objects {
		follows := m.GroupKind == GroupKind{Kind: "Endpoints"} && services[m.Name]
		if !gone[m.UID] && !follows && !m.everywhere() {
			left = append(left, m)
		}
	}
	return left
}

// ubiquitous lists the objects that controllers create in every namespace; Name is "" for all
// objects of a kind.
var ubiquitous = []Identity{
	{GroupKind: GroupKind{Kind: "ConfigMap"}, Name: "kube-root-ca.crt"}, // kube-controller-manager, root-ca-certificate-publisher
	{GroupKind: GroupKind{Kind: "ServiceAccount"}, Name: "default"},     // kube-controller-manager, serviceaccount
	{GroupKind: GroupKind{Kind: "Event"}},
	{GroupKind: GroupKind{Group: "events.k8s.io", Kind: "Event"}},
	{GroupKind: GroupKind{Group: "coordination.k8s.io", Kind: "Lease"}},
}

func (m Member) everywhere() bool {
	return slices.ContainsFunc(ubiquitous, func(u Identity) bool { return m.GroupKind == u.GroupKind && (u.Name == "" || u.Name == m.Name) })
}

// mostNamed is how many objects a reason names; the others are counted.
const mostNamed = 3

func list(members []Member) string {
	var names []string
	sorted := slices.SortedFunc(slices.Values(members), func(a, b Member) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.String(), b.String()))
	})
	for _, m := range sorted {
		name := m.String()
		if m.Namespace != "" {
			name += " (namespace " + m.Namespace + ")"
		}
		names = append(names, name)
	}
	return suggest.Few(names, mostNamed)
}
