package prune

import (
	"context"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// Contents determines the contents of the Namespaces and CustomResourceDefinitions that are to be
// deleted, with at most limit concurrent requests. They need not be part of a set.
func Contents(ctx context.Context, api *cluster.Cluster, decisions []applyset.Decision, limit int) applyset.Contents {
	return (&Set{API: api}).contents(ctx, decisions, limit)
}
