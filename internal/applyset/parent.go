package applyset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Parent is the content of a set's parent object. The zero value of all but Set is a set that does
// not exist yet.
type Parent struct {
	Set
	UID             string // "" if there is no parent
	ResourceVersion string
	Tooling         string

	// Kinds holds the kinds of members, sorted. It may list kinds without members.
	Kinds []GroupKind
	// Resources replaces Kinds in a parent that an old kubectl wrote: group resources, as in
	// deployments.apps.
	Resources []string
	// Namespaces holds those of members, sorted, without the parent's own.
	Namespaces []string

	// KindsBy and NamespacesBy hold the managers of these lists, if ownership.SetManager is not among them: another
	// writer has changed a list after a tool wrote the parent. nil if the owners are unknown.
	KindsBy, NamespacesBy []string
}

// Exists reports whether there is a parent object.
func (p Parent) Exists() bool { return p.UID != "" }

// Foreign reports whether another tool manages the set: it may be read and is never written.
func (p Parent) Foreign() bool { return p.Exists() && toolName(p.Tooling) != toolName(Tooling) }

// toolName returns the tool in the value of ToolingAnnotation: the part before the last slash.
func toolName(tooling string) string {
	if i := strings.LastIndexByte(tooling, '/'); i >= 0 {
		return tooling[:i]
	}
	return tooling
}

// ReadParent reads a parent object; obj is nil if there is none. The errors name the violated part
// of the specification, and what to do.
func ReadParent(set Set, obj map[string]any) (Parent, error) {
	if obj == nil {
		return Parent{Set: set}, nil
	}
	p, err := ParentFrom(set, ReadMember(set.GroupKind, obj))
	p.KindsBy = others(obj, KindsAnnotation)
	if len(p.Resources) > 0 {
		p.KindsBy = others(obj, ResourcesAnnotation)
	}
	p.NamespacesBy = others(obj, NamespacesAnnotation)
	return p, err
}

// others returns the managers of an annotation, if ownership.SetManager is not among them.
func others(obj map[string]any, annotation string) (out []string) {
	for _, o := range ownership.At(ownership.Of(obj), merge.Path{merge.Named("metadata"), merge.Named("annotations"), merge.Named(annotation)}) {
		if o.Manager == ownership.SetManager {
			return nil
		}
		out = append(out, o.Manager)
	}
	return out
}

// ChangedBy names the managers, other than ownership.SetManager, of the parent's lists; "" for none.
func (p Parent) ChangedBy() string {
	return strings.Join(sets.List(sets.New(p.KindsBy...).Insert(p.NamespacesBy...)), ", ")
}

// ParentFrom is ReadParent for an object whose metadata were already read. Errors are ReadParent's.
func ParentFrom(set Set, m Member) (Parent, error) {
	p := Parent{Set: set}
	p.UID, p.ResourceVersion, p.Tooling = m.UID, m.ResourceVersion, m.Annotations[ToolingAnnotation]
	if p.Tooling == "" {
		return p, p.lacks("annotation", ToolingAnnotation)
	}
	switch id := m.Labels[IDLabel]; {
	case id == "":
		return p, p.lacks("label", IDLabel)
	case id != set.ID():
		return p, fmt.Errorf("%s: ApplySet parent object exists and has incorrect value for label %q (got: %s, want: %s): it was copied or renamed: choose another name for the set", set, IDLabel, id, set.ID())
	}
	return p, p.readContents(m.Annotations)
}

// ContentsError reports that a parent does not state its set's members.
type ContentsError struct {
	set     Set
	Problem string // without the parent's name
}

// Error names the parent, and how to rewrite it.
func (e *ContentsError) Error() string {
	return e.set.String() + ": ApplySet parent object " + e.Problem + ": write it anew with kubectl merge applyset verify --fix"
}

// readContents reads the kinds and namespaces of a set's members.
func (p *Parent) readContents(annotations map[string]string) error {
	kinds, stated := annotations[KindsAnnotation]
	resources := annotations[ResourcesAnnotation]
	if !stated && resources == "" {
		return &ContentsError{p.Set, "lacks the annotation " + KindsAnnotation + ", which states what its members are"}
	}
	if stated {
		for _, text := range items(kinds) {
			gk := schema.ParseGroupKind(text)
			if gk.Kind == "" {
				return &ContentsError{p.Set, fmt.Sprintf("metadata.annotations[%q]: %q is no Kind.group", KindsAnnotation, text)}
			}
			p.Kinds = append(p.Kinds, gk)
		}
		p.Kinds = SortedKinds(p.Kinds)
	} else {
		p.Resources = items(resources)
	}
	p.Namespaces = p.additional(items(annotations[NamespacesAnnotation]))
	return nil
}

func (p Parent) lacks(what, key string) error {
	if p.GroupKind.Group == "" { // a Secret or a ConfigMap, which has other uses
		return fmt.Errorf("%s: is there, and no set, since it lacks the %s %q: choose another name; kubectl merge applyset list lists the sets", p.Set, what, key)
	}
	return fmt.Errorf("%s: ApplySet parent object already exists and is missing required %s %q: it is not a set's parent: choose another name for the set, or give it %s", p.Set, what, key, p.Marks())
}

