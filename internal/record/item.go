// Package record writes the steps of a run as they happen, as a document for undo. It refuses to
// decide what is written to the cluster.
//
// Rules: docs/plan.md#records.
package record

import (
	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

// Subject returns an item of a run in the form of documents, with a merge plan of it.
func Subject(item *run.Item, p apply.Planned) plandoc.Subject {
	sub := plandoc.Subject{Action: item.ActionOf(p), Identity: Identity(item), Planned: p, Impact: item.Foreseen().String()}
	if item.Surplus != nil {
		sub.Reason = item.Reason()
		sub.Planned.HasStatus = item.Target.Status
	}
	return sub
}

// Identity returns the item's object as documents name it.
func Identity(item *run.Item) plandoc.Identity {
	t := item.Target
	return plandoc.Identity{APIVersion: t.GroupVersion(), Kind: t.Kind, Namespace: t.Namespace, Name: t.Name}
}
