package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

func newSetVerify(e *env) *cobra.Command {
	v := &membersVerb{env: e}
	var fix bool
	cmd := &cobra.Command{
		Use:   "verify NAME",
		Short: "Compare what a set's parent lists with its members",
		Long: `Compare the kinds and namespaces that a set's parent lists with the objects that carry its label, in all
kinds that you may list. A member of a kind that is not listed would never be pruned.

Exit code 0: they agree, or --fix has made them agree; 3: they do not.`,
		Example: "  kubectl merge applyset verify shop --fix",
		Args:    oneSet,
		RunE:    func(cmd *cobra.Command, args []string) error { return v.verify(cmd.Context(), args[0], fix) },
	}
	v.add(cmd.Flags())
	cmd.Flags().BoolVar(&fix, "fix", false, "write the parent so that it lists the kinds and namespaces of its members")
	return cmd
}

func (v *membersVerb) verify(ctx context.Context, name string, fix bool) error {
	s, err := v.open(ctx, name)
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
		v.line(s.Target, "is as it should be", dryNone)
		return nil
	case !fix:
		return &exit{Code: conflicted}
	}
	if err := s.Store(ctx, func(applyset.Parent) applyset.Parent { return want }); err != nil {
		return err
	}
	v.line(s.Target, "fixed", dryNone)
	return nil
}

func newSetDisband(e *env) *cobra.Command {
	v := &membersVerb{env: e}
	cmd := &cobra.Command{
		Use:   "disband NAME",
		Short: "Dissolve a set: its objects stay, and belong to no set",
		Long: `Take all members out of a set and delete its parent. The objects themselves stay as they are. To delete
them, see "kubectl merge applyset delete".`,
		Example: "  kubectl merge applyset disband shop",
		Args:    oneSet,
		RunE:    func(cmd *cobra.Command, args []string) error { return v.disband(cmd.Context(), args[0]) },
	}
	v.add(cmd.Flags())
	addDryRun(cmd.Flags(), &v.dryRun)
	return cmd
}

func (v *membersVerb) disband(ctx context.Context, name string) error {
	mode, err := parseDryRun(v.dryRun.text)
	if err != nil {
		return err
	}
	s, err := v.existingSet(ctx, name)
	if err != nil {
		return err
	}
	if err := s.Writable(); err != nil {
		return err
	}
	members, err := s.Everyone(ctx, v.concurrency)
	if err != nil {
		return err
	}
	if mode != dryClient { // everything is tried before anything is written
		l := prune.Labelling{Manager: defaultManager, DryRun: true}
		if err := errors.Join(s.Leave(ctx, members, l), s.Remove(ctx, true)); err != nil {
			return err
		}
	}
	for _, m := range members {
		if mode == dryNone {
			if err := s.Leave(ctx, []prune.Member{m}, prune.Labelling{Manager: defaultManager}); err != nil {
				return err
			}
		}
		v.line(m.Target, "left", mode)
	}
	if mode == dryNone {
		if err := s.Remove(ctx, false); err != nil {
			return err
		}
	}
	v.line(s.Target, "disbanded", mode)
	return nil
}
