package apply_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
)

// deployment is a Deployment as a controller states it.
func deployment(replicas int64, image string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1",
		"kind":       "Deployment",
		"metadata":   map[string]any{"name": "web", "namespace": "shop"},
		"spec": map[string]any{
			"replicas": replicas,
			"template": map[string]any{"spec": map[string]any{
				"containers": []any{map[string]any{"name": "web", "image": image}},
			}},
		},
	}}
}

// scaled is the live form of a Deployment that was applied with three replicas, and that
// somebody has scaled to nine and given a sidecar.
func scaled() (*unstructured.Unstructured, error) {
	plan, err := apply.Plan(context.Background(), deployment(3, "web:1"), nil)
	if err != nil {
		return nil, err
	}
	live, err := plan.Unstructured()
	if err != nil {
		return nil, err
	}
	live.SetResourceVersion("7")
	if err := unstructured.SetNestedField(live.Object, int64(9), "spec", "replicas"); err != nil {
		return nil, err
	}
	containers := []any{map[string]any{"name": "web", "image": "web:1"}, map[string]any{"name": "mesh", "image": "mesh:2"}}
	err = unstructured.SetNestedSlice(live.Object, containers, "spec", "template", "spec", "containers")
	return live, err
}

// What local states is written, what only live has stays: the sidecar is kept, and the
// request is bound to the object that was merged.
func ExamplePlan() {
	live, err := scaled()
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := apply.Plan(context.Background(), deployment(3, "web:2"), live)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Action)
	for _, c := range plan.Changes {
		fmt.Printf("%s %s: %v -> %v\n", c.Op, c.Path, c.Old.Value, c.New.Value)
	}
	request, err := plan.Request(false)
	fmt.Println(request.Type, request.Version, err)
	// Output:
	// change
	// set spec.replicas: 9 -> 3
	// set spec.template.spec.containers[name=web].image: web:1 -> web:2
	// application/merge-patch+json 7 <nil>
}

// With the policy strict, what somebody else changed is left to the caller. The error names
// the fields, and no values; the values of each side are in the conflicts.
func ExamplePlan_conflicts() {
	live, err := scaled()
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := apply.Plan(context.Background(), deployment(3, "web:2"), live, apply.WithPolicy("strict"))
	if err != nil {
		fmt.Println(err)
		return
	}
	var conflict *apply.ConflictError
	if errors.As(plan.Err(), &conflict) {
		fmt.Println(conflict)
		for _, c := range conflict.Conflicts {
			fmt.Printf("%s: %s, was %v, local has %v, live has %v\n", c.Path, c.Kind, c.Original.Value, c.Local.Value, c.Live.Value)
		}
	}
	// Output:
	// deployment.apps/web: local and live disagree: spec.replicas: decide with another policy or with rules
	// spec.replicas: drift, was 3, local has 3, live has 9
}

// resource is the part of client-go's dynamic.ResourceInterface that writing an object needs.
type resource interface {
	Get(ctx context.Context, name string, o metav1.GetOptions, subresources ...string) (*unstructured.Unstructured, error)
	Create(ctx context.Context, obj *unstructured.Unstructured, o metav1.CreateOptions, subresources ...string) (*unstructured.Unstructured, error)
	Patch(ctx context.Context, name string, t types.PatchType, data []byte, o metav1.PatchOptions, subresources ...string) (*unstructured.Unstructured, error)
}

var _ resource = dynamic.ResourceInterface(nil)

// applyWith is one reconciliation with client-go's dynamic client: one GET, and one write where
// there is something to write. A 409 Conflict means that somebody else wrote meanwhile: return
// it, and the next reconciliation plans anew.
func applyWith(ctx context.Context, client resource, local *unstructured.Unstructured) (apply.Action, error) {
	live, err := client.Get(ctx, local.GetName(), metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return apply.Nothing, err
	}
	if apierrors.IsNotFound(err) {
		live = nil
	}
	plan, err := apply.Plan(ctx, local, live, apply.WithManager("shop-controller"))
	if err == nil {
		err = plan.Err()
	}
	if err != nil {
		return apply.Nothing, err
	}
	switch plan.Action {
	case apply.Create:
		obj, err := plan.Unstructured()
		if err == nil {
			_, err = client.Create(ctx, obj, metav1.CreateOptions{FieldManager: "shop-controller"})
		}
		return plan.Action, err
	case apply.Change:
		request, err := plan.Request(false)
		if err == nil {
			_, err = client.Patch(ctx, local.GetName(), request.Type, request.Body, metav1.PatchOptions{FieldManager: "shop-controller"})
		}
		return plan.Action, err
	}
	return plan.Action, nil
}

// A Deployment that does not exist is created; merged again, there is nothing to do.
func ExamplePlan_clientGo() {
	ctx := context.Background()
	client := &memory{}
	for range 2 {
		action, err := applyWith(ctx, client, deployment(3, "web:1"))
		fmt.Println(action, err)
	}
	fmt.Println(client.requests)
	// Output:
	// create <nil>
	// nothing <nil>
	// [get create get]
}

