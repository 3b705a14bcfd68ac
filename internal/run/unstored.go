package run

import (
	"context"
	"errors"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// unstored returns those of a plan's doubtful values that the server does not store: there, its
// answer to a dry run equals live. If it cannot be asked, managedFields decide.
func (j *Job) unstored(ctx context.Context, item *Item, p apply.Planned) (paths []merge.Path) {
	answer := j.answer(ctx, item, p)
	live, made := merge.NewFinder(p.Live, p.Type), merge.NewFinder(answer, p.Type)
	for _, d := range p.Doubtful {
		was, had := live.Lookup(d.Path)
		is, has := made.Lookup(d.Path)
		same := had == has && (!had || merge.Equal(was, is, p.Type.At(d.Path)))
		if answer == nil && d.Recorded || answer != nil && same {
			paths = append(paths, d.Path)
		}
	}
	return paths
}

// answer returns the object that the server would store of a plan; nil if that is unknown.
func (j *Job) answer(ctx context.Context, item *Item, p apply.Planned) map[string]any {
	if j.API == nil || p.Action != apply.Change || len(p.Conflicts) > 0 {
		return nil
	}
	s := write.Server{API: j.API, Write: j.Write}
	s.Write.DryRun, s.Write.FieldManager = true, j.Planner.Manager
	out, err := s.Apply(item.Meter.In(ctx), write.Task{Target: item.Target, Planned: p, Replan: overtaken})
	if err != nil {
		return nil
	}
	return out.Object
}

// overtaken ends a trial whose object was changed meanwhile.
func overtaken(context.Context, map[string]any) (apply.Planned, error) {
	return apply.Planned{}, errors.New("was changed meanwhile")
}
