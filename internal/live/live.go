// Package live reads live objects, from an API server or from files saved from one. A
// Reader finds the resource and the namespace of an object of the input, and the live
// object. It writes nothing.
package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
)

// Reader reads live objects.
type Reader interface {
	// Resolve finds the target of each object and puts the object into its namespace. All
	// objects are passed at once, since some may define the kinds of others. Objects that
	// cannot be resolved are left out, and so are repeats; the error joins the reasons. An error that
	// is a *cluster.Unreachable concerns all objects, and no object is returned.
	Resolve(ctx context.Context, objects []object.Object) ([]Located, error)

	// Get returns the live object, with numbers as json.Number; nil if there is none. It
	// may be called by several goroutines.
	Get(ctx context.Context, t cluster.Target) (map[string]any, error)
}

// Located is an object of the input in its namespace, and its target.
type Located struct {
	Object object.Object
	Target cluster.Target
}

// Namespacing states where objects without a namespace are placed.
type Namespacing struct {
	Default string
	Enforce bool   // the user set it: objects with another namespace are an error
	Of      string // source of the default, for errors
}

// BadNamespace is the error of a default that is not a valid namespace name. It concerns all
// namespaced objects, and no others.
type BadNamespace struct{ error }

// OtherNamespace is the error of an object that states another namespace than the enforced one.
type OtherNamespace struct {
	Object        object.Object
	Own, Enforced string
}

// Error is in kubectl's words.
func (e *OtherNamespace) Error() string {
	return fmt.Sprintf("%s: %s: the namespace from the provided object %q does not match the namespace %q. You must pass '--namespace=%s' to perform this operation", e.Object.Origin, e.Object, e.Own, e.Enforced, e.Own)
}

// Check returns a *BadNamespace if the default is not a valid name of a namespace, otherwise nil.
func (ns Namespacing) Check() error {
	if err := object.CheckNamespace(ns.Default); err != nil {
		return &BadNamespace{fmt.Errorf("%s: %w", ns.Of, err)}
	}
	return nil
}

// Place puts an object into its namespace: its own, otherwise the default, and none if its kind is
// cluster-scoped. It is an *OtherNamespace if another namespace is enforced, and an error if the
// name is invalid.
func (ns Namespacing) Place(o object.Object, namespaced bool) (object.Object, error) {
	own := o.Namespace()
	switch {
	case !namespaced:
		return o.InNamespace(""), nil
	case own == "":
		return o.InNamespace(ns.Default), ns.Check()
	case ns.Enforce && own != ns.Default:
		return o, &OtherNamespace{o, own, ns.Default}
	}
	if err := object.CheckNamespace(own); err != nil {
		return o, &object.FieldError{Object: o, Path: "metadata.namespace", What: err.Error()}
	}
	return o, nil
}

// resolveAll resolves objects one by one. Objects that occur twice with different content are an
// error, and none is returned then: it is unclear which of them is meant.
func resolveAll(objects []object.Object, resolve func(object.Object) (Located, error)) ([]Located, error) {
	all := make([]Located, 0, len(objects))
	var errs []error
	for _, o := range objects {
		l, err := resolve(o)
		var down *cluster.Unreachable
		var bad *BadNamespace
		switch {
		case errors.As(err, &down):
			return nil, down
		case errors.As(err, &bad):
			return nil, bad
		case err != nil:
			errs = append(errs, err)
		default:
			all = append(all, l)
		}
	}
	if len(errs) > 0 {
		return all, errors.Join(errs...)
	}
	all, err := source.Distinct(all, func(l Located) object.Object { return l.Object })
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Server reads from an API server.
type Server struct {
	API        *cluster.Cluster
	Namespaces Namespacing
}

// Resolve looks up the kind of each object by discovery. A kind defined by a
// CustomResourceDefinition among the objects need not be served yet. Errors of single objects are
// joined; the objects without one are returned, too.
func (s *Server) Resolve(ctx context.Context, objects []object.Object) ([]Located, error) {
	for _, o := range objects {
		if o.Group() == "apiextensions.k8s.io" && o.Kind() == "CustomResourceDefinition" {
			s.API.Declare(o.Value)
		}
	}
	return resolveAll(objects, func(o object.Object) (Located, error) { return s.resolve(ctx, o) })
}

func (s *Server) resolve(ctx context.Context, o object.Object) (Located, error) {
	r, err := s.API.Find(ctx, o.Group(), o.Version(), o.Kind())
	if err != nil {
		return Located{}, fmt.Errorf("%s: %s: %w", o.Origin, o, err)
	}
	if o, err = s.Namespaces.Place(o, r.Namespaced); err != nil {
		return Located{}, err
	}
	return Located{Object: o, Target: cluster.Target{Resource: r, Namespace: o.Namespace(), Name: o.Name()}}, nil
}

// Get reads the object from the server, nil if there is none. Any other failure of the request is
// the error.
func (s *Server) Get(ctx context.Context, t cluster.Target) (map[string]any, error) {
	obj, err := s.API.Get(ctx, t)
	if cluster.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}
