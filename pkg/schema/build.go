package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// builder makes types of schemas. Incomplete types, which may refer to themselves, never leave it.
type builder struct {
	source string
	raw    map[string]json.RawMessage // the components by name
	types  map[string]*merge.Type
}

// apiMachinery lists the components that stand for scalars with rules of their own.
var apiMachinery = map[string]string{
	"io.k8s.apimachinery.pkg.api.resource.Quantity":   "quantity",
	"io.k8s.apimachinery.pkg.apis.meta.v1.Time":       "time",
	"io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime":  "microtime",
	"io.k8s.apimachinery.pkg.apis.meta.v1.Duration":   "duration",
	"io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
	"io.k8s.apimachinery.pkg.runtime.RawExtension":    "any",
	"io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1":   "any",
}

// jsonTypes are the scalars of JSON schema, which a custom resource's are.
var jsonTypes = map[jsonType]string{"string": "string", "integer": "number", "number": "fraction", "boolean": "boolean"}

// component builds the type of a named component.
func (b *builder) component(name string) (*merge.Type, error) {
	if leaf, ok := apiMachinery[name]; ok {
		return leaves[leaf], nil
	}
	if t, ok := b.types[name]; ok {
		return t, nil
	}
	raw, ok := b.raw[name]
	compiled, builtin := BuiltinType(name)
	switch {
	case !ok && builtin && b.source == merge.SourceComment: // which has no components of its own
		return compiled, nil
	case !ok:
		return nil, fmt.Errorf("there is no schema %s", name)
	}
	var n node
	if err := json.Unmarshal(raw, &n); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t := &merge.Type{Name: name, Source: b.source}
	b.types[name] = t
	if err := b.fill(t, &n, compiled); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t.Name = name
	return t, nil
}

// build makes the type of a schema without a name; compiled is the compiled-in type of the
// same value, nil where there is none.
func (b *builder) build(n *node, compiled *merge.Type) (*merge.Type, error) {
	ref := n.Ref
	if ref == "" && len(n.AllOf) == 1 {
		ref = n.AllOf[0].Ref
	}
	if leaf := jsonTypes[n.Type]; ref == "" && leaf != "" && compiled == nil && !n.IntOrString {
		return leaves[leaf], nil
	}
	if ref == "" {
		t := &merge.Type{Source: b.source}
		err := b.fill(t, n, compiled)
		if t.Kind == merge.Unknown && n.prunes() {
			t.Kind = merge.Object
		}
		return t, err
	}
	t, err := b.component(ref[strings.LastIndexByte(ref, '/')+1:])
	if err != nil {
		return nil, err
	}
	if t.Kind == merge.Unknown && compiled != nil {
		return compiled, nil
	}
	// A field may override how its type is split (a volume's claimRef).
	if atomic := n.MapType == "atomic"; n.MapType != "" && atomic != t.Atomic && len(t.Fields) > 0 {
		own := *t
		own.Atomic = atomic
		return &own, nil
	}
	return t, nil
}

// prunes reports whether a custom resource's schema states an object without fields, of which the server
// stores none (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning).
func (n *node) prunes() bool {
	free := n.AdditionalProperties
	return n.Type == "object" && len(n.Properties)+len(n.AllOf) == 0 && !n.Preserve && (len(free) == 0 || string(free) == "false")
}

// fill completes t by the schema.
func (b *builder) fill(t *merge.Type, n *node, compiled *merge.Type) error {
	switch {
	case n.IntOrString:
		t.Kind = merge.Scalar
	case len(n.Properties) > 0 || n.Embedded:
		return b.buildObject(t, n, compiled)
	case len(n.AllOf) > 0:
		return b.allOf(t, n, compiled)
	case n.Type == "array":
		return b.list(t, n, compiled)
	case n.Type == "object" && len(n.AdditionalProperties) > 0 && n.AdditionalProperties[0] == '{':
		return b.mapping(t, n, compiled)
	case n.Type == "object":
		t.Atomic = n.MapType == "atomic"
		if t.Kind = merge.Unknown; t.Atomic {
			t.Kind = merge.Map
		}
	case n.Type != "":
		t.Kind = merge.Scalar
		if compiled != nil {
			t.Same = compiled.Same
		}
	}
	if t.Kind == merge.Unknown && compiled != nil {
		*t = *compiled
	}
	return nil
}

func (b *builder) buildObject(t *merge.Type, n *node, compiled *merge.Type) error {
	t.Kind, t.Atomic = merge.Object, n.MapType == "atomic"
	t.Open = n.Preserve || len(n.AdditionalProperties) > 0 && string(n.AdditionalProperties) != "false"
	t.Fields = make(map[string]merge.Field, len(n.Properties))
	for name, p := range n.Properties {
		f, err := b.field(&p, compiledField(compiled, name))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		f.Required = slices.Contains(n.Required, name)
		t.Fields[name] = f
	}
	if n.Embedded {
		addResourceFields(t)
	}
	if compiled != nil {
		t.OneOf, t.Fixed = compiled.OneOf, compiled.Fixed
		return nil
	}
	// A union's values cannot be trusted: Kubernetes' generator writes the Go fields' names
	// in their place. That its fields exclude each other is reliable.
	for _, u := range n.Unions {
		if len(u.Fields) > 1 {
			t.OneOf = append(t.OneOf, merge.OneOf{Fields: slices.Sorted(maps.Keys(u.Fields)), Displaces: true})
		}
	}
	t.OneOf = append(t.OneOf, n.oneOf(t.Fields)...)
	return nil
}

