package live

import (
	"context"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
)

// Server reads from an API server. It is a Lister.
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
			for _, r := range cluster.Declared(o.Value) {
				s.API.Declare(r)
			}
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

// List reads one page of a list from the server. The error is that of the request.
func (s *Server) List(ctx context.Context, l cluster.Listing) (cluster.Page, error) {
	return s.API.Page(ctx, l)
}
