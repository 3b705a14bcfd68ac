package cli

import (
	"context"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

var _ = registerPrinter(printerRow{
	name: "outcome", help: "what became of each object, as JSON: outcome, impact, changes, notes, error, requests, seconds", values: true, merges: true, impact: true, needs: run.Changes,
	open: func(v view) (printer, error) { return newOutcomePrinter(v), nil },
})

// runPrinter is a printer that prints a run as a whole, objects with errors included. It is
// called when all objects are done, before close.
type runPrinter interface {
	run(outcome.Ended) error
}

// outcomePrinter prints one JSON document about the whole run.
type outcomePrinter struct {
	view
	report outcome.Report
	notes  *reporter
}

func newOutcomePrinter(v view) *outcomePrinter {
	notes := &reporter{json: true, secrets: v.secrets, preview: v.mode != dryNone, files: map[string]bool{}}
	return &outcomePrinter{view: v, report: outcome.Report{ShowSecrets: v.secrets}, notes: notes}
}

func (f *outcomePrinter) object(item *run.Item) error {
	notes := append(f.notes.problemsOf(item), f.notes.of(item)...)
	f.report.Add(item, append(notes, diff.Conflicts(reportOf(item.Result.Planned, f.secrets))...))
	return nil
}

func (f *outcomePrinter) conflicts() bool { return true }

func (f *outcomePrinter) run(e outcome.Ended) error {
	return f.report.Write(f.Out, e, f.secretValues())
}

func (f *outcomePrinter) close(context.Context) error { return nil }

// target returns the destination, or the source, of the run.
func (e *env) target(s *session) outcome.Target {
	return e.aim(s.api, outcome.Namespaces(s.Items))
}

// aim returns a server, nil for none, and namespaces on it as summaries name them.
func (e *env) aim(api *cluster.Cluster, namespaces []string) outcome.Target {
	t := outcome.Target{Namespaces: namespaces}
	if api == nil {
		return t
	}
	t.Server = api.Host()
	if config, err := e.flags.ToRawKubeConfigLoader().RawConfig(); err == nil {
		t.Context = config.CurrentContext
		if e.flags.Context != nil && *e.flags.Context != "" {
			t.Context = *e.flags.Context
		}
	}
	return t
}

// summary prints one line about the run as a whole, unless the line of its only object reports the
// same.
func (t *reporter) summary(s outcome.Summary) {
	if t.quiet || len(s.Counts) == 0 || s.Objects == 1 && s.Total() == 1 {
		return
	}
	if !t.json {
		fmt.Fprintln(t.w, s)
		return
	}
	_ = escape.WriteJSON(t.w, s, "") // only stdout matters
}
