package controller

import (
	"context"
	"reflect"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
)

// way is one way to bring an object to what is desired.
type way struct {
	name string
	make func(t testing.TB, c client.Client) func(ctx context.Context, desired client.Object) error
}

var ways = [...]way{
	{"pkg/apply", ours(apply.Options{Annotation: "controller.example.com/applied"})},
	{"pkg/apply, server-side", ours(apply.Options{ServerSide: true})},
	{"CreateOrUpdate", helper(controllerutil.CreateOrUpdate)},
	{"CreateOrPatch", helper(controllerutil.CreateOrPatch)},
	{"fluxcd/pkg/ssa", flux},
}

// ours is the controller of this package.
func ours(o apply.Options) func(testing.TB, client.Client) func(context.Context, client.Object) error {
	return func(t testing.TB, c client.Client) func(context.Context, client.Object) error {
		t.Helper()
		o.Manager, o.Scheme, o.Types = "shop-controller", c.Scheme(), &apply.Types{}
		if err := o.Types.Add(definition(t)); err != nil {
			t.Fatal(err)
		}
		planner, err := apply.New(o)
		if err != nil {
			t.Fatal(err)
		}
		r := &Reconciler{Client: c}
		return func(ctx context.Context, desired client.Object) error { return r.apply(ctx, planner, desired) }
	}
}

type mutating func(context.Context, client.Client, client.Object, controllerutil.MutateFn) (controllerutil.OperationResult, error)

// helper is a helper of controller-runtime, with the function that most controllers give it: what
// is desired is assigned, and labels are added.
func helper(apply mutating) func(testing.TB, client.Client) func(context.Context, client.Object) error {
	return func(_ testing.TB, c client.Client) func(context.Context, client.Object) error {
		return func(ctx context.Context, desired client.Object) error {
			live := empty(desired)
			_, err := apply(ctx, c, live, func() error {
				assign(live, desired)
				return nil
			})
			return err
		}
	}
}

// empty returns an object of the same kind with its name alone.
func empty(o client.Object) client.Object {
	var e client.Object
	if u, ok := o.(*unstructured.Unstructured); ok {
		made := &unstructured.Unstructured{}
		made.SetGroupVersionKind(u.GroupVersionKind())
		e = made
	} else {
		e, _ = reflect.New(reflect.TypeOf(o).Elem()).Interface().(client.Object)
	}
	e.SetName(o.GetName())
	e.SetNamespace(o.GetNamespace())
	return e
}

// assign sets the fields of the API of live to desired's, all but metadata and status.
func assign(live, desired client.Object) {
	labels := live.GetLabels()
	for k, v := range desired.GetLabels() {
		if labels == nil {
			labels = map[string]string{}
		}
		labels[k] = v
	}
	live.SetLabels(labels)
	from, _ := desired.DeepCopyObject().(client.Object)
	if to, ok := live.(*unstructured.Unstructured); ok {
		if from, ok := from.(*unstructured.Unstructured); ok {
			to.Object["spec"] = from.Object["spec"]
		}
		return
	}
	to, with := reflect.ValueOf(live).Elem(), reflect.ValueOf(from).Elem()
	for i := range to.NumField() {
		switch to.Type().Field(i).Name {
		case "TypeMeta", "ObjectMeta", "Status":
		default:
			to.Field(i).Set(with.Field(i))
		}
	}
}

// flux is the resource manager of Flux's controllers, which is given unstructured objects without a status.
func flux(_ testing.TB, c client.Client) func(context.Context, client.Object) error {
	m := ssa.NewResourceManager(c, polling.NewStatusPoller(c, c.RESTMapper(), polling.Options{}), ssa.Owner{Field: "shop-controller", Group: "controller.example.com"})
	return func(ctx context.Context, desired client.Object) error {
		u, err := plain(c, desired)
		if err == nil {
			_, err = m.Apply(ctx, u, ssa.DefaultApplyOptions())
		}
		return err
	}
}

// plain returns an object as a manifest states it.
func plain(c client.Client, o client.Object) (*unstructured.Unstructured, error) {
	gvk, err := c.GroupVersionKindFor(o)
	if err != nil {
		return nil, err
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	u := &unstructured.Unstructured{Object: m}
	u.SetGroupVersionKind(gvk)
	unstructured.RemoveNestedField(u.Object, "status")
	return u, err
}
