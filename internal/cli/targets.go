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
	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/strategic"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// targetVerb is a call of a verb for last-applied: these find objects, read them, and write one
// annotation.
type targetVerb struct {
	*results
	*annotate.Run
	cluster *cluster.Cluster
}

func newTargetVerb(c *call) *targetVerb {
	return &targetVerb{results: &results{call: c, start: time.Now()}}
}

// open makes the connection, and the run, whose planner knows the schemas. It has no objects yet.
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
	planner.Schemas, planner.Strategic = at.Type, strategic.By(cluster.Struct)
	k.cluster, k.Run = at.Cluster, annotate.New(at.Cluster, at.live, planner)
	k.Write.DryRun = k.mode == dryServer
	return nil
}

// add adds the objects that -f, or the arguments, name.
func (k *targetVerb) add(ctx context.Context, args []string) error {
	switch {
	case k.hasInput() && len(args) > 0:
		return errors.New("when files are given, no object may be named as well: give one of -f and TYPE/NAME")
	case k.hasInput():
		if err := k.validateInput(); err != nil {
			return err
		}
		local, bad, err := k.readLocal(ctx)
		if err != nil {
			return err
		}
		return errors.Join(bad, k.Add(ctx, local))
	case len(args) == 0:
		return errors.New("you must provide one or more resources by argument or filename: TYPE/NAME, or -f FILE")
	}
	found, err := k.find(ctx, k.cluster, args)
	k.Name(found)
	return err
}

// find returns the objects that arguments name; only those that a selector has chosen have been read.
func (c *call) find(ctx context.Context, api *cluster.Cluster, args []string) ([]cluster.Found, error) {
	ns, err := c.namespacing()
	if err != nil {
		return nil, err
	}
	found, err := api.Query(ctx, c.flags, cluster.Query{
		Args: args, Selector: c.inputs.Selector, All: c.all, Namespace: ns.Default, Bare: ns.Enforce,
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
	case c.verb.name() == "view-last-applied":
		err = c.remark(diff.Note{Kind: noteProblem, Message: "no resources found"}, "No resources found")
	default: // a check of nothing would pass
		err = fmt.Errorf("no matching resources found: check the type, --selector, and the namespace (now %s; -n chooses another)", ns.Default)
	}
	return found, err
}

// begin opens the printer and the connection, and finds the objects that -f, or the arguments, name.
func (k *targetVerb) begin(ctx context.Context, args []string) (err error) {
	if p, _ := printerNamed(k.output); p.merges {
		names := strings.Replace(targetPrinters(), " (of the configuration)", "", 1)
		return fmt.Errorf("--output=%s: is for merges: there are %s", k.output, names)
	}
	if k.out = (configurationPrinter{view{k.call}}); k.output != "diff" {
		k.out, err = k.printer(ctx)
	}
	if err == nil {
		err = k.open(ctx)
	}
	if err == nil {
		err = k.add(ctx, args)
	}
	return err
}

// meanings prints the consequences of a change for the next merge, a line for each field; planned
// changes are in the conditional.
func (k *targetVerb) meanings(item *run.Item, all []annotate.Meaning, written bool) {
	for _, m := range all {
		text := m.Conditional()
		if written {
			text = m.Text
		}
		k.note(item.Target.String(), m.Path.String()+": "+text)
	}
}

// targetPrinters lists the printers of these verbs, which are those of a merge; diff is of the
// configuration, the only change.
func targetPrinters() string {
	return strings.Replace(printerNames(ofTarget), "diff", "diff (of the configuration)", 1) + ", " + templateNames()
}

// send writes the objects, or has the server try them; a client-side dry run sends nothing. Each is
// reported, unless it has failed. The error joins those of all, and of what is printed.
func (k *targetVerb) send(ctx context.Context, report func(*run.Item) error) error {
	k.finish(ctx, k.Plan, k.Send, func(item *run.Item) {
		err := item.Err
		if err == nil {
			err = report(item)
		}
		k.errs = append(k.errs, err)
	})
	k.errs = append(k.errs, k.out.close(ctx))
	k.summary()
	return errors.Join(k.errs...)
}

// written reports one object. A write that was planned anew is reported as first planned: its
// effect on the configuration is the same.
func (k *targetVerb) written(item *run.Item) error {
	if _, preview := k.out.(*dryPrinter); preview { // of the object, nothing else would change
		item.Result.Object, _ = lastapplied.Read(item.Planned.Final).Value.(map[string]any)
		item.Result.Planned.Sensitive = item.Planned.Sensitive
	}
	return k.out.printObject(item)
}

// summary counts the expected outcomes of the objects in a dry run on stderr.
func (k *targetVerb) summary() {
	if _, preview := k.out.(*dryPrinter); !preview || len(k.Items) < 2 {
		return
	}
	s := outcome.Summarize(outcome.Ended{Plan: k.Plan, Took: time.Since(k.start), Target: k.aim(k.cluster, targetsOf(k.Items))})
	s.DryRun = true // whose failures keep none of the others from being written
	k.plainReporter().summary(s)
}

// configurationPrinter prints the diff of the configuration.
type configurationPrinter struct{ view }

func (k configurationPrinter) printObject(item *run.Item) error {
	p := item.Planned
	d := diff.Doc{Name: diff.DocName(p.Final), Live: lastapplied.Read(p.Live).Value, Result: lastapplied.Read(p.Final).Value, Local: []any{p.Live, p.Value}, Sensitive: p.Sensitive}
	_, err := diff.Unified(k.Out, d, diff.Options{
		Color: k.colored(), ShowManagedFields: true, ShowSecrets: k.secrets, From: "last-applied", To: "new-last-applied",
	})
	return err
}
