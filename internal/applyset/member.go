package applyset

import (
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Member is an object as its metadata describe it: a member of a set, or an object in a namespace.
type Member struct {
	GroupKind
	Namespace       string // "" for a cluster-scoped object
	Name            string
	UID             string
	ResourceVersion string
	Labels          map[string]string
	Annotations     map[string]string
	Owners          []Owner
	Finalizers      []string
	Deleting        string // since when it is being deleted, "" if it is not
}

// Owner is an ownerReference.
type Owner struct {
	GroupKind
	Name, UID string
}

// String returns the member as outcome lines and errors name it: deployment.apps/web.
func (m Member) String() string { return named(m.GroupKind, m.Name) }

// Set returns the id of the set that the member is part of, "" for none.
func (m Member) Set() string { return m.Labels[PartOfLabel] }

// Identity distinguishes an object from all others, whatever its version.
type Identity struct {
	GroupKind
	Namespace, Name string
}

// Identity returns the member's identity among all objects of a cluster.
func (m Member) Identity() Identity { return Identity{m.GroupKind, m.Namespace, m.Name} }

// ReadMember reads an object's metadata. Values of a wrong type are left out. gk is the object's
// kind, which is not in the metadata.
func ReadMember(gk GroupKind, obj map[string]any) Member {
	meta := merge.At[map[string]any](obj, "metadata")
	m := Member{
		GroupKind:       gk,
		Namespace:       merge.At[string](meta, "namespace"),
		Name:            merge.At[string](meta, "name"),
		UID:             merge.At[string](meta, "uid"),
		ResourceVersion: merge.At[string](meta, "resourceVersion"),
		Labels:          object.Texts(meta["labels"]),
		Annotations:     object.Texts(meta["annotations"]),
		Deleting:        merge.At[string](meta, "deletionTimestamp"),
	}
	for _, ref := range merge.MapsAt(meta, "ownerReferences") {
		m.Owners = append(m.Owners, Owner{GroupKind: GroupKind{object.GroupOf(merge.At[string](ref, "apiVersion")), merge.At[string](ref, "kind")}, Name: merge.At[string](ref, "name"), UID: merge.At[string](ref, "uid")})
	}
	for _, f := range merge.At[[]any](meta, "finalizers") {
		if name, ok := f.(string); ok {
			m.Finalizers = append(m.Finalizers, name)
		}
	}
	return m
}
