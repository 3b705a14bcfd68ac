package cli

import (
	"context"

	"github.com/kubectl-merge/kubectl-merge/internal/batch"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// markdownForm is a comment for a pull request, on all objects at once.
type markdownForm struct {
	view
	sections []diff.Section
}

func (f *markdownForm) object(item *batch.Item) error {
	f.sections = append(f.sections, diff.Section{
		Told: tell(item.Outcome.Planned, false),
		Doc:  f.doc(item),
		Word: string(item.Outcome.Word),
	})
	return nil
}

func (f *markdownForm) conflicts() bool { return true }

func (f *markdownForm) close(context.Context) error {
	return diff.Markdown(f.Out, f.sections, diff.MarkdownOptions{Diff: diff.Options{ShowManagedFields: f.managedFields}})
}
