package applyset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Sorted returns the decisions by kind, namespace and name, so that two runs agree. The caller that
// deletes objects decides their order.
func Sorted(decisions []Decision) []Decision {
	out := slices.Clone(decisions)
	slices.SortStableFunc(out, func(a, b Decision) int {
		return cmp.Or(
			strings.Compare(a.GroupKind.String(), b.GroupKind.String()),
			strings.Compare(a.Namespace, b.Namespace),
			strings.Compare(a.Name, b.Name))
	})
	return out
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
	kinds, namespaces := r.merged()
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
func (r Run) Superset() Parent { return r.Parent.Including(r.merged()) }

// merged returns the kinds and namespaces of the merged objects.
func (r Run) merged() (kinds []GroupKind, namespaces []string) {
	for o := range r.Objects {
		kinds, namespaces = append(kinds, o.GroupKind), append(namespaces, o.Namespace)
	}
	return kinds, namespaces
}
