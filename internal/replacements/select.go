package replacements

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/kustomize/kyaml/utils"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

func idOf(n *kyaml.RNode) resid.ResId {
	group, version := resid.ParseGroupVersion(n.GetApiVersion())
	return resid.NewResIdWithNamespace(resid.Gvk{Group: group, Version: version, Kind: n.GetKind()}, n.GetName(), n.GetNamespace())
}

func nameOf(n *kyaml.RNode) string {
	id := idOf(n)
	return Selector{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}.String()
}

// sourceNode finds the one object that the source selects; extra states that it is none of nodes.
func (r rule) sourceNode(nodes []*kyaml.RNode, find Find) (source *kyaml.RNode, extra bool, err error) {
	s := Selector{Group: r.Source.Group, Version: r.Source.Version, Kind: r.Source.Kind, Namespace: r.Source.Namespace, Name: r.Source.Name}
	var found []string
	for _, n := range nodes {
		if idOf(n).IsSelectedBy(r.Source.ResId) {
			found = append(found, nameOf(n))
			source = n
		}
	}
	switch {
	case len(found) == 1:
		return source, false, nil
	case len(found) > 1:
		return nil, false, fmt.Errorf("source: %s selects %d objects (%s); add fields until it is one", s, len(found), suggest.Few(found, 4))
	case find == nil:
		return nil, false, fmt.Errorf("source: %s selects nothing in the input%s: correct it, or have a cluster's objects selected too (--from-live)", s, meant(s.Kind, s.Name, nodes))
	}
	list, err := find(s)
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("source: %s: %w", s, err)
	case len(list) == 0:
		return nil, false, fmt.Errorf("source: %s selects nothing, neither in the input nor elsewhere", s)
	case len(list) > 1:
		return nil, false, fmt.Errorf("source: %s selects %d objects; add fields until it is one", s, len(list))
	}
	source, _, err = toNode(list[0])
	return source, true, err
}

// meant asks for the kind, or the name, of an object that a selector probably means; "" for none.
func meant(kind, name string, nodes []*kyaml.RNode) string {
	var kinds, names []string
	for _, n := range nodes {
		if kinds = append(kinds, n.GetKind()); n.GetKind() == kind {
			names = append(names, n.GetName())
		}
	}
	switch {
	case names == nil:
		return suggest.Hint(kind, kinds)
	case slices.Contains(names, name):
		return ""
	}
	return suggest.Hint(name, names)
}

// near asks for the step of a path that an object probably has instead of the first that it lacks; "" for none.
func near(n *kyaml.RNode, path string) string {
	for _, step := range utils.SmarterPathSplitter(path, ".") {
		next, err := n.Pipe(kyaml.Lookup(step))
		if err == nil && next != nil {
			n = next
			continue
		}
		var steps []string
		if entries, err := n.Elements(); err == nil && step != "" && strings.Trim(step, "0123456789*-") == "" {
			return "; name an entry that the list has, by its index or as in [name=web]; with options: {create: true}, the latter adds it"
		} else if err == nil {
			for _, e := range entries {
				name, _ := e.GetString("name")
				steps = append(steps, "[name="+name+"]")
			}
		} else if n.YNode().Kind == kyaml.MappingNode {
			steps, _ = n.Fields()
		}
		return suggest.Hint(step, steps)
	}
	return ""
}

// only asks for the one field beside a field that an object lacks; "" where it has none, or several.
func only(n *kyaml.RNode, path string) string {
	steps := utils.SmarterPathSplitter(path, ".")
	parent, err := n.Pipe(kyaml.Lookup(steps[:len(steps)-1]...))
	if err != nil || parent == nil || parent.YNode().Kind != kyaml.MappingNode {
		return ""
	}
	if fields, _ := parent.Fields(); len(fields) == 1 {
		return "; did you mean " + strings.Join(append(steps[:len(steps)-1], fields...), ".") + "?"
	}
	return ""
}

