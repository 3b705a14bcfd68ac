package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/annotate"
	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/editor"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

var _ = registerVerb(verb{
	use: "edit-last-applied (TYPE/NAME | -f FILE)", short: "Edit what was applied last, and see what that means",
	long: `Edit the last-applied-configuration annotation of objects in your editor (KUBE_EDITOR,
EDITOR, else vi or notepad). Live values do not change: what you remove no longer counts
as yours, and what you add will be removed by the next merge of a file without it.
The meaning of each change is shown before anything is saved; on a terminal you are asked.

What cannot be saved is kept in a file whose name is printed.`,
	example: `  kubectl merge edit-last-applied deployment/web

  # Explained against the file that will be merged next
  kubectl merge edit-last-applied -f web.yaml`,
	inputs: "edit the configuration of", args: objectArgs,
	run: func(c *call, ctx context.Context) error { return newTargetVerb(c).editAll(ctx) },
})

// editAll has the user edit the last applied configuration of each object.
//
// Unlike kubectl: it starts vi where there is no terminal, too, which then never ends.
func (v *targetVerb) editAll(ctx context.Context) error {
	// As in kubectl, -o yaml and json also set the format of the edited text.
	if err := v.begin(ctx, v.args); err != nil {
		return err
	}
	v.Merge(ctx)
	if err := v.Errs(); err != nil {
		return err
	}
	if editor.NeedsTerminal(os.Getenv) && !term.IsTerminal(v.In) {
		return errors.New("there is no terminal to edit on: set KUBE_EDITOR to a command, or use set-last-applied -f FILE")
	}
	for _, item := range v.Items {
		if err := v.edit(ctx, item); err != nil {
			return errors.Join(err, v.out.close(ctx)) // configurations saved before are printed whole
		}
	}
	return v.out.close(ctx)
}

// edit passes one object through the editor. The text is kept after any failure.
func (v *targetVerb) edit(ctx context.Context, item *run.Item) error {
	s, err := v.draft(ctx, item)
	if err != nil {
		return fmt.Errorf("%s: %w", item.Target, err)
	}
	said, err := s.loop(ctx)
	if ctx.Err() != nil && err != nil {
		err = fmt.Errorf("was ended by a signal (%w)", context.Cause(ctx))
	}
	if err != nil {
		return s.saved(err)
	}
	if said != "" {
		return v.remark(diff.Note{Object: item.Target.String(), Kind: noteOutcome, Message: said}, said)
	}
	return nil
}

// editing is the state of one configuration's edit.
type editing struct {
	*targetVerb
	*annotate.Edit
	draft    *editor.Draft
	first    []byte // the text at the beginning
	unedited bool   // the editor failed, and the text is unchanged
}

// draft starts with the current last-applied. As in kubectl, -o json has the text edited as JSON.
func (v *targetVerb) draft(ctx context.Context, item *run.Item) (*editing, error) {
	asJSON, ext := v.output == "json", ".yaml"
	if asJSON {
		ext = ".json"
	}
	edit, err := v.Edit(ctx, item, asJSON)
	if err != nil {
		return nil, err
	}
	draft, err := editor.NewDraft(fileName(strings.ReplaceAll(item.Target.String(), "/", "-"), map[string]bool{}) + ext)
	return &editing{targetVerb: v, Edit: edit, draft: draft, first: edit.Body}, err
}

// blindTries is how often a text may be wrong without a terminal: an editor that is a script may be
// wrong in a new way every time.
const blindTries = 10

// editInVain is kubectl's message for it.
const editInVain = "Edit cancelled, no valid changes were saved"

// loop repeats the edit until there is something to save, or nothing to do; said is the text to
// report then. The error is why the text could not be saved.
func (s *editing) loop(ctx context.Context) (said string, err error) {
	var reason error
	for try := 1; ; try++ {
		before := s.Body
		if err := s.open(ctx, reason); err != nil {
			return "", err
		}
		if s.Blank() {
			return "Edit cancelled, saved file was empty.", s.draft.Discard()
		}
		if reason != nil && (bytes.Equal(before, s.Body) || try > blindTries && !term.IsTerminal(s.In)) {
			return "", fmt.Errorf("%s: %s", editInVain, strings.Join(lines(reason, s.secretValues()), "; "))
		}
		if reason = s.Edit.Plan(ctx, func(text string) { s.note(s.Target.String(), text) }); reason != nil {
			if ctx.Err() != nil {
				return "", reason
			}
			continue
		}
		if s.Same() {
			return "Edit cancelled, no changes made.", s.draft.Discard()
		}
		all, err := s.Meanings(ctx)
		if err != nil {
			return "", err
		}
		s.meanings(s.Item, all, true)
		yes, err := s.ask(ctx)
		if err != nil || !yes {
			return "Edit cancelled, not saved: your text is in " + s.draft.Path, err
		}
		return "", s.save(ctx)
	}
}

// open has the user edit the text.
func (s *editing) open(ctx context.Context, reason error) error {
	header := s.Header(lines(reason, s.secretValues()))
	text := append([]byte(header), s.Body...)
	if s.windows {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	got, err := []byte(nil), error(nil)
	edit := func() {
		streams := editor.Streams{In: s.In, Out: s.Out, Err: term.Direct(s.ErrOut), Run: s.signals.process.Run}
		got, err = s.draft.Edit(ctx, editor.FromEnv(os.Getenv), streams, text)
	}
	if term.IsTerminal(s.In) { // an interrupt is its keyboard's
		s.signals.lend(edit)
	} else {
		edit()
	}
	if err != nil {
		s.unedited = bytes.Equal(got, text) && bytes.Equal(s.Body, s.first)
		return err
	}
	s.Body = annotate.Behind(header, bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")))
	return nil
}

// ask asks on a terminal whether to save; without one, the answer is yes.
func (s *editing) ask(ctx context.Context) (bool, error) {
	t := term.Open(s.In, s.ErrOut, false)
	if t == nil {
		return true, nil
	}
	defer t.Close()
	answer, err := t.Prompt(ctx, fmt.Sprintf("Save this as what was applied last to %s? [y/n] ", escape.Line(s.Target.String())))
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	answer = strings.ToLower(answer)
	return err == nil && (answer == "y" || answer == "yes"), nil
}

// save writes the annotation, and then discards the draft.
func (s *editing) save(ctx context.Context) error {
	one := &run.Plan{Job: s.Job, Items: []*run.Item{s.Item}}
	one.Send(ctx, func(item *run.Item) {
		if item.Planned.Action != apply.Nothing {
			item.Result.Outcome = write.Edited
		}
		if item.Err == nil {
			item.Err = s.written(item)
		}
	})
	if s.Err != nil {
		return s.Err
	}
	return s.draft.Discard()
}

// saved adds the place of the text to every failure: an edit is never lost.
func (s *editing) saved(err error) error {
	what := strings.TrimPrefix(err.Error(), s.Target.String()+": ")
	path := s.draft.Path
	reported := fmt.Errorf("%s: %s: your text is in %s: to save it after all, fix it if necessary: kubectl merge set-last-applied -f %s",
		s.Target, what, path, path)
	if s.unedited || !s.draft.Written() {
		reported = errors.Join(fmt.Errorf("%s: %s: nothing was edited", s.Target, what), s.draft.Discard())
	}
	if editor.Interrupted(err) {
		return &exit{Code: interrupted, Err: reported}
	}
	return reported
}
