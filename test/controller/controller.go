// Package controller is a small controller with controller-runtime that plans its writes with
// pkg/apply, and tests that compare it with other ways to do so: on a real API server it counts
// what each of them writes, again and again, for the same objects. It is a module of its own, so
// that neither controller-runtime nor Flux is in any list of what the program is made of.
package controller

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
)

// Reconciler keeps the objects of each Shop as they are desired.
type Reconciler struct {
	client.Client // reads from the informers' cache
	Planner       *apply.Planner
	Desired       func(*Shop) []client.Object
}

// Reconcile writes what differs of one Shop's objects, and nothing else.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var shop Shop
	if err := r.Get(ctx, req.NamespacedName, &shop); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	planner := r.Planner.OwnedBy(*metav1.NewControllerRef(&shop, shopKind))
	var all []error
	for _, desired := range r.Desired(&shop) {
		all = append(all, r.apply(ctx, planner, desired))
	}
	return ctrl.Result{}, errors.Join(all...)
}

func (r *Reconciler) apply(ctx context.Context, planner *apply.Planner, desired client.Object) error {
	live, _ := desired.DeepCopyObject().(client.Object)
	if err := r.Get(ctx, client.ObjectKeyFromObject(desired), live); apierrors.IsNotFound(err) {
		live = nil
	} else if err != nil {
		return err
	}
	for {
		plan, err := planner.Plan(ctx, desired, live)
		if err != nil || !plan.Changed() {
			return err
		}
		log.FromContext(ctx).Info("write", "object", client.ObjectKeyFromObject(desired), "changes", plan.String())
		request, err := plan.Request()
		if err != nil {
			return err
		}
		written, err := plan.Object()
		if err != nil {
			return err
		}
		if err := r.send(ctx, written, request); err != nil || !request.Again {
			return err
		}
		live = written
	}
}

// send sends a write, and puts the server's answer into obj.
func (r *Reconciler) send(ctx context.Context, obj client.Object, request apply.Request) error {
	if request.Type == "" {
		return r.Create(ctx, obj, client.FieldOwner(request.Manager))
	}
	options := []client.PatchOption{client.FieldOwner(request.Manager)}
	if request.Force {
		options = append(options, client.ForceOwnership)
	}
	return r.Patch(ctx, obj, client.RawPatch(request.Type, request.Body), options...)
}
