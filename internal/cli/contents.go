package cli

import (
	"context"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
)

// contents reads the contents of Namespaces and CustomResourceDefinitions, with at most limit concurrent requests.
type contents struct {
	api   *cluster.Cluster
	limit int
}

// holds returns why a Namespace or a CustomResourceDefinition is not deleted; "" if it contains no
// objects of others.
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

// cover makes the parent of the set with that id list the kinds and namespaces of members. A set
// that is not found is reported: the objects are members of none.
func (u *undoing) cover(ctx context.Context, api *cluster.Cluster, id string, members []applyset.Member) error {
	parent := setFlags{}
	if s := u.doc.Set; s != nil && s.ID == id {
		parent = setFlags{name: s.Parent, namespace: s.Namespace}
	} else if set, found, err := prune.ByID(ctx, api, id); err == nil && found {
		parent = setFlags{name: set.String(), namespace: set.Namespace}
	} else {
		u.note(u.name, "objects of the set "+id+" are restored, and its parent is not found: no run prunes them until they are applied as part of a set")
		return err
	}
	set, err := u.readSet(ctx, parent, api)
	if err != nil {
		return err
	}
	set.Note = u.note
	return set.Cover(ctx, members)
}
