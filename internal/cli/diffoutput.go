package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

// checkOutput returns an error if -o does not name a report.
func (v *diffVerb) checkOutput() error {
	if p, ok := printerNamed(v.out.output); !ok || !p.report {
		return fmt.Errorf("-o %s: diff prints one of %s", v.out.output, printerNames(isReport))
	}
	return nil
}

// report prints a report other than the diff, of every object even if others have errors.
func (v *diffVerb) report(ctx context.Context, policyGiven bool, notes *reporter, mode dryRun) (differs bool, err error) {
	out, err := v.out.printer(ctx, v.env, mode)
	if err != nil {
		return false, err
	}
	s, err := v.planned(ctx, policyGiven, notes, rendering(out, notes, mode))
	if err == nil {
		err = begin(ctx, out, s)
	}
	if err != nil {
		return false, err
	}
	t := &results{out: out, notes: notes, mode: mode, output: v.out.output}
	s.preview(ctx, mode, func(item *run.Item) {
		a := item.Action()
		differs = differs || a == run.Create || a == run.Change || a == run.Recreate || a == run.Delete
		t.item(item)
	})
	if whole, ok := out.(runPrinter); ok {
		t.errs = append(t.errs, whole.run(outcome.Ended{Plan: s.Plan, DryRun: true}))
	}
	t.errs = append(t.errs, out.close(ctx))
	left := notes.conflicts(s.Items) + unpruned(s.Plan)
	notes.unused(s.Planner.Rules)
	if mode == dryClient {
		notes.missing(s.MissingNamespaces(ctx))
	}
	if err := errors.Join(s.Failed(), errors.Join(t.errs...)); err != nil || left == 0 {
		return differs, err
	}
	return differs, &exit{Code: conflicted}
}

// reportOutputs completes the printers of reports.
func reportOutputs(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var fit []cobra.Completion
	for _, p := range printerRows {
		if p.report {
			fit = append(fit, cobra.CompletionWithDesc(p.name, p.help))
		}
	}
	return complete.Beginning(fit, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