// field adds to a property what only the compiled-in type (nil: none) states: whether the server
// distinguishes zero from absence.
func (b *builder) field(n *node, compiled *merge.Field) (merge.Field, error) {
	var f merge.Field
	var under *merge.Type
	if compiled != nil {
		f.ZeroIsAbsent, f.Allocated, f.Default, under = compiled.ZeroIsAbsent, compiled.Allocated, compiled.Default, compiled.Type
	}
	t, err := b.build(n, under)
	if err != nil {
		return f, err
	}
	f.Type, f.Nullable = t, n.Nullable
	if len(n.Default) == 0 {
		return f, nil
	}
	d, err := merge.ReadJSON(n.Default)
	if err != nil {
		return f, fmt.Errorf("default: %w", err)
	}
	// The built-in types' documents state the zero value as the default of every
	// required field, which adds nothing to ZeroIsAbsent.
	if f.ZeroIsAbsent && isZeroDefault(d) {
		return f, nil
	}
	f.Default = d
	return f, nil
}

func isZeroDefault(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case json.Number:
		return v == "0"
	}
	return v == nil || v == "" || v == false
}

// allOf combines what several schemas state about one object.
func (b *builder) allOf(t *merge.Type, n *node, compiled *merge.Type) error {
	t.Kind, t.Atomic, t.Fields = merge.Object, n.MapType == "atomic", map[string]merge.Field{}
	for i := range n.AllOf {
		part, err := b.build(&n.AllOf[i], compiled)
		switch {
		case err != nil:
			return err
		case part.Kind == merge.Object:
			maps.Copy(t.Fields, part.Fields)
			t.Open = t.Open || part.Open
			t.OneOf = append(t.OneOf, part.OneOf...)
		case len(n.AllOf) == 1:
			*t = *part
			return nil
		default:
			t.Open = true
		}
	}
	if len(t.Fields) == 0 {
		*t = merge.Type{Source: b.source}
	}
	return nil
}

func (b *builder) mapping(t *merge.Type, n *node, compiled *merge.Type) error {
	var elem node
	if err := json.Unmarshal(n.AdditionalProperties, &elem); err != nil {
		return err
	}
	t.Kind, t.Atomic = merge.Map, n.MapType == "atomic"
	var err error
	t.Elem, err = b.build(&elem, compiled.EntryType())
	return err
}

func (b *builder) list(t *merge.Type, n *node, compiled *merge.Type) error {
	t.Kind = merge.List
	if n.Items != nil {
		elem, err := b.build(n.Items, compiled.EntryType())
		if err != nil {
			return err
		}
		t.Elem = elem
	}
	keys := n.ListMapKeys
	switch {
	case n.ListType == "set":
		t.Kind = merge.Set
	case n.ListType == "map" && len(keys) > 0:
		t.Kind = merge.Keyed
	case n.ListType == "" && strings.Contains(n.PatchStrategy, "merge"):
		// Lists of the built-in types that were never given a list-type.
		t.Kind, keys = merge.Set, nil
		if n.PatchMergeKey != "" {
			t.Kind, keys = merge.Keyed, []string{n.PatchMergeKey}
		}
	default:
		return nil
	}
	if compiled != nil && compiled.Kind == t.Kind {
		t.Unique, t.Exclusive = compiled.Unique, compiled.Exclusive
	}
	for _, k := range keys {
		t.Keys = append(t.Keys, merge.Key{Name: k, Default: b.keyDefault(n.Items, t.Elem, k)})
	}
	if t.Kind == merge.Keyed {
		t.Unique = append(t.Unique, n.unique()...)
	}
	return nil
}

// keyDefault returns the default of a key. An entry's type that is still being built (it
// refers to itself) does not have its fields yet, but its schema has them.
func (b *builder) keyDefault(items *node, elem *merge.Type, key string) any {
	if elem == nil {
		return nil
	}
	if f, ok := elem.Fields[key]; ok {
		return f.Default
	}
	if items == nil {
		return nil
	}
	own := *items
	if raw, ok := b.raw[elem.Name]; ok && json.Unmarshal(raw, &own) != nil {
		return nil
	}
	d, err := merge.ReadJSON(own.Properties[key].Default)
	if err != nil || isZeroDefault(d) {
		return nil
	}
	return d
}

// asResource returns a kind's type with the fields that every resource has, whatever its
// schema says: a custom resource's metadata is ObjectMeta.
func (b *builder) asResource(t *merge.Type) *merge.Type {
	if m := t.Fields["metadata"].Type; m != nil && m.Kind == merge.Object && len(m.Fields) > 2 {
		return t
	}
	out := *t
	out.Fields = maps.Clone(t.Fields)
	addResourceFields(&out)
	return &out
}

// Resource returns the type of an object of an unknown kind: it has apiVersion, kind and
// metadata. Everything else in it is unknown (see merge.Type, Open).
func Resource() *merge.Type {
	t := &merge.Type{Kind: merge.Object, Open: true, Source: merge.SourceBuiltin}
	addResourceFields(t)
	return t
}

// addResourceFields declares the fields that the server reads of every resource.
func addResourceFields(t *merge.Type) {
	if t.Fields == nil {
		t.Fields = map[string]merge.Field{}
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if _, ok := t.Fields[name]; !ok {
			t.Fields[name] = merge.Field{Type: leaves["string"], ZeroIsAbsent: true, Required: true}
		}
	}
	t.Fields["metadata"] = merge.Field{Type: objectMeta(), ZeroIsAbsent: true}
}

func compiledField(t *merge.Type, name string) *merge.Field {
	if t == nil {
		return nil
	}
	if f, ok := t.Fields[name]; ok {
		return &f
	}
	return nil
}
