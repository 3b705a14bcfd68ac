package schema

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// gadgetTypes reads one resource from its CRD and from the document that a real
// API server (1.36.3) publishes for it.
func gadgetTypes(t testing.TB) map[string]*merge.Type {
	t.Helper()
	text, err := os.ReadFile("testdata/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	defs, err := FromCRD(read(t, string(asJSON)), merge.SourceFile)
	if err != nil {
		t.Fatal(err)
	}
	if v2 := defs[1]; v2.HasStatus || !v2.Type.Open || v2.Type.Fields["metadata"].Type != objectMeta() {
		t.Errorf("v2 is %+v", v2)
	}
	v1 := defs[0]
	if v1.Group != "shapes.example.com" || v1.Version != "v1" || v1.Kind.Kind != "Gadget" || v1.Resource != "gadgets" || !v1.Namespaced || !v1.HasStatus {
		t.Errorf("v1 is %+v", v1.Kind)
	}
	text, err = os.ReadFile("testdata/openapi-crd.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := FromOpenAPI(text, merge.SourceServer)
	if err != nil {
		t.Fatal(err)
	}
	served, err := doc.Type("shapes.example.com", "v1", "Gadget")
	if served == nil {
		t.Fatal("the document does not have the kind:", err)
	}
	return map[string]*merge.Type{"CRD": v1.Type, "OpenAPI": served}
}

func TestCustomResource(t *testing.T) {
	tests := []struct{ reason, path, want string }{
		{"two keys, one with a default", "spec.endpoints", "keyed by port,protocol=TCP"},
		{"a keyed list in its entries", "spec.endpoints[*].routes", "keyed by path"},
		{"a set", "spec.zones", "set"},
		{"a list without a list-type is atomic", "spec.args", "atomic list"},
		{"so is one that says so", "spec.steps", "atomic list"},
		{"an atomic object", "spec.reference", "atomic object"},
		{"an atomic map", "spec.selector", "atomic map"},
		{"a map", "spec.limits", "map"},
		{"int-or-string", "spec.limits.cpu", "scalar"},
		{"a keyed list in a map's values", "spec.pools.a.members", "keyed by id"},
		{"preserved fields, none declared", "spec.values", "anything"},
		{"preserved fields besides declared ones", "spec.plugin", "open object"},
		{"a declared field in an open object", "spec.plugin.hooks", "set"},
		{"no type at all", "spec.whatever", "anything"},
		{"an embedded resource", "spec.manifest", "open object"},
		{"its metadata is everybody's", "spec.manifest.metadata.finalizers", "set"},
		{"metadata of the resource", "metadata.ownerReferences", "keyed by uid"},
		{"metadata that is declared as a plain object, of which the server stores nothing", "spec.template.metadata", "object"},
		{"an embedded pod template", "spec.template.spec.containers", "keyed by name"},
		{"whose env has no list-type, unlike Kubernetes' own", "spec.template.spec.containers[*].env", "atomic list"},
		{"conditions", "status.conditions", "keyed by type"},
		{"a date is plain text to the server", "spec.created", "scalar"},
	}
	for from, typ := range gadgetTypes(t) {
		for _, test := range tests {
			path, err := merge.ParsePath(test.path)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(walk(typ, path)); got != test.want {
				t.Errorf("%s: %s: %s is %s, want %s", from, test.reason, test.path, got, test.want)
			}
		}
	}
}

// TestCustomResourceIsLiteral: the server keeps what a custom resource says as it
// was said.
func TestCustomResourceIsLiteral(t *testing.T) {
	for from, typ := range gadgetTypes(t) {
		spec := typ.Fields["spec"].Type
		for name, f := range spec.Fields {
			if f.ZeroIsAbsent || f.Allocated {
				t.Errorf("%s: spec.%s is not literal", from, name)
			}
		}
		for _, name := range []string{"created", "blob"} {
			if spec.Fields[name].Type.Same != nil {
				t.Errorf("%s: spec.%s is compared by meaning", from, name)
			}
		}
		if d := spec.Fields["replicas"].Default; d == nil {
			t.Errorf("%s: a default of 0 is a default", from)
		}
		meta := typ.Fields["metadata"].Type
		if !meta.Fields["labels"].ZeroIsAbsent || meta.Fields["creationTimestamp"].Type.Same == nil {
			t.Errorf("%s: metadata is not compared as the server stores it", from)
		}
	}
}

func describe(t *merge.Type) string {
	if t == nil || t.Kind == merge.Unknown {
		return "anything"
	}
	atomic := map[bool]string{true: "atomic "}[t.Atomic]
	switch t.Kind {
	case merge.Scalar:
		return "scalar"
	case merge.Object:
		return atomic + map[bool]string{true: "open "}[t.Open] + "object"
	case merge.Map:
		return atomic + "map"
	case merge.List:
		return "atomic list"
	case merge.Set:
		return "set"
	}
	var keys []string
	for _, k := range t.Keys {
		if keys = append(keys, k.Name); k.Default != nil {
			keys[len(keys)-1] += "=" + k.Default.(string)
		}
	}
	return "keyed by " + strings.Join(keys, ",")
}

func TestFromOpenAPI(t *testing.T) {
	const doc = `{"openapi":"3.0.0","paths":{"/x":{"get":{"description":"a \"}\" and a \\"}}},"components":{"schemas":{
	 "io.k8s.api.core.v1.ConfigMap":{"type":"object","x-kubernetes-group-version-kind":[{"group":"","version":"v1","kind":"ConfigMap"}],"properties":{
	   "apiVersion":{"type":"string"},"kind":{"type":"string"},
	   "metadata":{"allOf":[{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}],"default":{}},
	   "binaryData":{"type":"object","additionalProperties":{"type":"string","format":"byte"}},
	   "immutable":{"type":"boolean"},
	   "future":{"type":"string","default":""}}},
	 "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta":{"type":"object","properties":{
	   "name":{"type":"string"},
	   "creationTimestamp":{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time"},
	   "finalizers":{"type":"array","items":{"type":"string"},"x-kubernetes-patch-strategy":"merge"},
	   "ownerReferences":{"type":"array","items":{"$ref":"#/x/Owner"},"x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"uid"}}},
	 "Owner":{"type":"object","properties":{"uid":{"type":"string"}}},
	 "Tree":{"type":"object","x-kubernetes-group-version-kind":[{"group":"g","version":"v1","kind":"Tree"}],"properties":{
	   "children":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["kind"],"items":{"$ref":"#/x/Tree"}},
	   "kind":{"type":"string","default":"leaf"},
	   "either":{"allOf":[{"$ref":"#/x/Owner"},{"type":"object","properties":{"b":{"type":"string"}}}]},
	   "ref":{"allOf":[{"$ref":"#/x/Owner"}],"x-kubernetes-map-type":"atomic"},
	   "listed":{"type":["string","null"]},
	   "union":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"x-kubernetes-unions":[{"discriminator":"type","fields-to-discriminateBy":{"a":"A","b":"B"}}]}}}}}}`
	d, err := FromOpenAPI([]byte(doc), merge.SourceServer)
	if err != nil {
		t.Fatal(err)
	}
	cm, err := d.Type("", "v1", "ConfigMap")
	if cm == nil {
		t.Fatal("no ConfigMap:", err)
	}
	meta := cm.Fields["metadata"].Type
	checks := []struct {
		reason string
		ok     bool
	}{
		{"what Go knows of a field is laid over", cm.Fields["binaryData"].ZeroIsAbsent && cm.Fields["binaryData"].Type.Elem.Same != nil},
		{"a pointer in Go tells false from absence", !cm.Fields["immutable"].ZeroIsAbsent},
		{"a field that only the server knows is literal", !cm.Fields["future"].ZeroIsAbsent},
		{"a default that says nothing is none", cm.Fields["metadata"].Default == nil},
		{"a field that the server lacks is not declared", len(Unknown(cm, read(t, `{"data":{}}`))) == 1},
		{"patch strategy stands in for a missing list-type", meta.Fields["finalizers"].Type.Kind == merge.Set},
		{"with its merge key", describe(meta.Fields["ownerReferences"].Type) == "keyed by uid"},
		{"times are compared by meaning", meta.Fields["creationTimestamp"].Type.Same != nil},
		{"types name their source", meta.Source == merge.SourceServer},
	}
	tree, err := d.Type("g", "v1", "Tree")
	if tree == nil {
		t.Fatal("no Tree:", err)
	}
	checks = append(checks, []struct {
		reason string
		ok     bool
	}{
		{"a type within itself, with a key's default", describe(walk(tree, merge.Path{merge.Named("children"), merge.Named("*"), merge.Named("children")})) == "keyed by kind=leaf"},
		{"several parts of an object", len(tree.Fields["either"].Type.Fields) == 2},
		{"atomic where it is referred to", tree.Fields["ref"].Type.Atomic},
		{"not elsewhere", !tree.Fields["either"].Type.Atomic},
		{"a type that may be null", tree.Fields["listed"].Type.Kind == merge.Scalar},
		{"a union", len(tree.Fields["union"].Type.OneOf) == 1 && tree.Fields["union"].Type.OneOf[0].Displaces},
		{"metadata is ObjectMeta even where it is not declared", tree.Fields["metadata"].Type == objectMeta()},
	}...)
	for _, c := range checks {
		if !c.ok {
			t.Error(c.reason)
		}
	}
	if got, err := d.Type("g", "v2", "Tree"); got != nil || err != nil {
		t.Error("a version that is not there was found, or is an error:", err)
	}
}

func TestFromOpenAPIRefuses(t *testing.T) {
	tests := []struct{ reason, doc string }{
		{"nothing", ``},
		{"not JSON", `openapi: 3.0.0`},
		{"another document", `{"kind":"List"}`},
		{"cut off", `{"components":{"schemas":{"A":{"type":"obj`},
		{"cut off at the end", `{"components":{"schemas":{"A":{}}}`},
		{"a list", `[]`},
		{"components that are none", `{"components":[]}`},
		{"a kind that is none", `{"components":{"schemas":{"A":{"x-kubernetes-group-version-kind":"A"}}}}`},
	}
	for _, test := range tests {
		if _, err := FromOpenAPI([]byte(test.doc), merge.SourceServer); err == nil {
			t.Errorf("%s: no error", test.reason)
		}
	}
	// What is wrong inside a type shows when the type is asked for.
	d, err := FromOpenAPI([]byte(`{"definitions":{"A":{"x-kubernetes-group-version-kind":[{"kind":"A"}],"properties":{"b":{"$ref":"#/definitions/B"}}}}}`), merge.SourceFile)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := d.Type("", "", "A"); got != nil || err == nil || len(d.Kinds()) != 1 {
		t.Errorf("a type with a hole was given out: %v, of %v", err, d.Kinds())
	}
	if got, err := d.Type("", "", "B"); got != nil || err != nil {
		t.Errorf("a kind that is not there has another's error: %v", err)
	}
}

func TestFromCRDRefuses(t *testing.T) {
	for reason, text := range map[string]string{
		"another kind":   `{"apiVersion":"v1","kind":"ConfigMap"}`,
		"an old version": `{"apiVersion":"apiextensions.k8s.io/v1beta1","spec":{}}`,
		"no versions":    `{"apiVersion":"apiextensions.k8s.io/v1","spec":{"group":"g","names":{"kind":"K"}}}`,
		"a wrong schema": `{"apiVersion":"apiextensions.k8s.io/v1","spec":{"group":"g","names":{"kind":"K"},"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":[]}}}]}}`,
		"a scalar":       `1`,
	} {
		if defs, err := FromCRD(read(t, text), merge.SourceFile); err == nil {
			t.Errorf("%s: read as %+v", reason, defs)
		}
	}
}

func FuzzFromOpenAPI(f *testing.F) {
	f.Add([]byte(`{"components":{"schemas":{"A":{"x-kubernetes-group-version-kind":[{"kind":"A"}],"properties":{"b":{"type":"array"}}}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := FromOpenAPI(text, merge.SourceServer)
		if err != nil {
			return
		}
		for k := range d.kinds {
			d.Type(k.Group, k.Version, k.Kind)
		}
	})
}

func TestRequired(t *testing.T) {
	crd := read(t, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"group":"g.example.com","names":{"kind":"W","plural":"ws"},
		"versions":[{"name":"v1","served":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","required":["size"],
		"properties":{"size":{"type":"integer"},"color":{"type":"string"}}}}}}}]}}`)
	defs, err := FromCRD(crd, merge.SourceFile)
	if err != nil {
		t.Fatal(err)
	}
	spec := defs[0].Type.Fields["spec"].Type
	if !spec.Fields["size"].Required || spec.Fields["color"].Required {
		t.Errorf("got size %+v, color %+v: what the schema requires is reported, and nothing else", spec.Fields["size"], spec.Fields["color"])
	}
}
