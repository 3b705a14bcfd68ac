package follow

import (
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
)

// Sources returns what to follow for targets, in their order: one source for each kind and
// namespace. A single object is followed by its name, which a role may be restricted to. So is
// every Secret: a list would carry the values of others.
func Sources(targets []cluster.Target) (all []Source) {
	at := map[cluster.Watching]int{}
	for _, t := range targets {
		w := cluster.Watching{Resource: Plain(t.Resource), Namespace: t.Namespace}
		if redact.IsSecretKind(t.Group, t.Kind) {
			w.Fields = named(t.Name)
		}
		i, ok := at[w]
		if !ok {
			i, at[w] = len(all), len(all)
			all = append(all, Source{Watching: w})
		}
		all[i].Names = append(all[i].Names, t.Name)
	}
	for i, s := range all {
		if len(s.Names) == 1 {
			all[i].Fields = named(s.Names[0])
		}
	}
	return all
}

func named(name string) string { return "metadata.name=" + name }

// Plain returns a resource reduced to what distinguishes it from others.
func Plain(r cluster.Resource) cluster.Resource {
	r.Status = false
	return r
}
