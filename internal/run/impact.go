package run

import (
	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/impact"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// Impact returns what the run does, or has done, to the item and its pods.
func (i *Item) Impact() impact.Impact {
	switch i.Action() {
	case apply.Failed:
		if cluster.IsRefusal(i.Err) {
			return impact.Impact{Word: impact.Refused, Fields: i.Fixed()}
		}
		return impact.Impact{}
	case apply.Delete:
		return impact.Impact{Word: impact.Pruned}
	case apply.Keep, apply.Held:
		return impact.Impact{}
	case apply.Recreate:
		return impact.Impact{Word: impact.Recreated, Fields: i.fixed}
	}
	if len(i.fixed) > 0 {
		return impact.Impact{Word: impact.Refused, Fields: i.fixed, Remark: "can be set only once" + i.remedy}
	}
	if i.Result.Outcome == write.Unchanged {
		return impact.Impact{}
	}
	if i.Facts == nil {
		return impact.Impact{}
	}
	return i.Facts.Impact
}

// Foreseen returns the impact of the item's plan, whatever the server has made of it.
func (i *Item) Foreseen() impact.Impact {
	if known := i.Impact(); known.Word != impact.None || i.Facts == nil {
		return known
	}
	return i.Facts.Impact
}

// facts keeps what a plan, which must be whole, means for pods.
func (i *Item) facts(p apply.Planned) {
	i.Facts = nil
	if f := impact.Look(p, i.Target.Namespace); f.Any() {
		i.Facts = &f
	}
}

// Stale lists the objects of the input whose running pods keep old values of a ConfigMap or Secret
// that the run changes. nil if there are none.
func (p *Plan) Stale() []impact.Stale {
	var all []impact.Facts
	for _, item := range p.Items {
		if item.Err == nil && item.Facts != nil {
			all = append(all, *item.Facts)
		}
	}
	return impact.StaleIn(all)
}
