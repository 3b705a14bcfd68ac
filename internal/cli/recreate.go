package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// recreation returns the recreations that are allowed by the flag, and by the plan that the run is
// bound to, which refuses all others. The error names a kind that is never deleted.
func (c *call) recreation(planned []string) (run.Recreation, error) {
	return run.Recreation{Kinds: slices.Concat(c.recreate, planned), Propagation: propagations[c.cascade]}, neverRecreated(c.recreate)
}

// neverRecreated returns the error of kinds whose objects are never deleted; nil if there are none.
func neverRecreated(kinds []string) error {
	for _, name := range kinds {
		if slices.ContainsFunc(cluster.Holding, func(r cluster.Resource) bool { return run.IsKind(r, name) }) {
			return fmt.Errorf("--recreate=%s: objects of this kind are never deleted to be created again: what they hold would be lost: set the field back to what the cluster has", name)
		}
	}
	return nil
}

// spelledOut returns the kinds with the server's short names in full.
func spelledOut(ctx context.Context, api *cluster.Cluster, kinds []string) ([]string, error) {
	full := slices.Clone(kinds)
	for i, name := range kinds {
		if slices.ContainsFunc(schema.BuiltinKinds(), func(k schema.Kind) bool {
			return run.IsKind(cluster.Resource{Group: k.Group, Kind: k.Kind, Plural: k.Resource}, name)
		}) {
			continue
		}
		if r, ok := api.Word(ctx, name); ok {
			full[i] = strings.TrimSuffix(r.Kind+"."+r.Group, ".")
		}
	}
	return full, neverRecreated(full)
}

// unusedKinds notes the kinds of which the input has no object.
func (c *call) unusedKinds(p *run.Plan, note noteFunc) {
	for _, name := range p.Recreate.Kinds[:len(c.recreate)] {
		if !slices.ContainsFunc(p.Items, func(i *run.Item) bool { return run.IsKind(i.Target.Resource, name) }) {
			note("--recreate="+name, "no object of the input is of this kind")
		}
	}
}
