package ownership_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

// testdata/owned-deployment.json is the object that an API server 1.36 had after: kubectl
// create, kubectl scale --replicas=5, kubectl apply --server-side
// --field-manager=me of a label, an env var and a dnsPolicy that is the default.
func TestOriginal(t *testing.T) {
	text, err := os.ReadFile("testdata/owned-deployment.json")
	if err != nil {
		t.Fatal(err)
	}
	live := read(t, string(text))
	typ, ok := schema.Builtin("apps", "v1", "Deployment")
	if !ok {
		t.Fatal("no Deployment")
	}
	const created = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"finalizers":["example.com/keep"],"labels":{"app":"web"},"name":"web","namespace":"default"},"spec":{"selector":{"matchLabels":{"app":"web"}},` +
		`"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"env":[{"name":"A","value":"1"}],"image":"web:1","name":"web",` +
		`"ports":[{"containerPort":53,"protocol":"UDP"},{"containerPort":80,"protocol":"TCP"}]}],"terminationGracePeriodSeconds":60,"volumes":[{"name":"tmp"}]}}}}`
	const applied = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"labels":{"team":"a"},"name":"web","namespace":"default"},"spec":{"template":{"spec":{` +
		`"containers":[{"env":[{"name":"B","value":"2"}],"name":"web"}],"dnsPolicy":"ClusterFirst"}}}}`
	for _, c := range []struct {
		reason   string
		appliers []string
		want     string
	}{
		{"the creator owns the server's defaults, which were not applied; replicas have another owner by now", []string{"kubectl-create"}, created},
		{"what is applied counts though it is the default", []string{"me"}, applied},
		{"no manager of that name", []string{"helm"}, `null`},
		{"a subresource is no configuration", []string{"kubectl"}, `null`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got := ownership.Original(live, ownership.Named(c.appliers...), typ)
			if d := cmp.Diff(c.want, show(t, got)); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("two appliers add up", func(t *testing.T) {
		got := ownership.Original(live, ownership.Named("me", "kubectl-create"), typ)
		for _, path := range []string{"metadata.labels.app", "metadata.labels.team", "spec.template.spec.containers[name=web].env[name=A]", "spec.template.spec.containers[name=web].env[name=B]"} {
			if _, ok := merge.Lookup(got, parse(t, path), typ); !ok {
				t.Errorf("%s is missing in %s", path, show(t, got))
			}
		}
	})
	t.Run("of an object in which nothing is stored that was applied, it is known that it was", func(t *testing.T) {
		live := read(t, `{"apiVersion":"networking.k8s.io/v1beta1","kind":"Ingress","metadata":{"name":"i","managedFields":[
			{"manager":"me","operation":"Apply","fieldsV1":{"f:spec":{"f:backend":{"f:serviceName":{}}}}}]},"spec":{"backend":{"servicePort":0},"rules":[]}}`)
		ingress, _ := schema.Builtin("networking.k8s.io", "v1", "Ingress")
		const want = `{"apiVersion":"networking.k8s.io/v1beta1","kind":"Ingress","metadata":{"name":"i"},"spec":{"backend":{}}}`
		if d := cmp.Diff(want, show(t, ownership.Original(live, ownership.Named("me"), ingress))); d != "" {
			t.Error(d)
		}
	})
	t.Run("the input stays", func(t *testing.T) {
		if d := cmp.Diff(show(t, read(t, string(text))), show(t, live)); d != "" {
			t.Error(d)
		}
	})
}

func TestOriginalOfAService(t *testing.T) {
	live := read(t, `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s","managedFields":[{"manager":"kubectl-create","operation":"Update","fieldsV1":{"f:spec":{
		"f:clusterIP":{},"f:internalTrafficPolicy":{},"f:type":{},"f:sessionAffinity":{},"f:selector":{},
		"f:ports":{".":{},"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:protocol":{},"f:targetPort":{},"f:nodePort":{}},"k:{\"port\":81,\"protocol\":\"TCP\"}":{}}}}}]},
		"spec":{"clusterIP":"10.0.0.1","internalTrafficPolicy":"Cluster","type":"NodePort","sessionAffinity":"None","selector":{"a":"b"},"ports":[{"port":80,"protocol":"TCP","targetPort":8080,"nodePort":31000}]}}`)
	typ, _ := schema.Builtin("", "v1", "Service")
	// The clusterIP and the nodePort are the server's, and port 81 is gone.
	const want = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"ports":[{"port":80,"protocol":"TCP","targetPort":8080}],"selector":{"a":"b"},"type":"NodePort"}}`
	if d := cmp.Diff(want, show(t, ownership.Original(live, ownership.Named("kubectl-create"), typ))); d != "" {
		t.Error(d)
	}
}

var read, show, parse = values.Read, values.Show, values.Path
