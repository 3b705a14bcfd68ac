package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/annotate"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/target"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// targetPrinters lists the printers of these verbs, which are those of a merge; diff is of the
// configuration, the only change.
func targetPrinters() string {
	names := printerNames(ofTarget)
	return strings.Replace(names, "diff", "diff (of the configuration)", 1) + ", " + templateNames()
}

// prepare opens the printer and the connection.
func (k *targetVerb) prepare(ctx context.Context) (err error) {
	k.start = time.Now()
	if p, _ := printerNamed(k.output); p.merges {
		return fmt.Errorf("--output=%s: is for merges: there are %s", k.output, strings.Replace(targetPrinters(), " (of the configuration)", "", 1))
	}
	if k.output != "diff" {
		if k.prints, err = k.printer(ctx); err != nil {
			return err
		}
	}
	return k.open(ctx)
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
	return f.prints.object(item)
}

// summary counts the expected outcomes of the objects in a dry run on stderr.
func (f *targetVerb) summary(targets []target.Target, counts map[write.Outcome]int) {
	if _, preview := f.prints.(*dryPrinter); !preview || len(targets) < 2 {
		return
	}
	var namespaces []string
	for _, t := range targets {
		if !slices.Contains(namespaces, t.Namespace) && t.Namespace != "" {
			namespaces = append(namespaces, t.Namespace)
		}
	}
	f.plainReporter().summary(outcome.Summary{Objects: len(targets), Counts: counts, DryRun: true, Time: time.Since(f.start), Target: f.aim(f.cluster, namespaces)})
}

// showConfiguration prints the configuration before and after.
func (f *targetVerb) showConfiguration(a annotate.Annotated) error {
	d := diff.Doc{Name: diff.DocName(a.Final), Live: a.Was.Value, Result: a.Now.Value, Sensitive: a.Sensitive}
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
