// Package applyset defines sets of applied objects (KEP-3659, ApplySet). It knows how a set is
// stored, byte for byte as kubectl 1.36 stores it, which members a run may delete, in which order,
// and why the others are kept. It refuses to contact a server: members and parent come in as
// values, decisions are returned as values.
//
// Rules: docs/prune.md.
package applyset

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Labels and annotations of the specification
// (https://git.k8s.io/enhancements/keps/sig-cli/3659-kubectl-apply-prune#design-details-applyset-specification).
const (
	IDLabel              = "applyset.kubernetes.io/id"             // of a parent: the set's id
	PartOfLabel          = lastapplied.PartOf                      // of a member: the id of its set
	ParentTypeLabel      = "applyset.kubernetes.io/is-parent-type" // of a CRD whose resources may be parents
	ToolingAnnotation    = "applyset.kubernetes.io/tooling"
	KindsAnnotation      = "applyset.kubernetes.io/contains-group-kinds"
	ResourcesAnnotation  = "applyset.kubernetes.io/contains-group-resources" // deprecated, read only
	NamespacesAnnotation = "applyset.kubernetes.io/additional-namespaces"
)

// Tooling is the tool that a new parent names as its maker. kubectl compares the part before the
// last slash, so either tool may write the other's sets.
const Tooling = "kubectl/v1.36.0"

// GroupKind is a kind whatever its version. Group is "" for the core group.
// Parents list it as its String: Deployment.apps, ConfigMap.
type GroupKind = schema.GroupKind

// Set identifies a set by its parent object. Namespace is "" for a cluster-scoped one.
type Set Identity

// ID returns the value of the labels of the set's parent and members.
func (s Set) ID() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{s.Name, s.Namespace, s.Kind, s.Group}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// String returns the parent as outcome lines and errors name it: secret/shop.
func (s Set) String() string { return named(s.GroupKind, s.Name) }

func named(gk GroupKind, name string) string { return strings.ToLower(gk.String()) + "/" + name }

// BuiltinParent reports whether the set's parent is of a kind that every cluster has. Any other
// kind's CRD must carry ParentTypeLabel, and its object is never made automatically.
func (s Set) BuiltinParent() bool {
	return s.Group == "" && (s.Kind == "Secret" || s.Kind == "ConfigMap")
}

// Shared reports whether an object serves another purpose than that of the set's parent: it is of a
// kind that no tool creates as one, or a manager owns something of it beside metadata.
func (s Set) Shared(obj map[string]any) bool {
	return !s.BuiltinParent() || slices.ContainsFunc(merge.MapsAt(obj, "metadata", "managedFields"), func(entry map[string]any) bool {
		fields := maps.Clone(merge.At[map[string]any](entry, "fieldsV1"))
		delete(fields, "f:metadata")
		return len(fields) > 0
	})
}

// DefaultParent is the kind of a parent given by name only.
const DefaultParent = "secrets"

// Reference parses a set as a command line names it, [KIND[.GROUP]/]NAME. The part before the slash
// is a kind, a plural or a short name; without it, kind is DefaultParent. It is an error if either
// half is missing, there are more, or no object can have the name.
func Reference(text string) (kind, name string, err error) {
	kind, name, typed := strings.Cut(text, "/")
	if !typed {
		kind, name = DefaultParent, text
	}
	if kind == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("invalid parent reference %q: give [KIND[.GROUP]/]NAME, as in shop or configmaps/shop", text)
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "", "", fmt.Errorf("invalid parent reference %q: %q cannot be a name: write lower-case letters, digits, \"-\" and \".\"", text, name)
	}
	return kind, name, nil
}

// SortedKinds returns the kinds in the order of their texts, each once.
func SortedKinds(kinds []GroupKind) []GroupKind {
	byText := func(a, b GroupKind) int { return strings.Compare(a.String(), b.String()) }
	return slices.Compact(slices.SortedFunc(slices.Values(kinds), byText))
}

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
