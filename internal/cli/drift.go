package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/drift"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// driftVerb reports how live objects differ from their files.
type driftVerb struct {
	*env
	inputs      inputFlags
	plan        planFlags
	set         setFlags
	notes       noteFlags
	output      string
	live        []string
	concurrency int
	shard       string
	watch       bool
	timeout     time.Duration
	watched     bool     // all objects were compared, and then watched
	args        []string // TYPE/NAME, instead of files
}

const driftLong = `Report how live objects differ from the files that describe them, who changed them, and
when. Without a file, objects are compared with what was applied last. Nothing is written,
and only permission to get the objects is needed. Secret values are never shown.

    changed   live has another value than the file
    removed   live does not have what the file states
    added     live has a field or an entry that is not in the file, and that somebody other
              than you, the server and the control plane has set
    missing   there is no such object, or it is being deleted
    orphaned  a member of the set (--applyset) that is in no file

What the server fills in is no drift, and neither is what the rules (--rules) give to live
or ignore. docs/drift.md has more.

With --watch, drift is reported as it begins and ends, until --timeout or Ctrl-C; the exit
code is that for what differs then.

Exit code 0: no drift; 1: drift; 2: an error.`

const driftExample = `  # What differs from the files, who changed it and when
  kubectl merge drift -f web.yaml

  # What others have changed since the object was applied last
  kubectl merge drift deployment/web

  # With the members of a set that are in no file any more, for programs
  kubectl merge drift -f sets/shop.yaml --applyset=shop -o json

  # Drift as it begins and ends, a line of JSON each
  kubectl merge drift -f web.yaml --watch -o json

  # Without a cluster: live objects from files
  kubectl merge drift -f web.yaml --live live.yaml`

var _ = registerVerb(verb{open: newDrift, args: objectArgs, flags: map[string]cobra.CompletionFunc{"output": driftOutputs()}})

// driftOutputs completes the formats of a report.
func driftOutputs() cobra.CompletionFunc {
	var names []string
	for _, f := range drift.Formats {
		names = append(names, f.Name+"\t"+f.Help)
	}
	return complete.Words(names...)
}

func newDrift(e *env) *cobra.Command {
	v := &driftVerb{env: e, plan: planFlags{original: "auto", policy: merge.Policies[0].Name, strategy: strategy.Strategies[0].Name, overwrite: true, guard: guardFlag{mode: "off"}}}
	cmd := &cobra.Command{
		Use:     "drift (-f FILE | -k DIRECTORY | TYPE/NAME...)",
		Short:   "Report what differs from the files, who changed it and when",
		Long:    driftLong,
		Example: driftExample,
		RunE:    v.exits,
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &exit{Code: diffFailed, Err: flagError(cmd, err)}
	})
	flags := cmd.Flags()
	v.inputs.add(flags, "compare")
	flags.StringVar(&v.plan.rules, "rules", "", "FILE with rules: what they give to live or ignore is no drift")
	flags.StringSliceVar(&v.plan.schemas, "schema", nil, "FILE with CustomResourceDefinitions or an OpenAPI document, for kinds that neither the program nor the server knows")
	flags.StringVar(&v.plan.manager, "field-manager", defaultManager, "field manager that the files are applied with")
	v.plan.server.addReading(flags)
	flags.StringVar(&v.plan.validate, "validate", "strict", "how unknown fields are treated: strict (or true: an error), warn, ignore (or false)")
	flags.Lookup("validate").NoOptDefVal = "strict"
	v.set.add(flags)
	v.notes.add(flags)
	flags.StringVarP(&v.output, "output", "o", drift.Formats[0].Name, "table, json (one line), markdown or prometheus (a text file of metrics)")
	flags.StringSliceVar(&v.live, "live", nil, "work offline: live objects come from this FILE or DIR (kubectl get -o yaml --show-managed-fields)")
	flags.IntVar(&v.concurrency, "concurrency", parallel.Limit, "objects under way at once")
	flags.StringVar(&v.shard, "shard", "", "I/N: compare only part I (from 0) of N parts of the input, which is split by namespace; N alone: part JOB_COMPLETION_INDEX, for an Indexed Job")
	flags.BoolVarP(&v.watch, "watch", "w", false, "continue, and report drift as it begins and ends; needs permission to list and watch the objects, and reads them every ten seconds without it")
	flags.DurationVar(&v.timeout, "timeout", 0, "how long to watch; 0: until interrupted")
	return cmd
}

// exits runs the verb and adds the exit code to its error.
func (v *driftVerb) exits(cmd *cobra.Command, args []string) error {
	report, err := v.checked(cmd, args)
	switch {
	case err != nil:
		return &exit{Code: diffFailed, Err: err, Ended: v.watched}
	case report.Drifted > 0:
		return &exit{Code: failed, Ended: v.watched}
	}
	return nil
}