// Marks describes, in words, how to make an object the parent of a set without members.
func (s Set) Marks() string {
	return fmt.Sprintf("the label %s: %s and the annotations %s: %s and %s: \"\"", IDLabel, s.ID(), ToolingAnnotation, Tooling, KindsAnnotation)
}

// items returns the parts of a comma-separated text; none of "".
func items(text string) []string {
	if text == "" {
		return nil
	}
	return object.Each(strings.Split(text, ","), strings.TrimSpace)
}

// additional returns the namespaces sorted, each once, without the parent's own and "".
func (p Parent) additional(namespaces []string) []string {
	return sets.List(sets.New(namespaces...).Delete("", p.Namespace))
}

// AllNamespaces returns the namespaces that members may be in, including the parent's own, sorted.
func (p Parent) AllNamespaces() []string {
	return sets.List(sets.New(p.Namespaces...).Insert(p.Namespace).Delete(""))
}

// With returns a parent that holds exactly these kinds and namespaces.
func (p Parent) With(kinds []GroupKind, namespaces []string) Parent {
	p.Kinds, p.Resources, p.Namespaces = SortedKinds(kinds), nil, p.additional(namespaces)
	return p
}

// Including returns a parent that holds these kinds and namespaces in addition to its own.
func (p Parent) Including(kinds []GroupKind, namespaces []string) Parent {
	out := p.With(append(slices.Clone(p.Kinds), kinds...), append(slices.Clone(p.Namespaces), namespaces...))
	out.Resources = p.Resources
	return out
}

// Says reports whether p, as it is stored, states all that q would, so that nothing has to be
// written.
func (p Parent) Says(q Parent) bool { return p.Exists() && len(p.Resources) == 0 && p.Equals(q) }

// Equals reports whether p and q have members in the same kinds and namespaces.
func (p Parent) Equals(q Parent) bool {
	return slices.Equal(SortedKinds(p.Kinds), SortedKinds(q.Kinds)) && slices.Equal(p.Namespaces, q.Namespaces)
}

// Covers returns p with what q holds in addition.
func (p Parent) Covers(q Parent) Parent { return p.Including(q.Kinds, q.Namespaces) }

// Beyond returns the kinds and namespaces of p that q does not have. nil if there are none.
func (p Parent) Beyond(q Parent) (kinds []GroupKind, namespaces []string) {
	kinds, _ = compared(p.Kinds, q.Kinds)
	namespaces, _ = compared(p.Namespaces, q.Namespaces)
	return kinds, namespaces
}

// Differences lists how p differs from want, which lists the kinds and namespaces of the set's
// members: one clause each, without the parent's name.
func (p Parent) Differences(want Parent) (out []string) {
	if len(p.Resources) > 0 {
		out = append(out, "lists its kinds as group resources, which is deprecated")
	}
	more, less := compared(p.Kinds, want.Kinds)
	for _, gk := range less {
		out = append(out, fmt.Sprintf("has members of the kind %s, and does not list it: they would never be pruned", gk))
	}
	for _, gk := range more {
		out = append(out, fmt.Sprintf("lists the kind %s, and has no members of it", gk))
	}
	extra, missing := compared(p.Namespaces, want.Namespaces)
	for _, ns := range missing {
		out = append(out, fmt.Sprintf("has members in the namespace %s, and does not list it: kubectl would never prune them", ns))
	}
	for _, ns := range extra {
		out = append(out, fmt.Sprintf("lists the namespace %s, and has no members in it", ns))
	}
	return out
}

// compared returns the elements only in the first list, and those only in the second.
func compared[T comparable](is, want []T) (more, less []T) {
	more = slices.DeleteFunc(slices.Clone(is), func(v T) bool { return slices.Contains(want, v) })
	less = slices.DeleteFunc(slices.Clone(want), func(v T) bool { return slices.Contains(is, v) })
	return more, less
}

// Manifest returns the object that is applied on the server's side as ownership.SetManager to store p. It is
// kubectl's object, field for field, bound to the state in which it was read. The tool's version
// stays as first written, so that nothing is written for it alone.
func (p Parent) Manifest(apiVersion string) map[string]any {
	meta := map[string]any{
		"name":   p.Name,
		"labels": map[string]any{IDLabel: p.ID()},
		"annotations": map[string]any{
			ToolingAnnotation:    cmp.Or(p.Tooling, Tooling),
			KindsAnnotation:      strings.Join(merge.Texts(p.Kinds), ","),
			NamespacesAnnotation: strings.Join(p.Namespaces, ","),
		},
	}
	if p.Namespace != "" {
		meta["namespace"] = p.Namespace
	}
	if p.ResourceVersion != "" {
		meta["resourceVersion"] = p.ResourceVersion
	}
	return map[string]any{"apiVersion": apiVersion, "kind": p.Kind, "metadata": meta}
}
