package cli

import (
	"context"

	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// markdownForm is a comment for a pull request, on all objects at once.
type markdownForm struct {
	view
	comment *diff.Comment
}

func newMarkdownForm(v view) *markdownForm {
	return &markdownForm{view: v, comment: diff.NewComment(diff.MarkdownOptions{Diff: diff.Options{ShowManagedFields: v.managedFields}})}
}

func (f *markdownForm) object(item *run.Item) error {
	told := tell(item.Result.Planned, false)
	told.Preview = f.mode != dryNone
	return f.comment.Add(diff.Section{
		Told: told,
		Doc:  f.doc(item),
		Word: string(item.Result.Outcome),
	})
}

func (f *markdownForm) conflicts() bool { return true }

func (f *markdownForm) close(context.Context) error { return f.comment.Write(f.Out) }
