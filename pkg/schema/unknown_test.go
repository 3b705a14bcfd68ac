package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func TestUnknown(t *testing.T) {
	tests := []struct {
		reason, kind, object string
		want                 []string // path, and what Suggest says
	}{
		{"all is declared", "Deployment", `{"apiVersion":"apps/v1","metadata":{"labels":{"x":"y"}},"spec":{"replicas":1}}`, nil},
		{"a typo", "Deployment", `{"spec":{"replica":1}}`, []string{"spec.replica replicas"}},
		{"the wrong case", "Deployment", `{"spec":{"minreadyseconds":1}}`, []string{"spec.minreadyseconds minReadySeconds"}},
		{"neighbours swapped", "Deployment", `{"spec":{"tempalte":{}}}`, []string{"spec.tempalte template"}},
		{"nothing near", "Deployment", `{"spec":{"somethingElse":1}}`, []string{"spec.somethingElse "}},
		{"in an entry, by its keys", "Deployment", `{"spec":{"template":{"spec":{"containers":[{"name":"web","ports":[{"containerPort":53,"hostport":1}]}]}}}}`,
			[]string{"spec.template.spec.containers[name=web].ports[containerPort=53,protocol=TCP].hostport hostPort"}},
		{"in a repeated entry", "Deployment", `{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"A"},{"name":"A","vaule":"1"}]}]}}}}`,
			[]string{"spec.template.spec.containers[name=web].env[name=A]#2.vaule value"}},
		{"in an atomic list", "Deployment", `{"spec":{"template":{"spec":{"tolerations":[{},{"kee":"x"}]}}}}`, []string{"spec.template.spec.tolerations[1].kee key"}},
		{"null is a field too", "Deployment", `{"spec":{"foo":null}}`, []string{"spec.foo "}},
		{"in order", "Deployment", `{"zzz":1,"aaa":1}`, []string{"aaa ", "zzz "}},
		{"a level too deep", "Deployment", `{"spec":{"template":{"replicas":2}}}`, []string{"spec.template.replicas spec.replicas"}},
		{"in another part", "Deployment", `{"metadata":{"replicas":2},"spec":{"labels":{}}}`, []string{"metadata.replicas spec.replicas", "spec.labels metadata.labels"}},
		{"levels too high", "Deployment", `{"spec":{"containers":[]}}`, []string{"spec.containers spec.template.spec.containers"}},
		{"of an entry", "Deployment", `{"spec":{"template":{"spec":{"image":"x","containers":[{"name":"a","env":[{"name":"b","image":"x"}]}]}}}}`,
			[]string{"spec.template.spec.containers[name=a].env[name=b].image spec.template.spec.containers[name=a].image", "spec.template.spec.image spec.template.spec.containers[*].image"}},
		{"free keys are declared", "ConfigMap", `{"data":{"anything":"x"}}`, nil},
		{"a CRD's open default", "CustomResourceDefinition", `{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"default":{"x":[{"y":1}]}}}}]}}`, nil},
		{"a schema in a schema", "CustomResourceDefinition", `{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"a":{"items":{"typ":"x"}}}}}}]}}`,
			[]string{"spec.versions[0].schema.openAPIV3Schema.properties.a.items.typ type"}},
		{"a boolean where a schema may stand", "CustomResourceDefinition", `{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"additionalProperties":false}}}]}}`, nil},
		{"an earlier version's", "Ingress", `{"spec":{"backend":{"serviceName":"a"},"defaultBackend":{"servicePort":80},"rules":[{"http":{"paths":[{"backend":{"serviceName":"a"}}]}}]}}`,
			[]string{"spec.backend defaultBackend", "spec.defaultBackend.servicePort service.port.number", "spec.rules[0].http.paths[0].backend.serviceName service.name"}},
		{"not of another kind", "Deployment", `{"spec":{"backend":1,"serviceName":"a"}}`, []string{"spec.backend ", "spec.serviceName "}},
	}
	groups := map[string]string{"Ingress": "networking.k8s.io", "Deployment": "apps", "CustomResourceDefinition": "apiextensions.k8s.io"}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			typ, ok := Builtin(groups[test.kind], "v1", test.kind)
			if !ok {
				t.Fatal("no such type")
			}
			var got []string
			for _, p := range Unknown(typ, read(t, test.object)) {
				got = append(got, fmt.Sprintf("%s %s", p, Suggest(typ, p)))
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestFieldAt(t *testing.T) {
	deployment, _ := Builtin("apps", "v1", "Deployment")
	tests := []struct {
		reason, path string
		ok           bool
		kind         merge.Kind
	}{
		{"the object itself", ".", true, merge.Object},
		{"a field", "spec.replicas", true, merge.Scalar},
		{"a free key", `metadata.labels["a/b"]`, true, merge.Scalar},
		{"an entry's field", "spec.template.spec.containers[name=x].env", true, merge.Keyed},
		{"no such field", "spec.replica", false, 0},
		{"a field of a list", "spec.template.spec.containers.image", false, 0},
		{"below a scalar", "spec.replicas.x", false, 0},
	}
	for _, test := range tests {
		path, err := merge.ParsePath(test.path)
		if err != nil {
			t.Fatal(err)
		}
		f, ok := FieldAt(deployment, path)
		if ok != test.ok || ok && f.Type.Kind != test.kind {
			t.Errorf("%s: %s is %+v, %v", test.reason, test.path, f.Type, ok)
		}
	}
}

func BenchmarkUnknown(b *testing.B) {
	deployment, _ := Builtin("apps", "v1", "Deployment")
	v := read(b, `{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"A","value":"x"}],"ports":[{"containerPort":80}]}]}}}}`)
	b.ReportAllocs()
	for b.Loop() {
		Unknown(deployment, v)
	}
}

// TestNearest: a path that no object has leads to the one that was meant.
func TestNearest(t *testing.T) {
	typ, _ := Builtin("apps", "v1", "Deployment")
	object := read(t, `{"metadata":{"finalizers":["a.example/x"]},"spec":{"template":{"spec":{"tolerations":[{"key":"a"}],
		"containers":[{"name":"web","image":"i","env":[{"name":"LOG","value":"1"}]},{"name":"mesh","ports":[{"containerPort":80}]},{"name":"images"}]}}}}`)
	const containers = "spec.template.spec.containers"
	for _, tt := range []struct{ reason, path, want string }{
		{"a field", "spec.replica", "spec.replicas"},
		{"a field that no type declares", "metadata.labls", "metadata.labels"},
		{"an entry by its name", containers + "[web]", containers + "[name=web]"},
		{"an entry, and below it", containers + "[web].env[LOG].value", containers + "[name=web].env[name=LOG].value"},
		{"an entry by its place", containers + "[1]", containers + "[name=mesh]"},
		{"an entry by its place, behind a dot", containers + ".0.image", containers + "[name=web].image"},
		{"a place behind a dot that no entry has", containers + ".7", ""},
		{"no place behind a dot", containers + ".-1", ""},
		{"a typing error in a key", containers + "[name=wb].image", containers + "[name=web].image"},
		{"a member of a set by its place", "metadata.finalizers[0]", `metadata.finalizers[="a.example/x"]`},
		{"an entry of one value has no name", "spec.template.spec.tolerations[a]", ""},
		{"a field of an entry that is not named", containers + ".image", containers + "[name=web].image"},
		{"the one that has it", containers + ".env.value", containers + "[name=web].env[name=LOG].value"},
		{"only the second has it", containers + ".ports", containers + "[name=mesh].ports"},
		{"only the second has it, and below it", containers + ".ports.containerPort", containers + "[name=mesh].ports[containerPort=80,protocol=TCP].containerPort"},
		{"an entry below it by its name", containers + ".env[LOG].value", containers + "[name=web].env[name=LOG].value"},
		{"none has it, and the type declares it", containers + ".tty", containers + "[name=web].tty"},
		{"a typing error in a field of one", containers + ".imag", containers + "[name=web].image"},
		{"a field that no entry has", containers + ".database", ""},
		{"without spec", "template.spec.tolerations", "spec.template.spec.tolerations"},
		{"without spec, and no object has it", "paused", ""},
		{"nothing near", containers + "[database]", ""},
		{"what is there", containers + "[name=web]", ""},
	} {
		p, err := merge.ParsePath(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		if got := Nearest(typ, p, object); len(got) == 0 && tt.want != "" || len(got) > 0 && got.String() != tt.want {
			t.Errorf("%s: %s: got %q, want %q", tt.reason, tt.path, got, tt.want)
		}
	}
}
