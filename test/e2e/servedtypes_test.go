package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// servedSchema is as much of a schema of the server's OpenAPI v3 as says how a value is
// split. It is read here anew, so that a mistake of pkg/schema cannot hide in the
// comparison.
type servedSchema struct {
	Ref         string                  `json:"$ref"`
	AllOf       []servedSchema          `json:"allOf"`
	Type        string                  `json:"type"`
	Description string                  `json:"description"`
	Properties  map[string]servedSchema `json:"properties"`
	Items       *servedSchema           `json:"items"`
	Values      json.RawMessage         `json:"additionalProperties"`
	Default     any                     `json:"default"`
	ListType    string                  `json:"x-kubernetes-list-type"`
	ListMapKeys []string                `json:"x-kubernetes-list-map-keys"`
	MapType     string                  `json:"x-kubernetes-map-type"`
	Strategy    string                  `json:"x-kubernetes-patch-strategy"`
	MergeKey    string                  `json:"x-kubernetes-patch-merge-key"`
}

// changedSince are fields of alpha features that the client modules, which are a minor
// version newer than the server, rename or split otherwise.
var changedSince = map[string]bool{
	"io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus.resources":   true,
	"io.k8s.api.core.v1.PodStatus.nodeAllocatableResourceClaimStatuses": true,
	"io.k8s.api.resource.v1.Device.nodeAllocatableResourceMappings":     true,
}

// servedTypes are the schemas of the server by name, of the compiled-in types only.
type servedTypes map[string]servedSchema

// TestServedTypes holds every type of the compiled-in table against the schema that the
// server publishes for it: what is a list, set, map or one value, by which keys, and which
// default a missing key takes, overrides of a type by the field that uses it included.
func TestServedTypes(t *testing.T) {
	t.Parallel()
	if os.Getenv("E2E_KUBERNETES") != "" {
		t.Skip("the table is that of the newest version")
	}
	served := fetchTypes(t, server.need(t))
	fields, compared := 0, 0
	for _, name := range slices.Sorted(maps.Keys(served)) {
		compiled, ok := schema.BuiltinType(name)
		if !ok || compiled.Kind != merge.Object {
			continue
		}
		compared++
		own := served[name]
		if atomic := own.MapType == "atomic"; atomic != compiled.Atomic {
			t.Errorf("%s: one value: the table says %t, the server %t", name, compiled.Atomic, atomic)
		}
		for _, field := range slices.Sorted(maps.Keys(own.Properties)) {
			f, ok := compiled.Fields[field]
			if changedSince[name+"."+field] {
				continue
			}
			if !ok {
				t.Errorf("%s.%s: the table has no such field", name, field)
				continue
			}
			fields++
			if table, server := tableSplit(f.Type), served.split(own.Properties[field]); table != server {
				t.Errorf("%s.%s: the table says %s, the server %s", name, field, table, server)
			}
		}
	}
	t.Logf("%d types with %d fields compared", compared, fields)
	if compared < 400 {
		t.Errorf("%d types compared: the server publishes more than that", compared)
	}
}

// fetchTypes reads every document of the server's OpenAPI v3.
func fetchTypes(t *testing.T, s *apiServer) servedTypes {
	t.Helper()
	rest := s.client.Discovery().RESTClient()
	get := func(path string, into any) {
		text, err := rest.Get().AbsPath(path).DoRaw(t.Context())
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	var index struct {
		Paths map[string]any `json:"paths"`
	}
	get("/openapi/v3", &index)
	types := servedTypes{}
	for path := range index.Paths {
		if path != "api/v1" && !strings.HasPrefix(path, "apis/") || strings.Contains(path, ".example.com/") {
			continue // custom resources of other tests come and go
		}
		var doc struct {
			Components struct {
				Schemas map[string]servedSchema `json:"schemas"`
			} `json:"components"`
		}
		get("/openapi/v3/"+path, &doc)
		maps.Copy(types, doc.Components.Schemas)
	}
	return types
}

// split spells how the server splits a value: its kind, its keys with their defaults, and
// the same of what is in it.
func (s servedTypes) split(n servedSchema) string {
	if ref := refOf(n); ref != "" {
		one := s[ref].MapType == "atomic"
		if n.MapType != "" {
			one = n.MapType == "atomic"
		}
		if len(s[ref].Properties) == 0 {
			return "value"
		}
		return ref + mark(one)
	}
	switch {
	case n.Type == "array":
		return s.list(n)
	case n.Type == "object" && len(n.Values) > 0 && n.Values[0] == '{':
		var elem servedSchema
		if json.Unmarshal(n.Values, &elem) != nil {
			return "unreadable"
		}
		return "map" + mark(n.MapType == "atomic") + " of " + s.split(elem)
	}
	return "value"
}

func (s servedTypes) list(n servedSchema) string {
	keys := n.ListMapKeys
	switch {
	case n.ListType == "set":
		return "set of " + s.split(*n.Items)
	case n.ListType == "" && n.Strategy == "merge" && n.MergeKey == "":
		return "set of " + s.split(*n.Items)
	case n.ListType == "" && n.Strategy == "merge":
		keys = []string{n.MergeKey}
	case n.ListType != "map":
		return "list of " + s.split(*n.Items)
	}
	spelled := make([]string, len(keys))
	for i, k := range keys {
		spelled[i] = keyText(k, s[refOf(*n.Items)].Properties[k].Default)
	}
	return "list by " + strings.Join(spelled, "+") + " of " + s.split(*n.Items)
}

// refOf is the name of the schema that n stands for, "" where it stands for itself.
func refOf(n servedSchema) string {
	ref := n.Ref
	if ref == "" && len(n.AllOf) == 1 {
		ref = n.AllOf[0].Ref
	}
	ref = strings.TrimSuffix(ref, formsOf(ref))
	return ref[strings.LastIndexByte(ref, '/')+1:]
}

// formsOf is the suffix of the name of a schema with several JSON forms. The table describes
// the form that has fields.
func formsOf(ref string) string {
	for _, form := range []string{"OrArray", "OrBool", "OrStringArray"} {
		if strings.HasSuffix(ref, ".JSONSchemaProps"+form) {
			return form
		}
	}
	return ""
}

// tableSplit spells the same of a compiled-in type.
func tableSplit(t *merge.Type) string {
	switch {
	case t == nil || t.Kind == merge.Object && len(t.Fields) == 0:
		return "value"
	case t.Kind == merge.Object:
		return t.Name + mark(t.Atomic)
	case t.Kind == merge.Map:
		return "map" + mark(t.Atomic) + " of " + tableSplit(t.Elem)
	case t.Kind == merge.List:
		return "list of " + tableSplit(t.Elem)
	case t.Kind == merge.Set:
		return "set of " + tableSplit(t.Elem)
	case t.Kind == merge.Keyed:
		keys := make([]string, len(t.Keys))
		for i, k := range t.Keys {
			keys[i] = keyText(k.Name, k.Default)
		}
		return "list by " + strings.Join(keys, "+") + " of " + tableSplit(t.Elem)
	}
	return "value"
}

// keyText spells a key; the zero as its default says nothing.
func keyText(name string, d any) string {
	if d == nil || reflect.ValueOf(d).IsZero() {
		return name
	}
	return fmt.Sprintf("%s=%v", name, d)
}

func mark(atomic bool) string {
	if atomic {
		return " as one value"
	}
	return ""
}
