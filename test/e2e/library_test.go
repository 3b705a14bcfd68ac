package e2e

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
)

const libraryFirst = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {team: shop, old: "yes"}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: web:1, ports: [{containerPort: 80}], resources: {limits: {cpu: 1000m, memory: 1Gi}}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80}, {name: dns, port: 53, protocol: UDP}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {a: "1", b: "2"}
---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {pw: one, user: shop}
`

// libraryNext is the same after some work on it: values changed, a label, a port, a container's
// field and a key left out, others added.
const libraryNext = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {team: shop}}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: web:2, ports: [{containerPort: 8080}], resources: {limits: {cpu: 1}}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {a: "3"}
---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {pw: two}
`

// TestLibrary holds pkg/apply, as a controller uses it with client-go's dynamic client, to
// writing what the command writes, in one write or none: created, merged over what others
// changed, and merged once more.
func TestLibrary(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	client, err := dynamic.NewForConfig(s.config)
	if err != nil {
		t.Fatal(err)
	}
	command, library := s.user(t, "library-command"), s.user(t, "library-go")
	for _, step := range []struct{ local, others string }{
		{local: libraryFirst},
		{local: libraryFirst, others: `{"spec":{"replicas":9,"template":{"spec":{"containers":[{"name":"mesh","image":"mesh:1"}]}}}}`},
		{local: libraryNext, others: `{"metadata":{"labels":{"old":"no","mesh":"on"}},"spec":{"replicas":7}}`},
		{local: libraryNext},
	} {
		for _, u := range []*user{command, library} {
			if step.others != "" {
				u.does("kubectl", "patch", "deployment/web", "-p", step.others)
			}
		}
		command.file("all.yaml", step.local)
		command.merges("-f", "all.yaml")
		for _, local := range locals(t, step.local, library.ns) {
			kind := local.GetKind()
			resource := client.Resource(schema.GroupVersionResource{
				Group: local.GroupVersionKind().Group, Version: "v1", Resource: strings.ToLower(kind) + "s",
			}).Namespace(library.ns)
			controls(t, resource, local)
			ref := strings.ToLower(kind) + "/web"
			if got, want := configured(t, library, ref), configured(t, command, ref); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: the library wrote\n%v\nthe command\n%v", ref, got, want)
			}
		}
	}
}

// locals are the objects of a file as a controller holds them.
func locals(t *testing.T, text, ns string) []*unstructured.Unstructured {
	t.Helper()
	read, err := source.Parse("all.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out []*unstructured.Unstructured
	for _, o := range read {
		u, err := o.InNamespace(ns).Unstructured()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, u)
	}
	return out
}

// controls is one reconciliation, after which there is nothing left to write.
func controls(t *testing.T, client dynamic.ResourceInterface, desired *unstructured.Unstructured) {
	t.Helper()
	planner, err := apply.New(apply.Options{Manager: "kubectl-client-side-apply"})
	if err != nil {
		t.Fatal(err)
	}
	if err := reconcile(t.Context(), client, planner, desired); err != nil {
		t.Fatal(err)
	}
	live, err := client.Get(t.Context(), desired.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := planner.Plan(t.Context(), desired, live); err != nil || again.Changed() {
		t.Errorf("%s: planned once more: %v, %v", desired.GetKind(), again, err)
	}
}

// reconcile is one reconciliation with client-go's dynamic client: a read, and a write where there
// is something to write. A 409 Conflict means that somebody else wrote meanwhile: return it, and
// the next reconciliation plans anew.
func reconcile(ctx context.Context, client dynamic.ResourceInterface, planner *apply.Planner, desired *unstructured.Unstructured) error {
	live, err := client.Get(ctx, desired.GetName(), metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	plan, err := planner.Plan(ctx, desired, live)
	if err != nil || !plan.Changed() {
		return err
	}
	request, err := plan.Request()
	if err != nil {
		return err
	}
	if request.Type == "" {
		obj, err := plan.Object()
		if err == nil {
			_, err = client.Create(ctx, obj, metav1.CreateOptions{FieldManager: request.Manager})
		}
		return err
	}
	options := metav1.PatchOptions{FieldManager: request.Manager}
	if request.Force {
		options.Force = &request.Force
	}
	_, err = client.Patch(ctx, desired.GetName(), request.Type, request.Body, options)
	return err
}

// configured is an object of the cluster without what is of its own in each namespace.
func configured(t *testing.T, u *user, ref string) map[string]any {
	t.Helper()
	text, err := json.Marshal(u.lives(ref))
	if err != nil {
		t.Fatal(err)
	}
	var o map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), u.ns, "NAMESPACE")), &o); err != nil {
		t.Fatal(err)
	}
	delete(o, "status")
	meta, _ := o["metadata"].(map[string]any)
	for _, own := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		delete(meta, own)
	}
	if spec, ok := o["spec"].(map[string]any); ok {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
	return o
}
