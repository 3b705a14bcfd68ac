package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

var _ = registerPrinter(printerRow{
	name: "markdown", help: "a comment for a pull request", values: true, report: true, conflicts: true, merges: true, impact: true,
	open: func(v view) (printer, error) { return newMarkdownPrinter(v), nil },
	sum:  func(v view, s several) error { return s.comment(v) },
})

// markdownPrinter prints one comment for a pull request about all objects.
type markdownPrinter struct {
	view
	comment *diff.Comment
	became  func(*run.Item) write.Outcome
}

func newMarkdownPrinter(v view) *markdownPrinter {
	return &markdownPrinter{view: v, comment: diff.NewComment(diff.MarkdownOptions{Diff: diff.Options{ShowManagedFields: v.managedFields}})}
}

func (f *markdownPrinter) begin(_ context.Context, s *session) error {
	f.became = outcome.Ended{Plan: s.Plan, DryRun: f.mode != dryNone}.Became()
	return nil
}

// add adds an object to the comment, and to that on several contexts.
func (f *markdownPrinter) add(s diff.Section) error {
	if f.found != nil {
		f.found.sections = append(f.found.sections, s)
	}
	return f.comment.Add(s)
}

func (f *markdownPrinter) printObject(item *run.Item) error {
	report := reportOf(item.Result.Planned, false)
	report.Preview = f.mode != dryNone
	report.Guards = guardNotes(item)
	one := diff.Section{Report: report, Doc: f.doc(item), Outcome: string(f.became(item))}
	if one.Outcome != string(write.Unsettled) {
		one.Impact = item.Impact().String()
	}
	return f.add(one)
}

func (f *markdownPrinter) close(context.Context) error { return f.comment.Write(f.Out) }

// ended adds the objects with errors, which no printer receives one by one.
func (f *markdownPrinter) ended(e outcome.Ended) error {
	for _, item := range slices.Concat(e.Plan.Items, e.Plan.Others) {
		err := cmp.Or(item.Err, item.Late)
		if err == nil {
			continue
		}
		name := item.Target.String()
		text := strings.TrimPrefix(errorText(f.secretValues().Blank(err.Error())), name+": ")
		failed := failedSection(name, text)
		failed.Outcome, failed.Impact = string(f.became(item)), item.Impact().String()
		if err := f.add(failed); err != nil {
			return err
		}
	}
	return nil
}

// failedSection returns the part of a comment about an error.
func failedSection(name, text string) diff.Section {
	return diff.Section{Outcome: string(write.Failed), Report: diff.Report{Object: name, Guards: []diff.Note{{Object: name, Kind: noteError, Message: text}}}}
}
