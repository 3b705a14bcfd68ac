package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/annotate"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
)

// setVerb says what was applied last.
type setVerb struct {
	targetVerb
	out    keptOutput
	dryRun dryRunFlag
	create bool
}

var _ = registerVerb(verb{open: newSetLastApplied, args: noArgs, flags: map[string]cobra.CompletionFunc{"output": keptOutputs}})

func newSetLastApplied(e *env) *cobra.Command {
	v := &setVerb{targetVerb: targetVerb{env: e}}
	cmd := &cobra.Command{
		Use:   "set-last-applied -f FILE",
		Short: "Set what was applied last to what a file says; nothing else of the object changes",
		Long: `Set the last-applied-configuration annotation of objects to the contents of a file, as if
'kubectl merge -f FILE' had been run, without any other change to them. What stands
there and not in the next file that is merged is removed then.`,
		Example: `  kubectl merge set-last-applied -f web.yaml

  # Adopt what was made with kubectl create, helm or somebody else's tool
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
	errs := v.read(ctx, objects)
	plans := make([]annotate.Annotated, len(objects))
	for i, o := range objects {
		if errs[i] == nil {
			plans[i], errs[i] = v.planner.Annotate(ctx, o.subject(), o.live, v.rewrite(o))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err // nothing is written if anything is wrong
	}
	return v.send(ctx, objects, plans, mode)
}

// rewrite takes the configuration from the file.
//
// Unlike kubectl: an unknown field is an error. The next merge would look for it in
// live in vain, and the one that was meant would not be ours.
func (v *setVerb) rewrite(o kept) annotate.Rewrite {
	return func(ctx context.Context, was lastapplied.Original) (apply.Conf, error) {
		if was.State == lastapplied.None && !v.create {
			return apply.Conf{}, fmt.Errorf("no last-applied-configuration annotation found on resource: %s, to create the annotation, run the command with --create-annotation", o.Name)
		}
		conf, err := apply.Given(o.local.Value, o.live)
		if err != nil {
			return conf, err
		}
		warning, err := v.planner.Check(ctx, o.subject(), conf.Value, nil)
		if warning != "" {
			fmt.Fprintf(v.ErrOut, "note: %s: %s\n", oneLine(o.String()), oneLine(warning))
		}
		return conf, err
	}
}

// send writes what was planned, several objects at once, and reports in input order.
func (v *setVerb) send(ctx context.Context, objects []kept, plans []annotate.Annotated, mode dryRun) error {
	outs := make([]write.Result, len(objects))
	errs := make([]error, len(objects)+1)
	report := func(i int) {
		switch {
		case errs[i] != nil:
		case outs[i].Outcome == write.Unchanged && (v.out.output == "" || v.out.output == "diff"):
			if v.out.output == "" {
				_, errs[i] = fmt.Fprintf(v.Out, "set-last-applied %s: no changes required.\n", oneLine(objects[i].Name))
			}
		default:
			errs[i] = v.out.written(objects[i], plans[i], outs[i])
		}
	}
	begun := parallel.Each(ctx, parallel.Steps{N: len(objects), Done: report}, func(i int) {
		if outs[i] = write.Foreseen(plans[i].Planned); write.Writes(plans[i].Planned) && mode != dryClient {
			outs[i], errs[i] = v.store(ctx, objects[i], plans[i], v.rewrite(objects[i]), mode == dryServer)
		}
	})
	for i := begun; i < len(objects); i++ {
		errs[i] = fmt.Errorf("%s: was not written: %w", objects[i], run.ErrInterrupted)
	}
	errs[len(objects)] = v.out.close(ctx)
	return errors.Join(errs...)
}
