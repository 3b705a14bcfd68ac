package live

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

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

// Get returns the saved object, nil if none is saved. One that was saved without its namespace is
// in the target's, as the server would store it. It is an error if it is saved in several namespaces
// and the target names none.
func (f *Files) Get(_ context.Context, t cluster.Target) (map[string]any, error) {
	found, err := f.Saved.At(object.Identity{Group: t.Group, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name})
	if err != nil || found == nil {
		return nil, err
	}
	whole, err := found.Whole()
	if err == nil && whole.Namespace() == "" {
		whole = whole.InNamespace(t.Namespace)
	}
	return whole.Value, err
}
