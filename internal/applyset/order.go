package applyset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Sorted returns the decisions by kind, namespace and name, so that two runs agree. In which
// order objects are deleted is decided by whoever deletes them.
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

// many is how many objects a run deletes without being asked for.
const many = 25

// Surprising is why so many deletions are to be confirmed first: more than 25, or, unless
// the whole set is deleted anyway, more than half of the objects that it has; "" where they
// are not.
func (r Run) Surprising(deletions, size int) string {
	switch {
	case deletions > many:
		return fmt.Sprintf("%d objects would be deleted, more than %d", deletions, many)
	case !r.Disband && 2*deletions > size:
		return fmt.Sprintf("%d of the %d objects of the set would be deleted, more than half", deletions, size)
	}
	return ""
}

// Widened is why deletions are to be confirmed that are possible only since somebody else has
// changed what the parent lists: of kinds, and in namespaces, that the input does not have; ""
// where there are none.
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

// Exact is the parent once the run is through: it holds the kinds and namespaces of the
// objects that were merged, of the members that are kept, and of what could not be listed.
func (r Run) Exact(decisions []Decision, unlisted []GroupKind) Parent {
	var (
		kinds      = slices.Clone(unlisted)
		namespaces []string
	)
	for o := range r.Objects {
		kinds, namespaces = append(kinds, o.GroupKind), append(namespaces, o.Namespace)
	}
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

// In is r with the parent as it is now.
func (r Run) In(parent Parent) Run {
	r.Parent = parent
	return r
}

// Superset is the parent before the first write: whatever happens then, it covers all
// objects that carry the set's label.
func (r Run) Superset() Parent {
	var (
		kinds      []GroupKind
		namespaces []string
	)
	for o := range r.Objects {
		kinds, namespaces = append(kinds, o.GroupKind), append(namespaces, o.Namespace)
	}
	return r.Parent.Including(kinds, namespaces)
}
