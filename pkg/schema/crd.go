package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Definition is one version of a kind that a CustomResourceDefinition defines.
type Definition struct {
	Kind
	Type *merge.Type // never nil
}

type crdNode struct {
	APIVersion string `json:"apiVersion"`
	Spec       struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind   string `json:"kind"`
			Plural string `json:"plural"`
		} `json:"names"`
		Versions []struct {
			Name   string `json:"name"`
			Schema struct {
				OpenAPIV3Schema *node `json:"openAPIV3Schema"`
			} `json:"schema"`
			Subresources struct {
				Status json.RawMessage `json:"status"`
			} `json:"subresources"`
		} `json:"versions"`
	} `json:"spec"`
}

// FromCRD reads the types that a CustomResourceDefinition (apiextensions.k8s.io/v1, as
// ReadJSON gives it) defines, one for each of its versions; source is one of the Source
// constants. A version without a schema is open. It is an error if crd is of another
// apiVersion, lacks group, kind or versions, or has a schema that cannot be read.
func FromCRD(crd any, source string) ([]Definition, error) {
	text, err := json.Marshal(crd)
	if err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition: %w", err)
	}
	var c crdNode
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition: %w", err)
	}
	s := c.Spec
	if c.APIVersion != "apiextensions.k8s.io/v1" {
		return nil, fmt.Errorf("CustomResourceDefinition: apiVersion %q: only apiextensions.k8s.io/v1 is read", c.APIVersion)
	}
	if s.Group == "" || s.Names.Kind == "" || len(s.Versions) == 0 {
		return nil, fmt.Errorf("CustomResourceDefinition: spec.group, spec.names.kind and spec.versions are needed")
	}
	b := builder{source: source}
	defs := make([]Definition, 0, len(s.Versions))
	for _, v := range s.Versions {
		d := Definition{Kind: Kind{
			Group: s.Group, Version: v.Name, Kind: s.Names.Kind, Resource: s.Names.Plural,
			Namespaced: s.Scope == "Namespaced",
			HasStatus:  len(v.Subresources.Status) > 0 && string(v.Subresources.Status) != "null",
		}}
		root := cmp.Or(v.Schema.OpenAPIV3Schema, &node{Preserve: true})
		root.Embedded = true // it is a resource
		if d.Type, err = b.build(root, nil); err != nil {
			return nil, fmt.Errorf("CustomResourceDefinition %s.%s: version %s: %w", s.Names.Plural, s.Group, v.Name, err)
		}
		d.Type.Name = s.Group + "/" + v.Name + " " + s.Names.Kind
		defs = append(defs, d)
	}
	return defs, nil
}

// FromComment reads a type from a comment beside a field, as kustomize does: a JSON schema
// of OpenAPI with its x-kubernetes extensions, or a reference to a built-in type.
//
//	containers: # {"x-kubernetes-list-map-keys": ["name"]}
//	spec: # {"$ref": "#/definitions/io.k8s.api.core.v1.PodSpec"}
//
// text is without the #. ok is false where the text is something else, or does not state
// how a value is split, for example a reference to a setter.
//
// Rules: kustomize's kyaml/fieldmeta; KEP-555 for the extensions.
func FromComment(text string) (t *merge.Type, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		return nil, false
	}
	var n node
	if json.Unmarshal([]byte(text), &n) != nil {
		return nil, false
	}
	if len(n.ListMapKeys) > 0 && n.ListType == "" {
		n.ListType = "map"
	}
	if n.Type == "" && (n.ListType != "" || n.PatchMergeKey != "") {
		n.Type = "array"
	}
	if n.Type == "" && n.MapType != "" {
		n.Type = "object"
	}
	b := builder{source: merge.SourceComment, types: map[string]*merge.Type{}}
	b.refer(&n)
	t, err := b.build(&n, nil)
	if err != nil || t.Kind == merge.Unknown || t.Kind == merge.Scalar || t.Kind == merge.Object && len(t.Fields) == 0 {
		return nil, false
	}
	return t, true
}

// refer adds the built-in types that a schema refers to.
func (b *builder) refer(n *node) {
	if name := n.Ref[strings.LastIndexByte(n.Ref, '/')+1:]; name != "" {
		if t, ok := BuiltinType(name); ok {
			b.types[name] = t
		}
	}
	if n.Items != nil {
		b.refer(n.Items)
	}
	for i := range n.AllOf {
		b.refer(&n.AllOf[i])
	}
	for _, p := range n.Properties {
		b.refer(&p)
	}
	var elem node
	if json.Unmarshal(n.AdditionalProperties, &elem) == nil {
		b.refer(&elem)
	}
}
