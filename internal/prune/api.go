package prune

import (
	"context"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// API is the part of a server that a set needs; see cluster.Cluster for each method. An absent
// object is an error that is cluster.IsNotFound.
type API interface {
	// Find, FindKind and FindPlural return the resource of a kind, or of a name in URLs.
	Find(ctx context.Context, group, version, kind string) (cluster.Resource, error)
	FindKind(ctx context.Context, group, kind string) (cluster.Resource, error)
	FindPlural(ctx context.Context, group, plural string) (cluster.Resource, error)

	// Deletable returns the resources whose objects can be listed and deleted; with an error, those
	// that are known.
	Deletable(ctx context.Context) ([]cluster.Resource, error)

	// Refresh drops the cached kinds of the server.
	Refresh(ctx context.Context)

	// Get reads an object, GetMetadata its metadata, ListMetadata those of many.
	Get(ctx context.Context, t cluster.Target) (map[string]any, error)
	GetMetadata(ctx context.Context, t cluster.Target) (map[string]any, error)
	ListMetadata(ctx context.Context, r cluster.Resource, namespace, selector string) ([]map[string]any, error)

	// MergePatch and Apply write an object and return it as stored.
	MergePatch(ctx context.Context, t cluster.Target, patch any, w cluster.Write) (map[string]any, error)
	Apply(ctx context.Context, t cluster.Target, obj any, w cluster.Write) (map[string]any, error)

	// Delete deletes an object. left is the object with its finalizers; nil if it no longer exists.
	Delete(ctx context.Context, t cluster.Target, d cluster.Deletion) (left map[string]any, err error)
}
