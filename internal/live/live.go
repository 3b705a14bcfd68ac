// Package live reads live objects, from an API server or from files saved from one. A
// Reader finds the resource and the namespace of an object of the input, and the live
// object. It writes nothing.
package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
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

// Files reads saved objects; no server is contacted.
type Files struct {
	Saved      *source.Saved
	Namespaces Namespacing // the zero value places objects where the saved ones are

	// Kind describes a kind that is not built in; false if it is unknown.
	Kind func(group, version, kind string) (schema.Kind, bool)
}

// Resolve puts each object into the namespace of the saved object. Errors of single objects are
// joined; the objects without one are returned, too.
func (f *Files) Resolve(_ context.Context, objects []object.Object) ([]Located, error) {
	return resolveAll(objects, f.resolve)
}

func (f *Files) resolve(o object.Object) (Located, error) {
	kind, known := schema.BuiltinKind(o.Group(), o.Version(), o.Kind())
	if !known {
		kind, known = f.Kind(o.Group(), o.Version(), o.Kind())
	}
	if !known {
		if err := noKind(o); err != nil {
			return Located{}, fmt.Errorf("%s: %s: %w", o.Origin, o, err)
		}
	}
	o, err := f.place(o, kind, known)
	if err != nil {
		return Located{}, err
	}
	found, err := f.Saved.Find(o)
	if err != nil {
		return Located{}, err
	}
	if found != nil {
		o = o.InNamespace(found.Namespace())
	}
	if _, in := cluster.Removed(o.Group(), o.Version(), o.Kind()); in > 0 && (found == nil || found.APIVersion() != o.APIVersion()) {
		err := &cluster.UnknownKindError{Kind: o.Kind(), APIVersion: o.APIVersion()}
		return Located{}, fmt.Errorf("%s: %s: %w", o.Origin, o, err)
	}
	if known && kind.Namespaced && o.Namespace() == "" {
		o = o.InNamespace("default")
	}
	return Located{Object: o, Target: cluster.Target{
		Resource: cluster.Resource{
			Group: o.Group(), Version: o.Version(), Kind: o.Kind(), Plural: kind.Resource,
			Namespaced: o.Namespace() != "", Status: kind.HasStatus,
		},
		Namespace: o.Namespace(),
		Name:      o.Name(),
	}}, nil
}

// noKind returns the error of a kind that does not exist in its built-in apiVersion, or that is
// built in, and stated in a group whose name no custom resource can have, since it has no dot. It
// is nil for other apiVersions, since their kinds are unknown.
func noKind(o object.Object) error {
	served := slices.DeleteFunc(schema.BuiltinKinds(), func(k schema.Kind) bool { return k.Group != o.Group() || k.Version != o.Version() })
	kinds := object.Each(served, func(k schema.Kind) string { return k.Kind })
	unknown := &cluster.UnknownKindError{Kind: o.Kind(), APIVersion: o.APIVersion()}
	unknown.NearVersion, unknown.Near = schema.SuggestKind(unknown.APIVersion, unknown.Kind, schema.Served{Kinds: kinds})
	if len(kinds) == 0 && (unknown.Near == "" || strings.Contains(o.Group(), ".")) {
		return nil
	}
	return unknown
}

// place puts the object into the namespace that the user set. Whether an unknown kind is
// namespaced is known only from its objects.
func (f *Files) place(o object.Object, kind schema.Kind, known bool) (object.Object, error) {
	switch {
	case known && !kind.Namespaced:
		return o.InNamespace(""), nil
	case f.Namespaces.Default == "" && o.Namespace() == "":
		return o, nil
	}
	return f.Namespaces.Place(o, true)
}

// Get returns the saved object as the server would store it: without a namespace it is in the
// target's, and a Secret's stringData is data. It is nil if none is saved, and an error if it is
// saved in several namespaces and the target names none.
func (f *Files) Get(_ context.Context, t cluster.Target) (map[string]any, error) {
	found, err := f.Saved.At(object.Identity{Group: t.Group, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name})
	if err != nil || found == nil {
		return nil, err
	}
	whole, err := found.Whole()
	if err == nil && whole.Namespace() == "" {
		whole = whole.InNamespace(t.Namespace)
	}
	stored, _ := lastapplied.FoldStringData(whole.Value).(map[string]any)
	return stored, err
}
