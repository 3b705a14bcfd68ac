package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

var verifyRow = verb{
	use: "verify NAME", short: "Compare what a set's parent lists with its members",
	long: `Compare the kinds and namespaces that a set's parent lists with the objects that carry its label, in all
kinds that you may list. A member of a kind that is not listed would never be pruned.

Exit code 0: they agree, or --fix has made them agree; 3: they do not.`,
	example: "  kubectl merge applyset verify shop --fix", takes: oneSet, args: setArgs, run: onSet((*setCall).verify),
}

func (v *setCall) verify(ctx context.Context) error {
	s, err := v.open(ctx)
	var contents *applyset.ContentsError
	if err != nil && !errors.As(err, &contents) {
		return err
	}
	if err := errors.Join(s.Existing(), s.Writable()); err != nil {
		return err
	}
	want, problems, failed := s.Verify(ctx, v.concurrency)
	if failed != nil {
		return failed
	}
	if contents != nil {
		problems = append([]string{contents.Problem()}, problems...)
	}
	for _, p := range problems {
		fmt.Fprintf(v.Out, "%s: %s\n", escape.Line(s.Target.String()), escape.Line(p))
	}
	switch {
	case len(problems) == 0:
		v.outcome(s.Target, "is as it should be")
		return nil
	case !v.fix:
		return &exit{Code: conflicted}
	}
	if err := s.Store(ctx, func(applyset.Parent) applyset.Parent { return want }); err != nil {
		return err
	}
	v.outcome(s.Target, "fixed")
	return nil
}

var disbandRow = verb{
	use: "disband NAME", short: "Dissolve a set: its objects stay, and belong to no set",
	long: `Take all members out of a set and delete its parent. The objects themselves stay as they are. To delete
them, see "kubectl merge applyset delete".`,
	example: "  kubectl merge applyset disband shop", takes: oneSet, args: setArgs, run: onSet((*setCall).disband),
}

func (v *setCall) disband(ctx context.Context) error {
	s, err := v.writable(ctx)
	if err != nil {
		return err
	}
	members, err := s.Everyone(ctx, v.concurrency)
	if err != nil {
		return err
	}
	if v.mode != dryClient { // everything is tried before anything is written
		l := prune.Labelling{Manager: defaultManager, DryRun: true}
		if err := errors.Join(s.Leave(ctx, members, l), s.Remove(ctx, true)); err != nil {
			return err
		}
	}
	for _, m := range members {
		if v.mode == dryNone {
			if err := s.Leave(ctx, []prune.Member{m}, prune.Labelling{Manager: defaultManager}); err != nil {
				return err
			}
		}
		v.outcome(m.Target, "left")
	}
	if v.mode == dryNone {
		if err := s.Remove(ctx, false); err != nil {
			return err
		}
	}
	v.outcome(s.Target, "disbanded")
	return nil
}
