package run

import (
	"context"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// MissingNamespace is a namespace that does not exist and in which objects are to be
// created.
type MissingNamespace struct {
	cluster.Target
	Objects int
}

// MissingNamespaces returns the namespaces in which items would be created and that neither exist
// nor are created by the run, in the order of the items. It is for client-side dry runs; a server
// reports them itself. Namespaces that the user may not read, and all namespaces offline, are
// assumed to exist.
func (p *Plan) MissingNamespaces(ctx context.Context) (missing []MissingNamespace) {
	if p.API == nil {
		return nil
	}
	for _, n := range unproven(p.Items) {
		if obj, err := p.Live.Get(ctx, n.Target); obj == nil && err == nil {
			missing = append(missing, n)
		}
	}
	return missing
}

// unproven returns the namespaces of new objects that no item shows to exist: the input does not
// contain them, and no item was found in them.
func unproven(items []*Item) (out []MissingNamespace) {
	there := map[string]bool{}
	for _, item := range items {
		if isNamespace(item.Target.Resource) {
			there[item.Target.Name] = true
		}
		if item.Target.Namespaced && item.found {
			there[item.Target.Namespace] = true
		}
	}
	for _, item := range items {
		name := item.Target.Namespace
		if !item.Target.Namespaced || there[name] || item.Action() != apply.Create {
			continue
		}
		i := slices.IndexFunc(out, func(n MissingNamespace) bool { return n.Name == name })
		if i < 0 {
			i = len(out)
			namespaces := cluster.Resource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}
			out = append(out, MissingNamespace{Target: cluster.Target{Resource: namespaces, Name: name}})
		}
		out[i].Objects++
	}
	return out
}