// sourceValue returns the source's field, after it has been split.
func (r rule) sourceValue(source *kyaml.RNode) (*kyaml.RNode, error) {
	path := cmp.Or(r.Source.FieldPath, types.DefaultReplacementFieldPath)
	n, err := source.Copy().Pipe(kyaml.Lookup(utils.SmarterPathSplitter(path, ".")...))
	if err != nil || n.IsNilOrEmpty() {
		return nil, fmt.Errorf("source: %s has no %s%s", nameOf(source), path, cmp.Or(near(source, path), only(source, path)))
	}
	if o := r.Source.Options; o != nil && o.Delimiter != "" {
		if n.YNode().Kind != kyaml.ScalarNode {
			return nil, fmt.Errorf("source: %s of %s is no scalar: a delimiter cannot split it", path, nameOf(source))
		}
		if parts := strings.Split(n.YNode().Value, o.Delimiter); o.Index < 0 || o.Index >= len(parts) {
			return nil, fmt.Errorf("source: options.index %d is out of bounds: %s of %s is split into %d", o.Index, path, nameOf(source), len(parts))
		}
	}
	return n, nil
}

// selected is the selector of a target as messages show it.
func selected(s *types.Selector) string {
	out := Selector{Group: s.Group, Version: s.Version, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}.String()
	if s.LabelSelector != "" {
		out += " with labels " + s.LabelSelector
	}
	if s.AnnotationSelector != "" {
		out += " with annotations " + s.AnnotationSelector
	}
	return out
}

// target checks one target, and returns the objects that it selects; matched: there are some,
// rejected ones included. spent counts the value in all of their fields.
func (r rule) target(nodes []*kyaml.RNode, t *types.TargetSelector, value *kyaml.RNode, spent *growth) (out []*kyaml.RNode, matched bool, err error) {
	by, err := types.NewTargetSelectorRegex(t)
	if err != nil {
		return nil, false, fmt.Errorf("targets: %w", err)
	}
	for _, n := range nodes {
		id := idOf(n)
		if !by.Selects(id) {
			continue
		}
		labelled, err := labelled(n, t.Select)
		if err != nil {
			return nil, false, fmt.Errorf("targets: %w", withoutValues(err))
		}
		if matched = matched || labelled; !labelled || by.RejectsAny([]resid.ResId{id}) {
			continue
		}
		out = append(out, n)
		fields, err := r.fits(n, t, value)
		if err != nil {
			return nil, false, err
		}
		if err := spent.add(fields, value); err != nil {
			return nil, false, err
		}
	}
	return out, matched, nil
}

func labelled(n *kyaml.RNode, s *types.Selector) (bool, error) {
	r := resource.Resource{RNode: *n}
	ok, err := r.MatchesAnnotationSelector(s.AnnotationSelector)
	if err != nil || !ok {
		return false, err
	}
	return r.MatchesLabelSelector(s.LabelSelector)
}

// growth counts what replacements have put into fields so far, in values and their text.
type growth struct{ values int }

// maxGrowth is the most that all replacements of a run may put into fields: a source
// that holds its own targets doubles them with every replacement.
const maxGrowth = 1_000_000

// add counts a value that is put into some fields.
func (g *growth) add(fields int, value *kyaml.RNode) error {
	each := weight(value.YNode())
	if fields > 0 && each > (maxGrowth-g.values)/fields {
		return fmt.Errorf("what is put into fields is too large: more than %d values in all: a source that holds its own target grows with each replacement", maxGrowth)
	}
	g.values += each * fields
	return nil
}

// weight returns the number of values in a node; long text counts as several.
func weight(n *kyaml.Node) int {
	w := 1 + len(n.Value)/64
	for _, c := range n.Content {
		w += weight(c)
	}
	return w
}

