package schema

import (
	"encoding/json"
	"fmt"

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
		root := v.Schema.OpenAPIV3Schema
		if root == nil {
			root = &node{Preserve: true}
		}
		root.Embedded = true // it is a resource
		if d.Type, err = b.build(root, nil); err != nil {
			return nil, fmt.Errorf("CustomResourceDefinition %s.%s: version %s: %w", s.Names.Plural, s.Group, v.Name, err)
		}
		d.Type.Name = s.Group + "/" + v.Name + " " + s.Names.Kind
		defs = append(defs, d)
	}
	return defs, nil
}
