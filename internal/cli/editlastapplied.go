package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/editor"
	"github.com/kubectl-merge/kubectl-merge/internal/target"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// editVerb has the user edit the last applied configuration.
type editVerb struct {
	targetVerb
	out     targetOutput
	windows bool // line ends
}

var _ = registerVerb(verb{
	open:  newEditLastApplied,
	args:  func(e *env) cobra.CompletionFunc { return complete.UnlessFiles(e.server().Objects(), nil) },
	flags: map[string]cobra.CompletionFunc{"output": targetOutputs},
})

func newEditLastApplied(e *env) *cobra.Command {
	v := &editVerb{targetVerb: targetVerb{env: e}}
	cmd := &cobra.Command{
		Use:   "edit-last-applied (TYPE/NAME | -f FILE)",
		Short: "Edit what was applied last, and see what the edit means",
		Long: `Edit the last-applied-configuration annotation of objects in your editor (KUBE_EDITOR,
EDITOR, else vi or notepad). Live values do not change: what you remove no longer counts
as yours, and what you add will be removed by the next merge of a file without it.
The meaning of each change is shown before anything is saved; on a terminal you are asked.

What cannot be saved is kept in a file whose name is printed.`,
		Example: `  kubectl merge edit-last-applied deployment/web

  # Explained against the file that will be merged next
  kubectl merge edit-last-applied -f web.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	v.add(flags, "edit the configuration of")
	v.out.add(flags)
	flags.BoolVar(&v.windows, "windows-line-endings", runtime.GOOS == "windows", "defaults to the line ending native to your platform")
	return cmd
}

func (v *editVerb) run(ctx context.Context, args []string) error {
	// As in kubectl, -o yaml and json also set the format of the edited text.
	if err := v.out.open(ctx, v.env, dryNone); err != nil {
		return err
	}
	if err := v.open(ctx); err != nil {
		return err
	}
	objects, err := v.find(ctx, args)
	if err != nil {
		return err
	}
	if err := errors.Join(v.Read(ctx, objects)...); err != nil {
		return err
	}
	for _, o := range objects {
		if err := v.edit(ctx, o); err != nil {
			return errors.Join(err, v.out.close(ctx)) // configurations saved before are printed whole
		}
	}
	return v.out.close(ctx)
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
