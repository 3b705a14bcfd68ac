package schema

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestFromComment: what stands in a comment is a type, or is left alone.
func TestFromComment(t *testing.T) {
	for text, want := range map[string]string{
		`{"x-kubernetes-list-map-keys":["a","b"]}`:                                                          "keyed a b",
		` {"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"]} `:           "keyed name",
		`{"type":"array","x-kubernetes-patch-merge-key":"name","x-kubernetes-patch-strategy":"merge"}`:      "keyed name",
		`{"type":"array","x-kubernetes-patch-strategy":"merge"}`:                                            "set",
		`{"x-kubernetes-list-type":"atomic"}`:                                                               "list",
		`{"x-kubernetes-map-type":"atomic"}`:                                                                "atomic map",
		`{"$ref":"#/definitions/io.k8s.api.core.v1.PodSpec"}`:                                               "io.k8s.api.core.v1.PodSpec",
		`{"items":{"$ref":"#/definitions/io.k8s.api.core.v1.Container"},"type":"array"}`:                    "list",
		`{"type":"object","additionalProperties":{"$ref":"#/definitions/io.k8s.api.core.v1.Container"}}`:    "map",
		`{"$ref":"#/definitions/io.k8s.cli.setters.replicas"}`:                                              "",
		`{"items":{"$ref":"#/definitions/io.k8s.cli.setters.x"},"type":"array","x-kubernetes-list-type":1}`: "",
		`{"$openapi":"replicas"}`: "",
		`{"type":"string"}`:       "",
		`{"a":`:                   "",
		`[1]`:                     "",
		`a comment`:               "",
		``:                        "",
	} {
		got := ""
		if typ, ok := FromComment(text); ok {
			got = described(typ)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func described(t *merge.Type) string {
	switch {
	case t.Name != "":
		return longName(t.Name)
	case t.Kind == merge.Keyed:
		out := "keyed"
		for _, k := range t.Keys {
			out += " " + k.Name
		}
		return out
	case t.Kind == merge.Set:
		return "set"
	case t.Kind == merge.List:
		return "list"
	case t.Atomic:
		return "atomic map"
	case t.Kind == merge.Map:
		return "map"
	}
	return "?"
}

// longName is a type's name as OpenAPI has it; the table's are shorter.
func longName(name string) string {
	if _, ok := BuiltinType(name); ok && len(name) > 4 && name[:4] != "io.k" {
		return "io.k8s.api." + name
	}
	return name
}
