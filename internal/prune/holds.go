package prune

import (
	"context"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// Contents finds out what the Namespaces and CustomResourceDefinitions hold that are to be
// deleted, with at most limit requests at once. They need not be part of a set.
func Contents(ctx context.Context, api *cluster.Cluster, decisions []applyset.Decision, limit int) applyset.Contents {
	return (&Set{API: api}).contents(ctx, decisions, limit)
}
