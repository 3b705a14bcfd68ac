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
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
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

// Manager is the field manager that owns a parent's fields, kubectl's own.
const Manager = "kubectl-applyset"

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
