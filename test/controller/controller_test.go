package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	builtin "github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

const definitions = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.controller.example.com}
spec:
  group: controller.example.com
  scope: Cluster
  names: {plural: shops, kind: Shop}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
` + tillDefinition

const tillDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tills.controller.example.com}
spec:
  group: controller.example.com
  scope: Namespaced
  names: {plural: tills, kind: Till}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
          spec:
            type: object
            properties:
              currency: {type: string, default: EUR}
              drawers:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, open: {type: boolean, default: false}}}
`

// till is a custom resource that leaves two values to the server.
func till(namespace string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "controller.example.com/v1", "kind": "Till", "metadata": map[string]any{"name": "till", "namespace": namespace},
		"spec": map[string]any{"drawers": []any{map[string]any{"name": "left"}}},
	}}
}

// everyKind returns an object of every built-in kind that can be written, typed and without
// TypeMeta, as controllers make them, and a custom resource.
func everyKind(t testing.TB, scheme *runtime.Scheme, namespace, ip string) []client.Object {
	t.Helper()
	text, err := os.ReadFile("../e2e/testdata/sweep/kinds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Kinds []json.RawMessage }
	if err := yaml.Unmarshal([]byte(strings.NewReplacer("$NAME", namespace, "$NS", namespace, "$IP", ip).Replace(string(text))), &doc); err != nil {
		t.Fatal(err)
	}
	all := []client.Object{till(namespace)}
	for i, text := range doc.Kinds {
		o := typed(t, scheme, text)
		if o.GetName() == "" {
			o.SetName(fmt.Sprintf("%s-%d", namespace, i))
		}
		all = append(all, o)
	}
	return all
}

// typed returns a manifest as the kind's Go type, with its namespace if the kind has one.
func typed(t testing.TB, scheme *runtime.Scheme, text []byte) client.Object {
	t.Helper()
	var meta metav1.TypeMeta
	if err := json.Unmarshal(text, &meta); err != nil {
		t.Fatal(err)
	}
	made, err := scheme.New(meta.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, made); err != nil {
		t.Fatalf("%s: %v", meta.Kind, err)
	}
	made.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	o, ok := made.(client.Object)
	if !ok {
		t.Fatalf("%T is no object", made)
	}
	return o
}

// TestEveryKind: the first reconciliation creates an object of every kind, the second sends
// nothing, and a third writes the one object that another client has changed.
func TestEveryKind(t *testing.T) {
	server := start(t)
	server.does(t, definitions, "apply", "-f", "-")
	server.does(t, "", "wait", "--for=condition=Established", "crd/shops.controller.example.com", "crd/tills.controller.example.com", "--timeout=1m")
	for i, tt := range []struct {
		name string
		o    apply.Options
	}{
		{"kubectls-annotation", apply.Options{}},
		{"own-annotation", apply.Options{Annotation: "controller.example.com/applied"}},
		{"server-side", apply.Options{ServerSide: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server.does(t, "", "create", "namespace", tt.name)
			reconciles(t, server, tt.name, fmt.Sprintf("10.77.0.%d", i), tt.o)
		})
	}
}

func reconciles(t testing.TB, s server, namespace, ip string, o apply.Options) {
	t.Helper()
	counted, requests := s.counted()
	scheme := kinds(t)
	mgr, err := ctrl.NewManager(counted, ctrl.Options{
		Scheme: scheme, Metrics: metrics.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr(true)},
		Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Manager, o.Scheme, o.Types = "shop-controller", scheme, &apply.Types{}
	if err := o.Types.Add(definition(t)); err != nil {
		t.Fatal(err)
	}
	planner, err := apply.New(o)
	if err != nil {
		t.Fatal(err)
	}
	objects := everyKind(t, scheme, namespace, ip)
	for _, o := range objects {
		inNamespace(t, mgr.GetClient(), o, namespace)
	}
	rec := &Reconciler{Client: mgr.GetClient(), Planner: planner, Desired: func(*Shop) []client.Object { return objects }}
	done := make(chan error, 100)
	err = ctrl.NewControllerManagedBy(mgr).For(&Shop{}).Named(namespace).Complete(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
		if r.Name != namespace {
			return ctrl.Result{}, nil
		}
		result, err := rec.Reconcile(ctx, r)
		done <- err
		return result, err
	}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	s.does(t, "{apiVersion: controller.example.com/v1, kind: Shop, metadata: {name: "+namespace+"}}", "create", "-f", "-")
	first := <-done
	if first != nil {
		t.Fatalf("the first reconciliation: %v", first)
	}
	created := requests.writes.Load()
	seen(t, mgr, objects)
	reads, writes := requests.reads.Load(), requests.writes.Load()
	touch := func(n string) {
		s.does(t, "", "annotate", "shop/"+namespace, "--overwrite", "touched="+n)
		if err := <-done; err != nil {
			t.Errorf("reconciliation %s: %v", n, err)
		}
	}
	touch("2")
	t.Logf("%d objects: the first reconciliation wrote %d, the second %d, with %d reads", len(objects), created, requests.writes.Load()-writes, requests.reads.Load()-reads)
	if requests.writes.Load() != writes || requests.reads.Load() != reads {
		t.Errorf("the second reconciliation sent something: %v", requests.last.Load())
	}
	if len(objects) < 60 || int(created) != len(objects) {
		t.Errorf("%d objects, %d were created", len(objects), created)
	}
	s.does(t, "", "patch", "--namespace="+namespace, "limitrange", "--type=merge", "-p", `{"spec":{"limits":[{"type":"PersistentVolumeClaim","max":{"storage":"2Ti"}}]}}`, nameOf(objects, "LimitRange"))
	seen(t, mgr, objects)
	writes = requests.writes.Load()
	touch("3")
	if n := requests.writes.Load() - writes; n != 1 {
		t.Errorf("%d writes for one object that was changed", n)
	}
}

func ptr[T any](v T) *T { return &v }

// nameOf returns the name of the object of a kind.
func nameOf(objects []client.Object, kind string) string {
	for _, o := range objects {
		if strings.HasSuffix(fmt.Sprintf("%T", o), "."+kind) {
			return o.GetName()
		}
	}
	return ""
}

// definition returns the custom resource's definition as JSON.
func definition(t testing.TB) []byte {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte(tillDefinition))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// inNamespace puts an object into a namespace, if its kind has one.
func inNamespace(t testing.TB, c client.Client, o client.Object, namespace string) {
	t.Helper()
	gvk, err := c.GroupVersionKindFor(o)
	if err != nil {
		t.Fatal(err)
	}
	kind, known := builtin.BuiltinKind(gvk.Group, gvk.Version, gvk.Kind)
	if !known || kind.Namespaced {
		o.SetNamespace(namespace)
	}
}

// seen waits until the cache has what the server has of all objects.
func seen(t testing.TB, c interface {
	GetClient() client.Client
	GetAPIReader() client.Reader
}, objects []client.Object) {
	t.Helper()
	for _, o := range objects {
		has, ok := o.DeepCopyObject().(client.Object)
		if !ok {
			t.Fatalf("%T", o)
		}
		key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
		if err := c.GetAPIReader().Get(t.Context(), key, has); err != nil {
			t.Fatal(err)
		}
		want := has.GetResourceVersion()
		for began := time.Now(); ; time.Sleep(time.Millisecond) {
			err := c.GetClient().Get(t.Context(), key, has)
			if err == nil && has.GetResourceVersion() == want {
				break
			}
			if err != nil && !apierrors.IsNotFound(err) || time.Since(began) > time.Minute {
				t.Fatal(errors.Join(err, fmt.Errorf("%T %s: the cache does not have version %s", o, key, want)))
			}
		}
	}
}
