package applyset

import (
	"slices"
	"strings"

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
		Finalizers:      object.Object{Value: obj}.Finalizers(),
		Deleting:        merge.At[string](meta, "deletionTimestamp"),
	}
	for _, ref := range merge.MapsAt(meta, "ownerReferences") {
		m.Owners = append(m.Owners, Owner{GroupKind: GroupKind{Group: object.GroupOf(merge.At[string](ref, "apiVersion")), Kind: merge.At[string](ref, "kind")}, Name: merge.At[string](ref, "name"), UID: merge.At[string](ref, "uid")})
	}
	return m
}

// Marker is an annotation that tells a tool not to delete an object which leaves the applied files.
type Marker struct {
	Key    string
	Values []string // any of them keeps the object
	List   bool     // the annotation is a comma-separated list, one item of which is the value
	Label  bool     // a label of that key counts, too
}

// Markers lists those that keep an object from being pruned. Values are compared without regard to
// case and surrounding space, as Helm does: in doubt, an object is kept. Where each tool documents its own is
// in docs/prune.md.
var Markers = []Marker{
	{Key: "client.lifecycle.config.k8s.io/deletion", Values: []string{"detach"}},
	{Key: "cli-utils.sigs.k8s.io/on-remove", Values: []string{"keep"}},
	{Key: "helm.sh/resource-policy", Values: []string{"keep"}},
	{Key: "argocd.argoproj.io/sync-options", Values: []string{"Prune=false", "Prune=confirm", "Delete=false", "Delete=confirm"}, List: true},
	{Key: "kustomize.toolkit.fluxcd.io/prune", Values: []string{"disabled"}, Label: true},
	{Key: "kapp.k14s.io/delete-strategy", Values: []string{"orphan"}},
	{Key: "kluctl.io/skip-delete", Values: []string{"true"}},
	{Key: "werf.io/resource-policy", Values: []string{"skip-delete"}},
}

// kept returns the marker that keeps a member, as key: value, and how to remove it; "" if there is
// none.
func (m Member) kept() (marker, removal string) {
	for _, row := range Markers {
		if value, ok := m.Annotations[row.Key]; ok && row.matches(value) {
			return row.Key + ": " + value, "remove the annotation " + row.Key
		}
		if value, ok := m.Labels[row.Key]; ok && row.Label && row.matches(value) {
			return row.Key + ": " + value, "remove the label " + row.Key
		}
	}
	return "", ""
}

func (r Marker) matches(value string) bool {
	values := []string{value}
	if r.List {
		values = strings.Split(value, ",")
	}
	return slices.ContainsFunc(values, func(v string) bool {
		return slices.ContainsFunc(r.Values, func(want string) bool { return strings.EqualFold(strings.TrimSpace(v), want) })
	})
}
