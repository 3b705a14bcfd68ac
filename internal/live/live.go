// Package live is where live objects are: an API server, or files that hold what a
// server had. A Reader says what an object of the input is called there, in which
// namespace it is, and what it is like. It refuses to write, and to know what the
// object is read for.
package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// Reader finds live objects.
type Reader interface {
	// Resolve gives each object the namespace it is in and the name by which it is
	// read. It leaves out those of which the error, joined, says what is wrong. All
	// objects are given at once, since some may define the kinds of others. An error
	// that is a *cluster.Unreachable is about all of them.
	Resolve(ctx context.Context, objects []object.Object) ([]Located, error)

	// Get is the live object, numbers as json.Number; nil where there is none. It may
	// be called by several goroutines.
	Get(ctx context.Context, t cluster.Target) (map[string]any, error)
}

// Lister is a Reader that gives many objects of a kind at the price of one Get. A
// Reader without it is only ever asked for single objects.
type Lister interface {
	// List is one page of the objects of a kind.
	List(ctx context.Context, l cluster.Listing) (cluster.Page, error)
}

// Located is an object of the input in its namespace, and what it is called.
type Located struct {
	Object object.Object
	Target cluster.Target
}

// Namespacing is the namespace of objects that name none.
type Namespacing struct {
	Default string
	Enforce bool // the user named it, and objects that name another are refused
}

// Place is the object in its namespace: its own, else the default; none where its
// kind is cluster-scoped.
func (ns Namespacing) Place(o object.Object, namespaced bool) (object.Object, error) {
	own := o.Namespace()
	switch {
	case !namespaced:
		return o.InNamespace(""), nil
	case own == "":
		return o.InNamespace(ns.Default), nil
	case ns.Enforce && own != ns.Default:
		return o, fmt.Errorf("%s: %s: the namespace from the provided object %q does not match the namespace %q. You must pass '--namespace=%s' to perform this operation", o.Origin, o, own, ns.Default, own)
	}
	return o, nil
}

// resolveAll resolves objects one by one, and finds those that are there twice.
func resolveAll(objects []object.Object, resolve func(object.Object) (Located, error)) ([]Located, error) {
	var (
		all    []Located
		placed []object.Object
		errs   []error
	)
	for _, o := range objects {
		l, err := resolve(o)
		var down *cluster.Unreachable
		switch {
		case errors.As(err, &down):
			return nil, down
		case err != nil:
			errs = append(errs, err)
		default:
			all, placed = append(all, l), append(placed, l.Object)
		}
	}
	if len(errs) == 0 {
		errs = append(errs, source.Repeated(placed))
	}
	return all, errors.Join(errs...)
}
