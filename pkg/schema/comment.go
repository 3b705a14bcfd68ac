package schema

import (
	"encoding/json"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

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
	if err != nil || t.Kind == merge.Unknown || t.Kind == merge.Scalar {
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
