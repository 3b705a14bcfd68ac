package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/ask"
	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/record"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

// interactiveFlag has the user confirm a run that is shown before it is carried out.
type interactiveFlag struct {
	on  bool
	yes *bool // --yes: confirmed in advance

	terminal *term.Terminal // nil: no question is asked
}

func (f *interactiveFlag) add(flags *pflag.FlagSet, yes *bool) {
	flags.BoolVarP(&f.on, "interactive", "i", false, "show the diff, the cluster and the counts, then ask: yes, no, or change by change; --yes answers yes")
	f.yes = yes
}

// open finds the terminal to ask on. The error reports why the user cannot be asked.
func (f *interactiveFlag) open(e *env, mode dryRun, piped bool) error {
	switch {
	case !f.on:
		return nil
	case mode != dryNone:
		return errors.New("-i: nothing is written, so that there is nothing to confirm: leave it out, or what makes it a preview")
	case *f.yes:
		return nil
	case piped:
		return errors.New("-i: standard input is read as a file (-), so that nobody can answer there: name a file, or confirm with --yes")
	}
	if f.terminal = e.terminal(false); f.terminal == nil {
		return errors.New("-i: there is no terminal to ask on: standard input and standard error must be one: confirm with --yes, or see what would be written with kubectl merge diff")
	}
	return nil
}

// review holds the inputs of a confirmation.
type review struct {
	out   outputFlags
	notes noteFlags
	undo  bool // deletions are not prunes from a set
}

// confirm shows a merged run, and asks. The error ends the run.
func (f *interactiveFlag) confirm(ctx context.Context, e *env, s *session, r review) error {
	if !f.on || s.Failed() != nil || s.Held() != nil || !ask.Writes(s.Plan) {
		return nil // nothing will be written
	}
	shown := *e
	if shown.Out = e.ErrOut; f.terminal != nil {
		shown.Out = f.terminal.Out
	}
	if err := f.show(ctx, &shown, s, r); err != nil || f.terminal == nil {
		return err
	}
	a := ask.Reviewer{Terminal: f.terminal, Out: f.terminal.Out, Spelling: plandoc.Spelling{Salt: salt(), ShowSecrets: r.out.secrets}}
	return e.quit(a.Confirm(ctx, s.Plan))
}

// show prints the diff with its notes, then the target of the run, and its size.
func (f *interactiveFlag) show(ctx context.Context, e *env, s *session, r review) error {
	out := outputFlags{output: "diff", managedFields: r.out.managedFields, secrets: r.out.secrets}
	notes := r.notes.reporter(e, out, dryClient)
	d := view{env: e, outputFlags: out, mode: dryClient}.differ()
	var errs []error
	s.Show(ctx, func(item *run.Item) {
		switch item.Action() {
		case run.Create, run.Change, run.Recreate, run.Delete:
			_, err := d.show(d.doc(item))
			errs = append(errs, err)
			notes.item(item)
			if r.undo && item.Action() == run.Delete {
				item.Own()
				item.Result.Outcome = write.Outcome(outcome.Deleted)
			} else {
				notes.impact(item, "")
			}
		}
	})
	_, err := d.close(ctx)
	printTarget(e.Out, s, outcome.Summarize(outcome.Ended{Plan: s.Plan, DryRun: true, Target: e.target(s)}))
	return errors.Join(append(errs, err)...)
}

func printTarget(w io.Writer, s *session, sum outcome.Summary) {
	at := sum.Target.String()
	if sum.Target.Server != "" && sum.Target.Context != "" {
		at += ", server " + escape.Line(sum.Target.Server)
	}
	fmt.Fprintln(w)
	if p := prunerOf(s.Plan); p != nil {
		if why := p.Surprising(s.Plan); why != "" {
			fmt.Fprintln(w, "warning: "+why)
		}
	}
	fmt.Fprintf(w, "%s\n%s, if written: %s\n", at, sum.Size(), sum.Count())
}

// shown returns the run as it was confirmed, for the run to be bound to.
func shown(p *run.Plan) (*plandoc.Bound, error) {
	doc := &plandoc.Document{Header: plandoc.Header{Spelling: plandoc.Spelling{Salt: salt(), ShowSecrets: true}}}
	for _, item := range p.Items {
		switch item.Action() {
		case run.Create, run.Change, run.Recreate:
			doc.Items = append(doc.Items, doc.Item(record.Subject(item, item.Planned)))
		}
	}
	for _, item := range p.Others {
		if item.Action() == run.Delete {
			doc.Items = append(doc.Items, doc.Item(record.Subject(item, item.Planned)))
		}
	}
	return plandoc.Bind(doc)
}
