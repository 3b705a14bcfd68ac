package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/annotate"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/target"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

var _ = registerVerb(verb{
	use: "set-last-applied (-f FILE | -k DIRECTORY)", short: "Set what was applied last to what a file states",
	long: `Set the last-applied-configuration annotation of objects to the contents of a file, as if
'kubectl merge -f FILE' had been run, without any other change to them. What it
contains and the next file that is merged does not is removed by that merge.`,
	example: `  kubectl merge set-last-applied -f web.yaml

  # Adopt what was created with kubectl create, helm or another tool
  kubectl merge set-last-applied --create-annotation -f web.yaml`,
	inputs: "take the configuration from",
	takes: exactly(0, func(c *call) error {
		return c.usage(fmt.Sprintf("unexpected argument %q: objects are given with -f", c.args[0]))
	}),
	run: func(c *call, ctx context.Context) error { return (&targetVerb{call: c}).set(ctx) },
})

// set is kubectl merge set-last-applied.
func (v *targetVerb) set(ctx context.Context) error {
	if err := v.validateInput(); err != nil {
		return err
	}
	objects, errs, err := v.read(ctx, nil)
	if err != nil {
		return err
	}
	plans := make([]annotate.Annotated, len(objects))
	for i, o := range objects {
		if errs[i] == nil {
			plans[i], errs[i] = v.Plan(ctx, o, v.Set(o, v.create, func(text string) { v.note(o.String(), text) }))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err // nothing is written after an error
	}
	return v.putAll(ctx, objects, plans)
}

// putAll writes the plans, several objects at once, and reports in input order.
func (v *targetVerb) putAll(ctx context.Context, objects []target.Target, plans []annotate.Annotated) error {
	outs := make([]write.Result, len(objects))
	errs := make([]error, len(objects)+1)
	counts := map[write.Outcome]int{}
	report := func(i int) {
		counts[outs[i].Outcome]++
		switch {
		case errs[i] != nil:
		case outs[i].Outcome == write.Unchanged && v.output == "diff":
		case outs[i].Outcome == write.Unchanged && v.output == "":
			text := fmt.Sprintf("set-last-applied %s: no changes required.", escape.Line(objects[i].Name))
			if v.mode == dryNone {
				_, errs[i] = fmt.Fprintln(v.Out, text)
			} else {
				errs[i] = v.remark(diff.Note{Object: objects[i].String(), Kind: noteOutcome, Message: "unchanged" + v.mode.suffix()}, text)
			}
		default:
			errs[i] = v.written(objects[i], plans[i], outs[i])
		}
	}
	begun := parallel.Each(ctx, parallel.Steps{N: len(objects), Done: report}, func(i int) {
		outs[i], errs[i] = v.put(ctx, objects[i], plans[i])
	})
	for i := begun; i < len(objects); i++ {
		errs[i] = fmt.Errorf("%s: %w", objects[i], run.ErrUnwritten)
	}
	errs[len(objects)] = v.close(ctx)
	v.summary(objects, counts)
	return errors.Join(errs...)
}
