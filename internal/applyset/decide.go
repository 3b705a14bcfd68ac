package applyset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
)

// Action states what happens to a member that is not among the objects of the run.
type Action uint8

// The actions.
const (
	Delete      Action = iota
	Terminating        // it is being deleted already
	Keep
	Left // it is not a member any more: its label was removed
)

// Decision is the action for one member, and its reason.
type Decision struct {
	Member
	Action Action
	Reason string // one clause, without the member's name
	Fix    string // for Keep: what the user can do to have it removed
	File   string // for Keep: that of Run.Unread; "" for none
}

// Run holds the facts that decide about the members of a set: the objects of one run, and what the
// user allows.
type Run struct {
	Parent Parent

	// UIDs of the objects that the run has merged. One object can be reachable as two
	// kinds, so that its name alone does not identify it.
	UIDs map[string]bool
	// Objects holds the same by name, including those that the run will create.
	Objects map[Identity]bool
	// Allowed holds the kinds with data that are pruned only if they are named.
	Allowed map[GroupKind]bool
	// Unread returns the file of each object in folders below the input's, which are not read; nil if there are none.
	Unread func() map[Identity]string
	// Disband deletes the whole set, with its parent.
	Disband bool
}

// HoldsData lists the kinds that are pruned only if Run.Allowed has them: their data is lost with
// them.
var HoldsData = []GroupKind{{Kind: "PersistentVolumeClaim"}, {Kind: "PersistentVolume"}}

var namespaceKind = GroupKind{Kind: "Namespace"}

// CRDKind is the kind of CustomResourceDefinitions.
var CRDKind = GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// Decide returns the action for each member that the run has not merged, and none for those that it
// has. Contain decides about Namespaces and CustomResourceDefinitions among the deletions, once
// their contents are known.
//
// Unlike kubectl: which deletes whatever carries the label.
func (r Run) Decide(members []Member) (out []Decision) {
	seen := map[string]bool{}
	for _, m := range members {
		if r.UIDs[m.UID] || r.Objects[m.Identity()] || m.UID == r.Parent.UID || seen[m.UID] {
			continue
		}
		seen[m.UID] = true
		out = append(out, r.decide(m))
	}
	return out
}

func (r Run) decide(m Member) Decision {
	keep := func(fix, format string, args ...any) Decision {
		return Decision{Member: m, Action: Keep, Reason: fmt.Sprintf(format, args...), Fix: fix}
	}
	if m.Deleting != "" {
		return Decision{Member: m, Action: Terminating, Reason: m.terminating()}
	}
	if m.Set() != r.Parent.ID() {
		return Decision{Member: m, Action: Left, Reason: "has left the set meanwhile"}
	}
	for _, o := range m.Owners {
		if o.UID != r.Parent.UID || r.Parent.UID == "" {
			return keep("delete its owner, or remove its ownerReferences", "is owned by %s", named(o.GroupKind, o.Name))
		}
	}
	if marker, removal := m.kept(); marker != "" {
		return keep(removal+", or "+m.deletion(), "is marked to be kept (%s)", marker)
	}
	if r.Unread != nil {
		if file := r.Unread()[m.Identity()]; file != "" {
			return Decision{Member: m, Action: Keep, File: file, Reason: "is in " + file + ", which is not read", Fix: "take it out of that file; -R reads it"}
		}
	}
	if slices.Contains(HoldsData, m.GroupKind) && !r.Allowed[m.GroupKind] {
		return keep("name its kind with --prune-kinds="+m.GroupKind.String()+", or "+m.deletion(), "holds data that would be lost with it")
	}
	why := " and not in the input"
	if r.Disband {
		why = ", which is deleted"
	}
	return Decision{Member: m, Action: Delete, Reason: "is a member of " + r.Parent.Set.String() + why}
}

// terminating describes since when a member is being deleted, and what its deletion waits for.
func (m Member) terminating() string {
	text := "is being deleted since " + m.Deleting
	if len(m.Finalizers) > 0 {
		text += ", and waits for " + strings.Join(m.Finalizers, ", ")
	}
	return text
}

