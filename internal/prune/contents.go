package prune

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
)

// Contents determines the contents of the Namespaces and CustomResourceDefinitions that are to be
// deleted, with at most limit concurrent requests. They need not be part of the set.
func (s *Set) Contents(ctx context.Context, decisions []applyset.Decision, limit int) applyset.Contents {
	in := applyset.Contents{Objects: map[string][]applyset.Member{}, Unknown: map[string]error{}}
	for _, d := range decisions {
		if d.Action != applyset.Delete || !d.Contains() {
			continue
		}
		look := s.inNamespace
		if d.IsCRD() {
			look = s.instances
		}
		objects, err := look(ctx, d.Name, limit)
		if err != nil {
			in.Unknown[d.UID] = err
		}
		in.Objects[d.UID] = objects
	}
	return in
}

// inNamespace lists everything in a namespace. An unlistable kind is an error: its objects are
// deleted with the namespace.
func (s *Set) inNamespace(ctx context.Context, namespace string, limit int) ([]applyset.Member, error) {
	resources, err := s.API.Deletable(ctx)
	if err != nil {
		return nil, err
	}
	resources = slices.DeleteFunc(resources, func(r cluster.Resource) bool { return !r.Namespaced })
	found, errs := make([][]map[string]any, len(resources)), make([]error, len(resources))
	begun := parallel.Each(ctx, parallel.Steps{N: len(resources), Limit: limit}, func(i int) {
		found[i], errs[i] = s.API.ListMetadata(ctx, resources[i], namespace, "")
	})
	if begun < len(resources) {
		return nil, ctx.Err()
	}
	var all []applyset.Member
	for i, r := range resources {
		if errs[i] != nil && !cluster.IsNotFound(errs[i]) {
			return nil, errs[i]
		}
		all = append(all, plain(members(r, found[i]))...)
	}
	return all, nil
}

// instances lists the objects of a CustomResourceDefinition's kind, in all namespaces.
func (s *Set) instances(ctx context.Context, crd string, _ int) ([]applyset.Member, error) {
	plural, group, _ := strings.Cut(crd, ".")
	r, err := s.API.FindPlural(ctx, group, plural)
	switch {
	case errors.As(err, new(*cluster.UnknownKindError)):
		return nil, s.unserved(ctx, crd)
	case err != nil:
		return nil, err
	}
	found, err := s.API.ListMetadata(ctx, r, "", "")
	return plain(members(r, found)), err
}

// unserved states why the objects of a CustomResourceDefinition are unknown if the server does not
// have its kind; nil if there can be none.
func (s *Set) unserved(ctx context.Context, name string) error {
	r, err := s.API.FindKind(ctx, crdKind.Group, crdKind.Kind)
	if err != nil {
		return err
	}
	crd, err := s.API.Get(ctx, cluster.Target{Resource: r, Name: name})
	switch {
	case cluster.IsNotFound(err), err == nil && cluster.NeverServed(crd):
		return nil
	case err != nil:
		return err
	case len(cluster.Declared(crd)) == 0:
		return errors.New("none of its versions is served now, and some may have been: serve one, so that its objects can be listed")
	}
	return errors.New("the server does not serve its kind yet")
}