// fits counts the fields that the value is put into, and reports those that cannot
// take it.
//
// Unlike kustomize: which writes an empty text into a scalar that is to become a
// mapping or list.
func (r rule) fits(n *kyaml.RNode, t *types.TargetSelector, value *kyaml.RNode) (count int, err error) {
	paths := t.FieldPaths
	if len(paths) == 0 {
		paths = []string{types.DefaultReplacementFieldPath}
	}
	for _, path := range paths {
		found, err := n.Copy().Pipe(&kyaml.PathMatcher{Path: utils.SmarterPathSplitter(path, ".")})
		var fields []*kyaml.RNode
		if err == nil && !found.IsNil() {
			fields, err = found.Elements()
		}
		if (err != nil || len(fields) == 0) && (t.Options == nil || !t.Options.Create) {
			return 0, fmt.Errorf("target %s: has no %s%s", nameOf(n), path, cmp.Or(near(n, path), "; options: {create: true} adds a field"))
		}
		count += max(len(fields), 1)
		for _, f := range fields {
			scalar := f.YNode().Kind == kyaml.ScalarNode
			switch {
			case scalar && value.YNode().Kind != kyaml.ScalarNode:
				return 0, fmt.Errorf("target %s: %s is a scalar, and the source's value is %s", nameOf(n), path, kindOf(value))
			case scalar && (t.Options == nil || t.Options.Delimiter == "") && unreadable(f.YNode(), value.YNode()):
				return 0, fmt.Errorf("target %s: %s is %s, and %s", nameOf(n), path, map[bool]string{true: "a boolean", false: "a number"}[f.YNode().ShortTag() == kyaml.NodeTagBool], r.sourceIs(value))
			case !scalar && t.Options != nil && t.Options.Delimiter != "":
				return 0, fmt.Errorf("target %s: %s is %s: a delimiter cannot split it", nameOf(n), path, kindOf(f))
			}
		}
	}
	return count, nil
}

// unreadable reports whether a field that has a number or a boolean would hold what is neither.
func unreadable(field, value *kyaml.Node) bool {
	tag := field.ShortTag()
	if tag == kyaml.NodeTagString || tag == kyaml.NodeTagNull {
		return false
	}
	_, err := fromText(tag + " " + value.Value)
	return err != nil
}

// sourceIs names the source, and its value unless that may be secret.
func (r rule) sourceIs(value *kyaml.RNode) string {
	text := fmt.Sprintf("%q", value.YNode().Value)
	if r.SourceValue != nil {
		return "sourceValue is " + text
	}
	path := cmp.Or(r.Source.FieldPath, types.DefaultReplacementFieldPath)
	if redact.IsSecretKind(idOf(r.from).Group, idOf(r.from).Kind) || redact.SensitiveName(path) || len(text) > 60 {
		text = "a text"
	}
	return fmt.Sprintf("the source, %s of %s, is %s", path, nameOf(r.from), text)
}

func kindOf(n *kyaml.RNode) string {
	switch n.YNode().Kind {
	case kyaml.MappingNode:
		return "a mapping"
	case kyaml.SequenceNode:
		return "a list"
	}
	return "a scalar"
}

// typed converts values that replacements have put into fields of another type to the field's type.
// A number becomes text in a text field, and text that spells a number or a boolean becomes that, a number also where
// the field takes both.
// Values of a wrong type before are left alone. The error names the fields without a conversion,
// and no value.
//
// Unlike kustomize: which copies the source's type, and writes objects that no server takes.
func typed(before, after any, name string) (any, error) {
	m, _ := after.(map[string]any)
	o := object.Object{Value: m}
	t, ok := schema.Builtin(o.Group(), o.Version(), o.Kind())
	if !ok {
		return after, nil
	}
	was := map[string]bool{}
	for _, m := range schema.MistypedIn(t, before) {
		was[m.Path.String()] = true
	}
	var changes []merge.Change
	var errs []error
	for _, m := range schema.MistypedIn(t, after) {
		fixed, err := merge.ReadJSON([]byte(m.Fix))
		if was[m.Path.String()] || m.Want == "" && err != nil {
			continue
		}
		if m.Fix == "" || err != nil || strings.HasPrefix(m.Want, "a quantity") {
			there, _ := merge.Lookup(after, m.Path, t)
			errs = append(errs, fmt.Errorf("%s: %s takes %s, and would get %s: correct the target's fieldPaths, or the source's fieldPath", name, m.Path, m.Want, typeName(there)))
			continue
		}
		changes = append(changes, merge.Change{Op: merge.OpSet, Path: m.Path, New: merge.Some(fixed)})
	}
	if err := errors.Join(errs...); err != nil || len(changes) == 0 {
		return after, err
	}
	return merge.Replay(after, changes)
}

// typeName names the type of a value, for messages.
func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case bool:
		return "a boolean"
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	}
	return "a number"
}
