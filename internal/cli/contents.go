package cli

import (
	"context"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
)

// contents looks into Namespaces and CustomResourceDefinitions, with at most limit requests at once.
type contents struct {
	api   *cluster.Cluster
	limit int
}

// holds is why a Namespace or a CustomResourceDefinition is not deleted; "" if nothing of
// others is in it.
func (c contents) holds(ctx context.Context, t cluster.Target, uid string, gone []string) (string, error) {
	member := func(uid string) applyset.Decision {
		return applyset.Decision{Member: applyset.Member{UID: uid}, Action: applyset.Delete}
	}
	all := []applyset.Decision{{Member: applyset.Member{GroupKind: applyset.GroupKind{Group: t.Group, Kind: t.Kind}, Name: t.Name, UID: uid}, Action: applyset.Delete}}
	in := prune.Contents(ctx, c.api, all, c.limit)
	for _, other := range gone {
		if other != uid {
			all = append(all, member(other))
		}
	}
	if d := (applyset.Run{}).Contain(all, in)[0]; d.Action != applyset.Delete {
		return d.Reason, nil
	}
	return "", nil
}
