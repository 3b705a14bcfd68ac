package apply_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
)

// deployment is a Deployment as a controller states it.
func deployment(replicas int32, image string) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: image}}}},
		},
	}
}

// planner is for merge patches of the controller shop.
func planner(o apply.Options) *apply.Planner {
	o.Manager = "shop"
	p, err := apply.New(o)
	if err != nil {
		log.Fatal(err)
	}
	return p
}

// scaled is the live form of a Deployment that was applied with three replicas, and that a user
// has scaled to nine and given a sidecar.
func scaled(p *apply.Planner) *unstructured.Unstructured {
	plan, err := p.Plan(context.Background(), deployment(3, "web:1"), nil)
	if err != nil {
		log.Fatal(err)
	}
	live, err := plan.Object()
	if err != nil {
		log.Fatal(err)
	}
	live.SetResourceVersion("7")
	containers := []any{map[string]any{"name": "web", "image": "web:1"}, map[string]any{"name": "mesh", "image": "mesh:2"}}
	if err := errors.Join(unstructured.SetNestedField(live.Object, int64(9), "spec", "replicas"),
		unstructured.SetNestedSlice(live.Object, containers, "spec", "template", "spec", "containers")); err != nil {
		log.Fatal(err)
	}
	return live
}

// fromCache stands for the cache of an informer, which has that Deployment.
func fromCache(string) *unstructured.Unstructured { return scaled(planner(apply.Options{})) }

// What desired states is written, what only live has stays: the sidecar is kept, and the write is
// bound to the object that was merged.
func ExamplePlanner_Plan() {
	planner, err := apply.New(apply.Options{Manager: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	replicas := int32(3)
	desired := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:2"}}}},
		},
	}
	live := fromCache("web") // of an informer; nil where there is no such object
	plan, err := planner.Plan(context.Background(), desired, live)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Changed())
	for _, change := range plan.Changes() {
		fmt.Println(change)
	}
	request, err := plan.Request()
	fmt.Println(request.Type, request.Manager, err)
	// Output:
	// true
	// spec.replicas: 9 -> 3: was changed since it was applied
	// spec.template.spec.containers[name=web].image: "web:1" -> "web:2": desired has changed
	// application/merge-patch+json shop <nil>
}

// With the policy strict, the caller decides about values that another manager has changed.
func ExampleConflictError() {
	desired, live := deployment(3, "web:2"), fromCache("web")
	planner, err := apply.New(apply.Options{Manager: "shop", Policy: "strict"})
	if err != nil {
		log.Fatal(err)
	}
	_, err = planner.Plan(context.Background(), desired, live)
	var conflict *apply.ConflictError
	if errors.As(err, &conflict) {
		fmt.Println(conflict)
		for _, c := range conflict.Conflicts {
			fmt.Printf("%s: live has %s, desired has %s: %s\n", c.Path, c.From, c.To, c.Why)
		}
	}
	// Output:
	// deployment.apps/web: desired and live disagree: spec.replicas
	// spec.replicas: live has 9, desired has 3: was changed since it was applied
}

// A rule leaves the replicas to the manager that scales.
func ExampleOptions() {
	p := planner(apply.Options{Rules: []byte("- path: spec.replicas\n  winner: live\n")})
	plan, err := p.Plan(context.Background(), deployment(3, "web:2"), scaled(p))
	fmt.Println(plan, err)
	// Output:
	// spec.template.spec.containers[name=web].image: "web:1" -> "web:2": desired has changed <nil>
}

// The objects of one parent get its owner reference, and are not taken from another parent.
func ExamplePlanner_OwnedBy() {
	p := planner(apply.Options{Labels: map[string]string{"app.kubernetes.io/managed-by": "shop"}})
	ref := func(name string) metav1.OwnerReference {
		controls := true
		return metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Shop", Name: name, UID: types.UID("uid of " + name), Controller: &controls}
	}
	created, err := p.OwnedBy(ref("east")).Plan(context.Background(), deployment(3, "web:1"), nil)
	if err != nil {
		log.Fatal(err)
	}
	live, err := created.Object()
	fmt.Println(live.GetLabels(), live.GetOwnerReferences()[0].Name, err)
	_, err = p.OwnedBy(ref("west")).Plan(context.Background(), deployment(3, "web:1"), live)
	fmt.Println(err)
	// Output:
	// map[app.kubernetes.io/managed-by:shop] east <nil>
	// deployment.apps/web: desired and live disagree: metadata.ownerReferences
}

// The caller keeps what was applied last, for example in its own status; the object gets no
// annotation.
func ExamplePlanner_Since() {
	p := planner(apply.Options{})
	config := func(data map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "shop"}, Data: data}
	}
	first, err := p.Since(nil).Plan(context.Background(), config(map[string]string{"a": "1", "b": "2"}), nil)
	if err != nil {
		log.Fatal(err)
	}
	live := config(map[string]string{"a": "1", "b": "2", "theirs": "3"})
	live.ResourceVersion = "1"
	second, err := p.Since(first.Applied()).Plan(context.Background(), config(map[string]string{"a": "1"}), live)
	if err != nil {
		log.Fatal(err)
	}
	request, err := second.Request()
	fmt.Println(second)
	fmt.Println(string(request.Body), err)
	// Output:
	// data.b: "2" removed: desired no longer states it
	// {"data":{"b":null},"metadata":{"resourceVersion":"1"}} <nil>
}

// A custom resource's list is split by its keys once its definition is known: what others have
// added to it stays.
func ExampleTypes() {
	var kinds apply.Types
	err := kinds.Add([]byte(`{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"spec": {"group": "example.com", "names": {"kind": "Shop", "plural": "shops"}, "scope": "Namespaced", "versions": [{"name": "v1",
			"schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"tills": {
				"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
				"items": {"type": "object", "properties": {"name": {"type": "string"}, "open": {"type": "boolean"}}}}}}}}}}]}}`))
	if err != nil {
		log.Fatal(err)
	}
	shop := func(tills string) []byte {
		return []byte(`{"apiVersion": "example.com/v1", "kind": "Shop", "metadata": {"name": "s", "resourceVersion": "3"}, "spec": {"tills": ` + tills + `}}`)
	}
	plan, err := planner(apply.Options{Types: &kinds}).Plan(context.Background(), shop(`[{"name": "a", "open": true}]`), shop(`[{"name": "a"}, {"name": "b"}]`))
	fmt.Println(plan, err)
	// Output:
	// spec.tills[name=a].open: true added: desired states it, and live does not have it <nil>
}
