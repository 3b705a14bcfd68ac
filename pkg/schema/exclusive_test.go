package schema

import (
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func TestExclusive(t *testing.T) {
	for _, c := range []struct{ reason, schema, want string }{
		{"just one of two", `"oneOf":[{"required":["a"]},{"required":["b"]}]`, "a b"},
		{"just one of three", `"oneOf":[{"required":["a"]},{"required":["b"]},{"required":["c"]}]`, "a b c"},
		{"one or none", `"oneOf":[{"required":["a"]},{"required":["b"]},{"not":{"anyOf":[{"required":["a"]},{"required":["b"]}]}}]`, "a b"},
		{"at least one: both may be", `"anyOf":[{"required":["a"]},{"required":["b"]}]`, ""},
		{"not both", `"not":{"required":["a","b"]}`, "a b"},
		{"not both, said otherwise", `"not":{"allOf":[{"required":["a"]},{"required":["b"]}]}`, "a b"},
		{"one of them is absent", `"anyOf":[{"not":{"required":["a"]}},{"not":{"required":["b"]}}]`, "a b"},
		{"one of three is absent: any two may be", `"anyOf":[{"not":{"required":["a"]}},{"not":{"required":["b"]}},{"not":{"required":["c"]}}]`, ""},
		{"each without the other", `"anyOf":[{"required":["a"],"not":{"required":["b"]}},{"required":["b"],"not":{"required":["a"]}}]`, "a b"},
		{"one excludes two that go together", `"not":{"anyOf":[{"required":["a","b"]},{"required":["a","c"]}]}`, "a b, a c"},
		{"a pair or another: half a pair beside it is legal", `"oneOf":[{"required":["a","b"]},{"required":["c"]}]`, ""},
		{"two groups", `"allOf":[{"oneOf":[{"required":["a"]},{"required":["b"]}]},{"not":{"required":["c","d"]}}]`, "a b, c d"},
		{"the branches demand more, which may decide", `"oneOf":[{"required":["a"],"properties":{"a":{"enum":["x"]}}},{"required":["b"]}]`, ""},
		{"a demand beside the branches changes nothing", `"minProperties":1,"oneOf":[{"required":["a"]},{"required":["b"]}]`, "a b"},
		{"one property at most", `"maxProperties":1`, "a b c d"},
		{"a field that is always forbidden excludes none", `"not":{"required":["a"]},"anyOf":[{"required":["b"]},{"required":["c"]}]`, ""},
		{"a field that the type does not have", `"oneOf":[{"required":["a"]},{"required":["z"]}]`, ""},
		{"forms of a value, not fields", `"anyOf":[{"type":"integer"},{"type":"string"}]`, ""},
		{"no schema that anybody can read", `"oneOf":[true,{"required":"a"}]`, ""},
	} {
		text := `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"},"d":{"type":"string"}},` + c.schema + `}`
		crd := `{"apiVersion":"apiextensions.k8s.io/v1","spec":{"group":"g","names":{"kind":"K","plural":"ks"},"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":` + text + `}}}}]}}`
		defs, err := FromCRD(read(t, crd), merge.SourceFile)
		if err != nil {
			t.Fatalf("%s: %v", c.reason, err)
		}
		small, err := Distil([]byte(`{"components":{"schemas":{"K":{"type":"object","x-kubernetes-group-version-kind":[{"group":"g","version":"v1","kind":"K"}],"properties":{"spec":` + text + `}}}}}`))
		if err != nil {
			t.Fatalf("%s: %v", c.reason, err)
		}
		doc, err := FromOpenAPI(small, merge.SourceServer)
		if err != nil {
			t.Fatalf("%s: %v", c.reason, err)
		}
		served, _ := doc.Type("g", "v1", "K")
		for from, typ := range map[string]*merge.Type{"CRD": defs[0].Type, "OpenAPI": served} {
			var groups []string
			for _, o := range typ.Fields["spec"].Type.OneOf {
				groups = append(groups, strings.Join(o.Fields, " "))
			}
			if got := strings.Join(groups, ", "); got != c.want {
				t.Errorf("%s (%s): got %q, want %q", c.reason, from, got, c.want)
			}
		}
	}
}
