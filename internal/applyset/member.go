package applyset

import "slices"

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
	meta, _ := obj["metadata"].(map[string]any)
	m := Member{
		GroupKind:       gk,
		Namespace:       str(meta, "namespace"),
		Name:            str(meta, "name"),
		UID:             str(meta, "uid"),
		ResourceVersion: str(meta, "resourceVersion"),
		Labels:          texts(meta["labels"]),
		Annotations:     texts(meta["annotations"]),
		Deleting:        str(meta, "deletionTimestamp"),
	}
	owners, _ := meta["ownerReferences"].([]any)
	for _, o := range owners {
		ref, _ := o.(map[string]any)
		m.Owners = append(m.Owners, Owner{GroupKind: GroupKind{groupOf(str(ref, "apiVersion")), str(ref, "kind")}, Name: str(ref, "name"), UID: str(ref, "uid")})
	}
	finalizers, _ := meta["finalizers"].([]any)
	for _, f := range finalizers {
		if name, ok := f.(string); ok {
			m.Finalizers = append(m.Finalizers, name)
		}
	}
	return m
}

// ownedBy reports whether one of the owners has a UID that is in uids.
func (m Member) ownedBy(uids map[string]bool) bool {
	return slices.ContainsFunc(m.Owners, func(o Owner) bool { return uids[o.UID] })
}

func groupOf(apiVersion string) string {
	for i := range len(apiVersion) {
		if apiVersion[i] == '/' {
			return apiVersion[:i]
		}
	}
	return ""
}

func str(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// texts returns the entries of a map that are strings.
func texts(v any) map[string]string {
	m, _ := v.(map[string]any)
	out := make(map[string]string, len(m))
	for k, e := range m {
		if s, ok := e.(string); ok {
			out[k] = s
		}
	}
	return out
}
