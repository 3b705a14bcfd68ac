package applyset

import (
	"fmt"
	"strings"
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
	// Disband deletes the whole set, with its parent.
	Disband bool
}

// HoldsData lists the kinds that are pruned only if Run.Allowed has them: their data is lost with
// them.
var HoldsData = []GroupKind{{Kind: "PersistentVolumeClaim"}, {Kind: "PersistentVolume"}}

var (
	namespaceKind = GroupKind{Kind: "Namespace"}
	crdKind       = GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
)

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
	for _, gk := range HoldsData {
		if m.GroupKind == gk && !r.Allowed[gk] {
			return keep("name its kind with --prune-kinds="+gk.String()+", or "+m.deletion(), "holds data that would be lost with it")
		}
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
	text := "delete it: kubectl delete " + strings.ToLower(m.GroupKind.String()) + " " + m.Name
	if m.Namespace != "" {
		text += " -n " + m.Namespace
	}
	return text
}
