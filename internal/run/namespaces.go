package run

import (
	"context"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// MissingNamespace is a namespace that is not there, in which objects are to be made.
type MissingNamespace struct {
	cluster.Target
	Objects int
}

// MissingNamespaces are the namespaces that items would be created in, and that
// neither the server nor the run has, in the order of the items. Only a dry run that
// sends nothing needs them: a server refuses what has no namespace. What the user may
// not find out counts as there, and so does what saved files do not have.
func (p *Plan) MissingNamespaces(ctx context.Context) []MissingNamespace {
	if p.API == nil {
		return nil
	}
	var missing []MissingNamespace
	for _, n := range unproven(p.Items) {
		if obj, err := p.Live.Get(ctx, n.Target); obj == nil && err == nil {
			missing = append(missing, n)
		}
	}
	return missing
}

// unproven are the namespaces of new objects of which the items do not show that they
// are, or will be, there: no item is, or makes, the namespace, and none was found in it.
func unproven(items []*Item) []MissingNamespace {
	there := map[string]bool{}
	for _, item := range items {
		if isNamespace(item.Target.Resource) {
			there[item.Target.Name] = true
		}
		if item.Target.Namespaced && item.found {
			there[item.Target.Namespace] = true
		}
	}
	var out []MissingNamespace
	for _, item := range items {
		name := item.Target.Namespace
		if !item.Target.Namespaced || there[name] || item.Action() != Create {
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
