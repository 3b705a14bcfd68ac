package run

import (
	"context"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/guard"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// guard finds who else manages what a merge changes, as far as the object shows.
func (j *Job) guard(item *Item) {
	item.Guards = guard.Object(item.Planned, j.Planner.Manager)
	item.stated = guard.States(item.Planned, func(p merge.Path) bool { return j.toLive(item, p) })
}

// toLive reports whether the user's rules give a field, or one of its parents, to live.
func (j *Job) toLive(item *Item, p merge.Path) bool {
	planned := item.Planned
	triple := merge.Triple{Local: planned.Value, Live: planned.LiveSide(), Owners: ownership.Of(planned.Live)}
	rules := j.Planner.Rules.All().For(schema.Object{
		Group: item.Target.Group, Kind: item.Target.Kind, Namespace: item.Target.Namespace, Name: item.Target.Name, Triple: triple,
	}).Policy()
	r, ok := merge.RuleAt(rules, p)
	return ok && r.Choice == merge.TakeLive
}

// Guard adds findings for the scalers of stated fields to the items that are to be written. It
// sends one list for each kind of scaler and each namespace in which an item states such a field.
// Kinds that are not served, and lists that the server refuses, are skipped: the scalers are then
// unknown.
func (p *Plan) Guard(ctx context.Context, api *cluster.Cluster) {
	type search struct {
		scaler    guard.Scaler
		namespace string
		found     []map[string]any
	}
	var searches []*search
	at := map[string][]*Item{}
	for _, item := range p.Items {
		if ns := item.Target.Namespace; item.stated.Fields != 0 && ns != "" {
			at[ns] = append(at[ns], item)
		}
	}
	for ns, items := range at {
		for _, s := range guard.Scalers {
			if slices.ContainsFunc(items, func(i *Item) bool { return s.Sets(i.stated.Fields) }) {
				searches = append(searches, &search{scaler: s, namespace: ns})
			}
		}
	}
	parallel.Each(ctx, parallel.Steps{N: len(searches), Limit: p.Concurrency}, func(i int) {
		s := searches[i]
		r, ok := api.Known(ctx, s.scaler.Group, s.scaler.Kind)
		if !ok {
			return
		}
		_ = api.List(ctx, cluster.Listing{Resource: r, Namespace: s.namespace}, func(obj map[string]any) bool { // scalers that cannot be read are skipped
			s.found = append(s.found, obj)
			return true
		})
	})
	for _, s := range searches {
		for _, item := range at[s.namespace] {
			item.scaled(s.scaler, s.found)
		}
	}
}

// scaled adds a finding for a scaler of the item, unless another has the same field.
func (i *Item) scaled(s guard.Scaler, all []map[string]any) {
	for _, obj := range all {
		if f, ok := s.Scaled(obj, i.stated); ok {
			i.Own()
			i.Guards = append(i.Guards, f)
			i.stated.Fields &^= s.Field
			return
		}
	}
}

// MissingNamespace is a namespace that does not exist, or is being deleted, and in which objects are
// to be created.
type MissingNamespace struct {
	cluster.Target
	Objects  int
	Deleting bool
}

// MissingNamespaces returns the namespaces in which items would be created and that neither exist
// nor are created by the run, or are being deleted, in the order of the items. It is for client-side dry runs; a server
// reports them itself. Namespaces that the user may not read, and all namespaces offline, are
// assumed to exist.
func (p *Plan) MissingNamespaces(ctx context.Context) (missing []MissingNamespace) {
	if p.API == nil {
		return nil
	}
	for _, n := range unproven(p.Items) {
		if obj, err := p.Live.Get(ctx, n.Target); err == nil && (obj == nil || apply.Deleting(obj) != nil) {
			n.Deleting = obj != nil
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
