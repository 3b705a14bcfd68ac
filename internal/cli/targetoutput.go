package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/annotate"
	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/target"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// targetOutput prints the outcome of a last-applied configuration. The printers are those of a
// merge; diff is of the configuration, the only change.
type targetOutput struct {
	outputFlags
	printer printer
	view    view
	start   time.Time
}

func (f *targetOutput) add(flags *pflag.FlagSet) {
	flags.StringVarP(&f.output, "output", "o", "", targetPrinters(" (of the configuration)"))
	flags.StringVar(&f.template, "template", "", "template text or file for -o go-template and -o go-template-file")
	flags.BoolVar(&f.managedFields, "show-managed-fields", false, "keep managedFields when printing objects")
	flags.BoolVar(&f.secrets, "show-secrets", false, "print the values of Secrets")
}

// targetPrinters lists the printers of these verbs; ofDiff follows diff.
func targetPrinters(ofDiff string) string {
	names := printerNames(func(p printerRow) bool { return !p.merges })
	return strings.Replace(names, "diff", "diff"+ofDiff, 1) + ", " + templateNames()
}

// reports adds to the help that reports write nothing, if a dry run is possible; see
// outputFlags.mode.
func (f *targetOutput) reports(flags *pflag.FlagSet) {
	flags.Lookup("output").Usage += "; with patch and diff nothing is written"
}

func (f *targetOutput) open(ctx context.Context, e *env, mode dryRun) (err error) {
	f.start = time.Now()
	f.view = view{env: e, outputFlags: f.outputFlags, mode: mode}
	switch f.output {
	case "":
		if f.template == "" {
			f.printer = linePrinter{f.view}
			if mode != dryNone {
				f.printer = &dryPrinter{view: f.view}
			}
			return nil
		}
	case "diff":
		return nil
	}
	if p, _ := printerNamed(f.output); p.merges {
		return fmt.Errorf("--output=%s: is for merges: there are %s", f.output, targetPrinters(""))
	}
	f.printer, err = f.outputFlags.printer(ctx, e, mode)
	return err
}

// written reports one object. A write that was planned anew is reported as first planned: its
// effect on the configuration is the same.
func (f *targetOutput) written(o target.Target, a annotate.Annotated, out write.Result) error {
	if f.printer == nil {
		return f.diff(a)
	}
	item := run.NewItem(object.Object{Value: a.Final}, o.Target)
	item.Own()
	item.Planned, item.Result = out.Planned, out
	if _, preview := f.printer.(*dryPrinter); preview { // of the object, nothing else would change
		item.Result.Object, _ = a.Now.Value.(map[string]any)
		item.Result.Planned.Sensitive = a.Sensitive
	}
	return f.printer.object(item)
}

// summary counts the expected outcomes of the objects in a dry run on stderr.
func (k *targetVerb) summary(f *targetOutput, targets []target.Target, counts map[outcome.Word]int) {
	if _, preview := f.printer.(*dryPrinter); !preview || len(targets) < 2 {
		return
	}
	var namespaces []string
	for _, t := range targets {
		if !slices.Contains(namespaces, t.Namespace) && t.Namespace != "" {
			namespaces = append(namespaces, t.Namespace)
		}
	}
	k.reporter(false).summary(outcome.Summary{Objects: len(targets), Counts: counts, DryRun: true, Time: time.Since(f.start), Target: k.aim(k.cluster, namespaces)})
}

// diff prints the configuration before and after.
func (f *targetOutput) diff(a annotate.Annotated) error {
	d := diff.Doc{Name: diff.DocName(a.Final), Live: a.Was.Value, Result: a.Now.Value, Sensitive: a.Sensitive}
	_, err := diff.Unified(f.view.Out, d, diff.Options{
		Color: f.view.colored(), ShowManagedFields: true, ShowSecrets: f.secrets, From: "last-applied", To: "new-last-applied",
	})
	return err
}

func (f *targetOutput) close(ctx context.Context) error {
	if f.printer == nil {
		return nil
	}
	return f.printer.close(ctx)
}
