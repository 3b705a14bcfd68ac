package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Document is an OpenAPI document of a Kubernetes API server. Types are built on first use;
// it is safe for concurrent use.
type Document struct {
	kinds map[groupVersionKind]string // to the name of the component

	mu      sync.Mutex
	builder builder
}

type groupVersionKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// kindMark occurs in every component that is a kind.
var kindMark = []byte(`"x-kubernetes-group-version-kind"`)

// FromOpenAPI reads an OpenAPI document as JSON: v3 as /openapi/v3 serves it for a group
// and version, or v2. source is one of the Source constants, and is set in the types. It is
// an error if the text has no schemas.
//
// Rules: the OpenAPI v3 of Kubernetes (KEP-2896) and its x-kubernetes extensions
// (KEP-555, KEP-1152, KEP-2887).
func FromOpenAPI(doc []byte, source string) (*Document, error) {
	schemas, err := findSchemas(doc)
	if err != nil {
		return nil, fmt.Errorf("OpenAPI document: %w", err)
	}
	d := &Document{
		kinds:   map[groupVersionKind]string{},
		builder: builder{source: source, raw: schemas, types: map[string]*merge.Type{}},
	}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if !bytes.Contains(schemas[name], kindMark) {
			continue
		}
		var k struct {
			Kinds []groupVersionKind `json:"x-kubernetes-group-version-kind"`
		}
		if err := json.Unmarshal(schemas[name], &k); err != nil {
			return nil, fmt.Errorf("OpenAPI document: %s: %w", name, err)
		}
		for _, gvk := range k.Kinds {
			d.kinds[gvk] = name
		}
	}
	return d, nil
}

// findSchemas finds components.schemas (v3) or definitions (v2). They are not decoded: little of a
// document is used.
func findSchemas(doc []byte) (map[string]json.RawMessage, error) {
	var top struct {
		Definitions map[string]json.RawMessage `json:"definitions"`
		Components  struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	err := json.Unmarshal(doc, &top)
	switch {
	case err != nil:
		return nil, err
	case top.Definitions != nil:
		return top.Definitions, nil
	case top.Components.Schemas != nil:
		return top.Components.Schemas, nil
	}
	return nil, fmt.Errorf("it has no components.schemas")
}

// Type returns the type of a kind, nil where the document does not have it. The error is why it cannot be read.
func (d *Document) Type(group, version, kind string) (*merge.Type, error) {
	name, ok := d.kinds[groupVersionKind{group, version, kind}]
	if !ok {
		return nil, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	t, err := d.builder.component(name)
	switch {
	case err != nil:
		// Discard incomplete types, so that no other kind uses them.
		d.builder.types = map[string]*merge.Type{}
		return nil, fmt.Errorf("OpenAPI document: %w", err)
	case t.Kind != merge.Object:
		return nil, nil
	}
	return d.builder.asResource(t), nil
}

// Kinds lists the kinds of the document, in order; Resource and scope are not set. Never
// nil.
func (d *Document) Kinds() []Kind {
	kinds := make([]Kind, 0, len(d.kinds))
	for k := range d.kinds {
		kinds = append(kinds, Kind{Group: k.Group, Version: k.Version, Kind: k.Kind})
	}
	slices.SortFunc(kinds, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
	return kinds
}

// Distil removes everything from an OpenAPI document that does not concern merging: paths,
// descriptions, patterns, examples. FromOpenAPI makes the same types of the result, which
// has a fraction of the size. It is an error if doc has no schemas, or one that is not
// JSON.
func Distil(doc []byte) ([]byte, error) {
	schemas, err := findSchemas(doc)
	if err != nil {
		return nil, fmt.Errorf("OpenAPI document: %w", err)
	}
	kept := make(map[string]any, len(schemas))
	for name, raw := range schemas {
		v, err := merge.ReadJSON(raw)
		if err != nil {
			return nil, fmt.Errorf("OpenAPI document: %s: %w", name, err)
		}
		kept[name] = distilled(v)
	}
	return json.Marshal(map[string]any{"components": map[string]any{"schemas": kept}})
}

// distilled returns a schema with only those keywords that a node has.
func distilled(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v // additionalProperties may be a boolean
	}
	out := make(map[string]any, len(m))
	for word, v := range m {
		if !keywords()[word] {
			continue
		}
		switch word {
		case "properties", "allOf":
			v = merge.Rebuilt(v, distilled)
		case "items", "additionalProperties":
			v = distilled(v)
		}
		out[word] = v
	}
	return out
}

// keywords are the keywords that matter for merging: a node's, and the one that names a
// kind.
var keywords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{strings.Trim(string(kindMark), `"`): true}
	for f := range reflect.TypeFor[node]().Fields() {
		words[f.Tag.Get("json")] = true
	}
	return words
})

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
	b := builder{source: merge.SourceComment}
	t, err := b.build(&n, nil)
	if err != nil || t.Kind == merge.Unknown || t.Kind == merge.Scalar || t.Kind == merge.Object && len(t.Fields) == 0 {
		return nil, false
	}
	return t, true
}
