package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/annotate"
	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/strategic"
	"github.com/kubectl-merge/kubectl-merge/internal/target"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// targetVerb is a call of a verb for last-applied: these find objects, read them, and write one
// annotation.
type targetVerb struct {
	*call
	target.Access
	cluster *cluster.Cluster
	start   time.Time
	prints  printer // nil: the diff of the configuration is printed
}

// open makes the connection, and the planner that knows the schemas.
func (k *targetVerb) open(ctx context.Context) error {
	k.compares()
	k.strategy = strategy.Strategies[0].Name
	k.manager, k.validate = cmp.Or(k.manager, apply.DefaultManager), cmp.Or(k.validate, string(apply.Ignore))
	planner, err := k.planner(ctx)
	if err != nil {
		return err
	}
	at, err := k.reach()
	if err != nil {
		return err
	}
	k.cluster, k.API, k.Live = at.Cluster, at.Cluster, at.live
	planner.Schemas, planner.Strategic = at.Type, strategic.By(cluster.Struct)
	k.Planner = annotate.Planner{Planner: planner}
	return nil
}

// find lists the objects that -f, or the arguments, name.
func (k *targetVerb) find(ctx context.Context, args []string) ([]target.Target, error) {
	ns, err := k.namespacing()
	if err != nil {
		return nil, err
	}
	switch {
	case k.hasInput() && len(args) > 0:
		return nil, errors.New("when files are given, no object may be named as well: give one of -f and TYPE/NAME")
	case k.hasInput():
		if err := k.validateInput(); err != nil {
			return nil, err
		}
		local, bad, err := k.readLocal(ctx)
		if err != nil {
			return nil, err
		}
		targets, err := k.Filed(ctx, local)
		return targets, errors.Join(bad, err)
	case len(args) == 0:
		return nil, errors.New("you must provide one or more resources by argument or filename: TYPE/NAME, or -f FILE")
	}
	found, err := k.cluster.Query(ctx, k.flags, cluster.Query{
		Args: args, Selector: k.inputs.Selector, All: k.all, Namespace: ns.Default, Bare: ns.Enforce,
	})
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if f.Namespaced && f.Namespace == ns.Default {
			if err := ns.Check(); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case len(found) > 0:
	case k.verb.name() == "view-last-applied":
		err = k.remark(diff.Note{Kind: noteProblem, Message: "no resources found"}, "No resources found")
	default: // a check of nothing would pass
		err = fmt.Errorf("no matching resources found: check the type, --selector, and the namespace (now %s; -n chooses another)", ns.Default)
	}
	return target.Found(found), err
}

// read opens the printer and the connection, and reads the objects that -f, or the arguments, name.
// errs has the error of each that cannot be read, by index.
func (k *targetVerb) read(ctx context.Context, args []string) (objects []target.Target, errs []error, err error) {
	k.start = time.Now()
	if p, _ := printerNamed(k.output); p.merges {
		names := strings.Replace(targetPrinters(), " (of the configuration)", "", 1)
		return nil, nil, fmt.Errorf("--output=%s: is for merges: there are %s", k.output, names)
	}
	if k.output != "diff" {
		if k.prints, err = k.printer(ctx); err != nil {
			return nil, nil, err
		}
	}
	if err = k.open(ctx); err == nil {
		objects, err = k.find(ctx, args)
	}
	if err != nil {
		return nil, nil, err
	}
	return objects, k.Read(ctx, objects), nil
}

// meanings prints the consequences of a change for the next merge, a line for each field; planned
// changes are in the conditional.
func (k *targetVerb) meanings(t target.Target, all []annotate.Meaning, written bool) {
	for _, m := range all {
		text := m.Conditional()
		if written {
			text = m.Text
		}
		k.note(t.String(), m.Path.String()+": "+text)
	}
}

// targetPrinters lists the printers of these verbs, which are those of a merge; diff is of the
// configuration, the only change.
func targetPrinters() string {
	return strings.Replace(printerNames(ofTarget), "diff", "diff (of the configuration)", 1) + ", " + templateNames()
}

// put writes one change, or has the server try it; a client-side dry run, and a change that is none, send
// nothing. What has begun is finished after an interrupt; nothing is begun after one.
func (k *targetVerb) put(ctx context.Context, t target.Target, c annotate.Annotated) (write.Result, error) {
	if !write.Writes(c.Planned) || k.mode == dryClient {
		return write.Foreseen(c.Planned), nil
	}
	if ctx.Err() != nil {
		return write.Result{}, fmt.Errorf("%s: %w", t, run.ErrUnwritten)
	}
	return k.Write(parallel.Outlasting(ctx), t, c, k.mode == dryServer)
}

// written reports one object. A write that was planned anew is reported as first planned: its
// effect on the configuration is the same.
func (f *targetVerb) written(o target.Target, a annotate.Annotated, out write.Result) error {
	if f.prints == nil {
		return f.showConfiguration(a)
	}
	item := run.NewItem(object.Object{Value: a.Final}, o.Target)
	item.Own()
	item.Planned, item.Result = out.Planned, out
	if _, preview := f.prints.(*dryPrinter); preview { // of the object, nothing else would change
		item.Result.Object, _ = a.Now.Value.(map[string]any)
		item.Result.Planned.Sensitive = a.Sensitive
	}
	return f.prints.printObject(item)
}

// summary counts the expected outcomes of the objects in a dry run on stderr.
func (f *targetVerb) summary(targets []target.Target, counts map[write.Outcome]int) {
	if _, preview := f.prints.(*dryPrinter); !preview || len(targets) < 2 {
		return
	}
	on := each(targets, func(t target.Target) cluster.Target { return t.Target })
	f.plainReporter().summary(outcome.Summary{Objects: len(targets), Counts: counts, DryRun: true, Time: time.Since(f.start), Target: f.aim(f.cluster, on)})
}

func (f *targetVerb) showConfiguration(a annotate.Annotated) error {
	d := diff.Doc{Name: diff.DocName(a.Final), Live: a.Was.Value, Result: a.Now.Value, Local: []any{a.Live, a.Value}, Sensitive: a.Sensitive}
	_, err := diff.Unified(f.Out, d, diff.Options{
		Color: f.colored(), ShowManagedFields: true, ShowSecrets: f.secrets, From: "last-applied", To: "new-last-applied",
	})
	return err
}

func (f *targetVerb) close(ctx context.Context) error {
	if f.prints == nil {
		return nil
	}
	return f.prints.close(ctx)
}
