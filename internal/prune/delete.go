package prune

import (
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

// removal returns the deletion of a member, which is kept up to date. again decides about it if it
// was changed since it was listed; the error of keep ends a deletion that is not wanted any more.
func (s *Set) removal(m *Member, how cluster.Deletion, again func(applyset.Member) applyset.Decision, keep func(applyset.Decision) error) *run.Removal {
	how.UID, how.ResourceVersion = m.UID, m.ResourceVersion
	r := &run.Removal{Delete: s.API.Delete, Target: m.Target, How: how, Read: s.API.GetMetadata}
	r.Note = func(text string) { s.Note(m.String(), text) }
	r.Left = func(obj map[string]any) {
		m.Finalizers = applyset.ReadMember(m.GroupKind, obj).Finalizers
		if len(m.Finalizers) > 0 && !how.DryRun {
			r.Note("is being deleted, and waits for " + strings.Join(m.Finalizers, ", "))
		}
	}
	r.Again = func(obj map[string]any) (bool, error) {
		m.Member = applyset.ReadMember(m.GroupKind, obj)
		switch decision := again(m.Member); decision.Action {
		case applyset.Delete:
			return true, nil
		case applyset.Terminating:
			r.Left(obj)
			return false, nil
		default:
			return false, keep(decision)
		}
	}
	return r
}
