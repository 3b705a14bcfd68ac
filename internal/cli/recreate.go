package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// recreateFlag names the kinds of which objects may be deleted and created again.
type recreateFlag struct{ kinds []string }

func (f *recreateFlag) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.kinds, "recreate", nil, "kinds whose objects are deleted and created again if the server refuses to change a field that can be set only once; never PersistentVolumeClaim, PersistentVolume, Namespace or CustomResourceDefinition")
}

// recreation returns the recreations that are allowed by the flag, and by the plan that the run is
// bound to, which refuses all others. The error names a kind that is never deleted, or reports that
// server-side apply recreates nothing.
func (f *recreateFlag) recreation(p *pruneFlags, server serverSideFlags, planned []string) (run.Recreation, error) {
	if len(f.kinds) > 0 && server.on {
		return run.Recreation{}, errors.New("--recreate: with --server-side no object is deleted and created again: delete it with kubectl delete, and merge again, or merge once without --server-side")
	}
	if err := neverRecreated(f.kinds); err != nil {
		return run.Recreation{}, err
	}
	propagation, known := propagations[p.cascade]
	if !known && len(f.kinds) > 0 {
		return run.Recreation{}, fmt.Errorf("--cascade=%s: must be background, foreground or orphan", p.cascade)
	}
	return run.Recreation{Kinds: slices.Concat(f.kinds, planned), Propagation: propagation}, nil
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

// unused notes the kinds of which the input has no object.
func (f *recreateFlag) unused(p *run.Plan, note noteFunc) {
	for _, name := range p.Recreate.Kinds[:len(f.kinds)] {
		if !slices.ContainsFunc(p.Items, func(i *run.Item) bool { return run.IsKind(i.Target.Resource, name) }) {
			note("--recreate="+name, "no object of the input is of this kind")
		}
	}
}