// deletion returns kubectl's command that deletes the member.
func (m Member) deletion() string {
	return "delete it: kubectl delete " + strings.ToLower(m.GroupKind.String()) + " " + m.Name + object.In(m.Namespace)
}

// Sorted returns the decisions by kind, namespace and name, so that two runs agree. The caller that
// deletes objects decides their order.
func Sorted(decisions []Decision) []Decision {
	return slices.SortedStableFunc(slices.Values(decisions), func(a, b Decision) int {
		return cmp.Or(
			strings.Compare(a.GroupKind.String(), b.GroupKind.String()),
			strings.Compare(a.Namespace, b.Namespace),
			strings.Compare(a.Name, b.Name))
	})
}

// many is how many objects a run deletes without a confirmation.
const many = 25

// Surprising returns why so many deletions are to be confirmed first: more than 25, or, unless the
// whole set is deleted anyway, more than half of its objects; "" if they need no confirmation.
func (r Run) Surprising(deletions, size int) string {
	switch {
	case deletions > many:
		return fmt.Sprintf("%d objects would be deleted, more than %d", deletions, many)
	case !r.Disband && 2*deletions > size:
		return fmt.Sprintf("%d of the %d objects of the set would be deleted, more than half", deletions, size)
	}
	return ""
}

// Elsewhere returns the namespace of the run's objects if none is in the parent's, the first of several; "" if one is.
func (r Run) Elsewhere() (first string) {
	for o := range r.Objects {
		switch {
		case o.Namespace == r.Parent.Namespace:
			return ""
		case o.Namespace != "" && (first == "" || o.Namespace < first):
			first = o.Namespace
		}
	}
	return first
}

// Widened returns why deletions are to be confirmed that only another writer's change of the
// parent's lists makes possible: of kinds, and in namespaces, that the input does not have; "" if
// there are none.
//
// Unlike kubectl: which deletes whatever the parent leads to.
func (r Run) Widened(deletions []Member) string {
	kinds, namespaces := map[GroupKind]bool{}, map[string]bool{"": true, r.Parent.Namespace: true}
	for o := range r.Objects {
		kinds[o.GroupKind], namespaces[o.Namespace] = true, true
	}
	found := slices.DeleteFunc(slices.Clone(deletions), func(m Member) bool {
		return (len(r.Parent.KindsBy) == 0 || kinds[m.GroupKind]) && (len(r.Parent.NamespacesBy) == 0 || namespaces[m.Namespace])
	})
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: the list of the set's kinds and namespaces was changed by %s, and only because of that %s would be deleted", r.Parent.Set, r.Parent.ChangedBy(), list(found))
}

// Exact returns the parent for the end of the run. It holds the kinds and namespaces of the merged
// objects, of the members that are kept, and of kinds that could not be listed.
func (r Run) Exact(decisions []Decision, unlisted []GroupKind) Parent {
	kinds, namespaces := r.Merged()
	kinds = append(kinds, unlisted...)
	for _, d := range decisions {
		if d.Action == Keep {
			kinds, namespaces = append(kinds, d.GroupKind), append(namespaces, d.Namespace)
		}
	}
	if len(unlisted) > 0 { // their members may be anywhere
		namespaces = append(namespaces, r.Parent.Namespaces...)
	}
	return r.Parent.With(kinds, namespaces)
}

// In returns r with the parent as it is now.
func (r Run) In(parent Parent) Run {
	r.Parent = parent
	return r
}

// Superset returns the parent before the first write: whatever happens then, it covers all objects
// that carry the set's label.
func (r Run) Superset() Parent { return r.Parent.Including(r.Merged()) }

// Merged returns the kinds and namespaces of the merged objects.
func (r Run) Merged() (kinds []GroupKind, namespaces []string) {
	for o := range r.Objects {
		kinds, namespaces = append(kinds, o.GroupKind), append(namespaces, o.Namespace)
	}
	return kinds, namespaces
}

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
