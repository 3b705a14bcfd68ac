package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/editor"
	"github.com/kubectl-merge/kubectl-merge/internal/target"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// editVerb has the user edit the last applied configuration.
type editVerb struct{ targetVerb }

var _ = registerVerb(verb{
	use: "edit-last-applied (TYPE/NAME | -f FILE)", short: "Edit what was applied last, and see what the edit means",
	long: `Edit the last-applied-configuration annotation of objects in your editor (KUBE_EDITOR,
EDITOR, else vi or notepad). Live values do not change: what you remove no longer counts
as yours, and what you add will be removed by the next merge of a file without it.
The meaning of each change is shown before anything is saved; on a terminal you are asked.

What cannot be saved is kept in a file whose name is printed.`,
	example: `  kubectl merge edit-last-applied deployment/web

  # Explained against the file that will be merged next
  kubectl merge edit-last-applied -f web.yaml`,
	inputs: "edit the configuration of", args: objectArgs,
	run: func(c *call, ctx context.Context) error { return (&editVerb{targetVerb{call: c}}).run(ctx) },
})

func (v *editVerb) run(ctx context.Context) error {
	// As in kubectl, -o yaml and json also set the format of the edited text.
	if err := v.prepare(ctx); err != nil {
		return err
	}
	objects, err := v.find(ctx, v.args)
	if err != nil {
		return err
	}
	if err := errors.Join(v.Read(ctx, objects)...); err != nil {
		return err
	}
	for _, o := range objects {
		if err := v.edit(ctx, o); err != nil {
			return errors.Join(err, v.close(ctx)) // configurations saved before are printed whole
		}
	}
	return v.close(ctx)
}

// edit passes one object through the editor. The text is kept after any failure.
func (v *editVerb) edit(ctx context.Context, o target.Target) error {
	s, err := v.begin(ctx, o)
	if err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	guard := editor.NewGuard(ctx, term.IsTerminal(v.In))
	defer guard.Release()
	said, err := s.loop(guard)
	if err != nil {
		return s.saved(err)
	}
	if said != "" {
		return v.remark(diff.Note{Object: o.String(), Kind: noteOutcome, Message: said}, said)
	}
	return nil
}