// runtimeClient is the part of a controller-runtime client.Client that writing an object needs.
// client.Client is a runtimeClient[client.Object, client.Patch, client.GetOption,
// client.CreateOption, client.PatchOption]; type parameters spare us the dependency.
type runtimeClient[Object, Patch, GetOption, CreateOption, PatchOption any] interface {
	Get(ctx context.Context, key types.NamespacedName, obj Object, o ...GetOption) error
	Create(ctx context.Context, obj Object, o ...CreateOption) error
	Patch(ctx context.Context, obj Object, patch Patch, o ...PatchOption) error
}

// reconcile is one reconciliation in the manner of controller-runtime. rawPatch is
// client.RawPatch; Object is client.Object, which *unstructured.Unstructured is.
func reconcile[Object, Patch, G, C, P any](ctx context.Context, client runtimeClient[Object, Patch, G, C, P], rawPatch func(types.PatchType, []byte) Patch, local *unstructured.Unstructured) error {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(local.GroupVersionKind())
	err := client.Get(ctx, types.NamespacedName{Namespace: local.GetNamespace(), Name: local.GetName()}, any(live).(Object))
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if apierrors.IsNotFound(err) {
		live = nil
	}
	plan, err := apply.Plan(ctx, local, live, apply.WithManager("shop-controller"))
	if err != nil || plan.Action == apply.Nothing {
		return err
	}
	if err := plan.Err(); err != nil {
		return err
	}
	if plan.Action == apply.Create {
		obj, err := plan.Unstructured()
		if err != nil {
			return err
		}
		return client.Create(ctx, any(obj).(Object))
	}
	request, err := plan.Request(false)
	if err != nil {
		return err
	}
	return client.Patch(ctx, any(live).(Object), rawPatch(request.Type, request.Body))
}

// The same with a client in the manner of controller-runtime.
func ExamplePlan_controllerRuntime() {
	ctx := context.Background()
	server := &memory{}
	rawPatch := func(t types.PatchType, data []byte) patch { return patch{t, data} }
	for _, image := range []string{"web:1", "web:2", "web:2"} {
		if err := reconcile(ctx, runtimeMemory{server}, rawPatch, deployment(3, image)); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(server.requests)
	fmt.Println(server.sent)
	// Output:
	// [get create get patch get]
	// application/merge-patch+json, bound to resourceVersion 1
}

// memory stands in for a server: it has one object, and takes no notice of what a patch says.
type memory struct {
	object   *unstructured.Unstructured
	requests []string
	sent     string
}

func (m *memory) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	m.requests = append(m.requests, "get")
	if m.object == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: "apps", Resource: "deployments"}, name)
	}
	return m.object.DeepCopy(), nil
}

func (m *memory) Create(_ context.Context, obj *unstructured.Unstructured, _ metav1.CreateOptions, _ ...string) (*unstructured.Unstructured, error) {
	m.requests = append(m.requests, "create")
	m.object = obj
	m.object.SetResourceVersion("1")
	return obj, nil
}

func (m *memory) Patch(ctx context.Context, _ string, t types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*unstructured.Unstructured, error) {
	m.requests = append(m.requests, "patch")
	m.sent = fmt.Sprintf("%s, bound to resourceVersion %s", t, m.object.GetResourceVersion())
	local := deployment(3, "web:2") // what the only patch of the examples leads to
	plan, err := apply.Plan(ctx, local, m.object)
	if err != nil {
		return nil, err
	}
	if request, err := plan.Request(false); err != nil || !slices.Equal(request.Body, data) {
		return nil, fmt.Errorf("unexpected patch %s: %v", data, err)
	}
	m.object, err = plan.Unstructured()
	return m.object, err
}

// runtimeObject is what controller-runtime calls a client.Object, patch what client.RawPatch
// returns, and runtimeMemory a client of memory.
type (
	runtimeObject interface {
		metav1.Object
		runtime.Object
	}
	patch struct {
		Type types.PatchType
		Data []byte
	}
	runtimeMemory struct{ *memory }
)

func (m runtimeMemory) Get(ctx context.Context, key types.NamespacedName, obj runtimeObject, _ ...metav1.GetOptions) error {
	found, err := m.memory.Get(ctx, key.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if into, ok := obj.(*unstructured.Unstructured); ok {
		*into = *found
	}
	return nil
}

func (m runtimeMemory) Create(ctx context.Context, obj runtimeObject, _ ...metav1.CreateOptions) error {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("is a %T", obj)
	}
	_, err := m.memory.Create(ctx, u, metav1.CreateOptions{})
	return err
}

func (m runtimeMemory) Patch(ctx context.Context, obj runtimeObject, p patch, _ ...metav1.PatchOptions) error {
	_, err := m.memory.Patch(ctx, obj.GetName(), p.Type, p.Data, metav1.PatchOptions{})
	return err
}