func (v *driftVerb) checked(cmd *cobra.Command, args []string) (*drift.Report, error) {
	v.args = args
	if err := v.named().check(); err != nil {
		return nil, err
	}
	format, err := drift.FormatNamed(v.output)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--output=%s: %w", v.output, err)
	case v.set.name == "" && v.set.namespace != "":
		return nil, errors.New("--applyset-namespace requires --applyset=NAME")
	case v.set.name != "" && len(v.live) > 0:
		return nil, errors.New("--live: works without a server, and so cannot find the members of --applyset")
	case v.set.name != "" && v.shard != "":
		return nil, errors.New("--shard is incompatible with --applyset: objects of the other parts would be orphaned")
	case v.set.name != "" && v.inputs.Selector != "":
		return nil, errors.New("--selector is incompatible with --applyset: objects of the input that it leaves out would be orphaned")
	case v.timeout != 0 && !v.watch:
		return nil, errors.New("--timeout requires --watch")
	case v.timeout < 0:
		return nil, fmt.Errorf("--timeout=%s: must not be negative", v.timeout)
	case v.watch && len(v.live) > 0:
		return nil, errors.New("--live: saved objects do not change, so there is nothing to --watch")
	}
	return v.run(cmd.Context(), format)
}

func (v *driftVerb) named() namedArgs {
	return namedArgs{"drift", v.args, &v.inputs, v.live, v.set.name}
}

// run compares all objects and prints the report, even if some have errors.
func (v *driftVerb) run(ctx context.Context, format drift.Format) (*drift.Report, error) {
	shard, err := drift.ParseShard(v.shard, os.Getenv("JOB_COMPLETION_INDEX"))
	if err != nil {
		return nil, err
	}
	v.plan.secret = v.secretValues()
	planner, err := v.plan.planner(ctx, true) // by the policy apply, on the server's side, too: values of others are drift
	if err != nil {
		return nil, err
	}
	planner.Compare = true
	notes := v.notes.reporter(v.env, outputFlags{}, dryClient)
	objects, err := v.named().lastApplied(ctx, v.env)
	if err != nil {
		return nil, err
	}
	s, err := v.open(ctx, request{
		inputs: &v.inputs, objects: objects, plan: &v.plan, planner: planner, live: v.live, concurrency: v.concurrency, needs: run.Changes, shown: true, quiet: v.notes.quiet,
		prune: v.orphans(), note: notes.set(), shard: shard, render: drift.Render(planner.Manager),
	})
	if err != nil {
		return nil, err
	}
	c := &comparison{driftVerb: v, session: s, notes: notes, format: format, options: drift.Options{Width: term.Width(v.Out), Color: v.colored(), Now: time.Now()}}
	if v.watch {
		return c.watch(ctx)
	}
	report := &drift.Report{}
	c.each(ctx, func(item *run.Item) {
		if item.Err == nil {
			report.Add(item, planner.Manager)
		}
	})
	return c.end(report, s.Failed(), func(r *drift.Report) error { return format.Write(v.Out, r, c.options) })
}

// comparison is a run whose objects are compared.
type comparison struct {
	*driftVerb
	*session
	notes   *reporter
	format  drift.Format
	options drift.Options
}

// each calls do for every item, and prints its problems.
func (c *comparison) each(ctx context.Context, do func(*run.Item)) {
	c.Show(ctx, func(item *run.Item) {
		if do(item); item.Err == nil {
			c.notes.problems(item)
		}
	})
	c.notes.unused(c.Planner.Rules)
}

// end prints a report, with the errors of objects that could not be compared, and its summary.
func (c *comparison) end(report *drift.Report, failed error, write func(*drift.Report) error) (*drift.Report, error) {
	failures := compared(failed)
	report.Errors = lines(failures, c.secretValues())
	printed := write(report)
	if failures == nil && printed == nil && !c.driftVerb.notes.quiet && c.output == drift.Formats[0].Name {
		printed = c.remark(noteOf(report), report.Summary())
	}
	return report, errors.Join(failures, printed)
}

// orphans returns the flags that find members of the set missing in the input; nil without a set.
func (v *driftVerb) orphans() *pruneFlags {
	if v.set.name == "" {
		return nil
	}
	return &pruneFlags{setFlags: v.set, on: true, reads: true, cascade: "background"}
}

// compared returns the errors of a comparison, in which nothing would have been pruned.
func compared(err error) error {
	var errs []error
	for _, one := range leaves(err) {
		if errors.Is(one, run.ErrNotPruned) {
			one = errors.New("orphaned members were not looked for because of that: fix it, and run it again")
		}
		errs = append(errs, one)
	}
	return errors.Join(errs...)
}

// noteDrift is the kind of the note that summarizes a report.
const noteDrift diff.NoteKind = "drift"

func noteOf(r *drift.Report) diff.Note {
	return diff.Note{Object: "drift", Kind: noteDrift, Message: r.Summary()}
}
