package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/target"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

// setVerb is kubectl merge set-last-applied.
type setVerb struct {
	targetVerb
	out    targetOutput
	dryRun dryRunFlag
	create bool
}

var _ = registerVerb(verb{open: newSetLastApplied, args: noArgs, flags: map[string]cobra.CompletionFunc{"output": targetOutputs}})

func newSetLastApplied(e *env) *cobra.Command {
	v := &setVerb{targetVerb: targetVerb{env: e}}
	cmd := &cobra.Command{
		Use:   "set-last-applied -f FILE",
		Short: "Set what was applied last to what a file states; nothing else of the object changes",
		Long: `Set the last-applied-configuration annotation of objects to the contents of a file, as if
'kubectl merge -f FILE' had been run, without any other change to them. What it
contains and the next file that is merged does not is removed by that merge.`,
		Example: `  kubectl merge set-last-applied -f web.yaml

  # Adopt what was created with kubectl create, helm or another tool
  kubectl merge set-last-applied --create-annotation -f web.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := spaced(cmd.Flags(), args); err != nil {
				return err
			}
			if len(args) > 0 {
				return fmt.Errorf("unexpected argument %q: objects are given with -f\nSee '%s --help' for usage", args[0], cmd.CommandPath())
			}
			return v.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	v.add(flags, "take the configuration from")
	v.out.add(flags)
	v.out.reports(flags)
	addDryRun(flags, &v.dryRun)
	flags.BoolVar(&v.create, "create-annotation", false, "will create 'last-applied-configuration' annotations if current objects doesn't have one")
	return cmd
}

func (v *setVerb) run(ctx context.Context) error {
	mode, err := v.out.mode(v.dryRun)
	if err != nil {
		return err
	}
	if err := v.inputs.validate(); err != nil {
		return err
	}
	if err := v.out.open(ctx, v.env, mode); err != nil {
		return err
	}
	if err := v.open(ctx); err != nil {
		return err
	}
	objects, err := v.find(ctx, nil)
	if err != nil {
		return err
	}
	errs := v.Read(ctx, objects)
	plans := make([]target.Change, len(objects))
	for i, o := range objects {
		if errs[i] == nil {
			plans[i], errs[i] = v.Plan(ctx, o, v.Set(o, v.create, func(text string) { v.note(o.String(), text) }))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err // nothing is written after an error
	}
	return v.send(ctx, objects, plans, mode)
}

// send writes the plans, several objects at once, and reports in input order.
func (v *setVerb) send(ctx context.Context, objects []target.Target, plans []target.Change, mode dryRun) error {
	outs := make([]write.Result, len(objects))
	errs := make([]error, len(objects)+1)
	counts := map[outcome.Word]int{}
	report := func(i int) {
		counts[outcome.Word(outs[i].Outcome)]++
		switch {
		case errs[i] != nil:
		case outs[i].Outcome == write.Unchanged && (v.out.output == "" || v.out.output == "diff"):
			if v.out.output == "" {
				text := fmt.Sprintf("set-last-applied %s: no changes required.", escape.Line(objects[i].Name))
				if mode == dryNone {
					_, errs[i] = fmt.Fprintln(v.Out, text)
				} else {
					errs[i] = v.remark(diff.Note{Object: objects[i].String(), Kind: noteOutcome, Message: "unchanged" + mode.suffix()}, text)
				}
			}
		default:
			errs[i] = v.out.written(objects[i], plans[i].Annotated, outs[i])
		}
	}
	begun := parallel.Each(ctx, parallel.Steps{N: len(objects), Done: report}, func(i int) {
		if outs[i] = write.Foreseen(plans[i].Planned); write.Writes(plans[i].Planned) && mode != dryClient {
			outs[i], errs[i] = v.Write(ctx, objects[i], plans[i], mode == dryServer)
		}
	})
	for i := begun; i < len(objects); i++ {
		errs[i] = fmt.Errorf("%s: was not written: %w", objects[i], run.ErrInterrupted)
	}
	errs[len(objects)] = v.out.close(ctx)
	v.summary(&v.out, objects, counts)
	return errors.Join(errs...)
}
