package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/annotate"
	"github.com/kubectl-merge/kubectl-merge/internal/editor"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/yamldoc"
)

// editing is one configuration on its way through the editor, as often as it takes.
type editing struct {
	*editVerb
	object kept
	was    lastapplied.Original // a Secret's values blanked
	same   string               // the annotation that no change comes to
	base   string               // the annotation that the edit began with
	draft  *editor.Draft
	json   bool
	body   []byte // what the user saved last, without the header
}

// begin starts where last-applied is now. The values of a Secret are taken out
// before the text goes into a file: they will not be kept anyway.
func (v *editVerb) begin(ctx context.Context, o kept) (*editing, error) {
	read := lastapplied.Read(o.live)
	if err := annotate.Usable(read, o.live); err != nil {
		return nil, err
	}
	a, err := v.planner.Annotate(ctx, o.subject(), o.live, func(context.Context, lastapplied.Original) (apply.Conf, error) {
		return apply.Conf{Value: read.Value, Blanking: read.Blanking}, nil
	})
	if err != nil {
		return nil, err
	}
	s := &editing{editVerb: v, object: o, was: read, json: v.out.output == "json"}
	kept := lastapplied.Read(a.Final)
	if s.same = kept.Text; kept.Blanking == lastapplied.BlankSecret {
		s.was = kept
	}
	s.base = read.Text
	if s.body, err = s.print(s.was.Text); err != nil {
		return nil, err
	}
	ext := ".yaml"
	if s.json {
		ext = ".json"
	}
	s.draft, err = editor.NewDraft(fileName(strings.ReplaceAll(o.String(), "/", "-"), map[string]bool{}) + ext)
	return s, err
}

// print is a configuration as it is edited.
func (s *editing) print(text string) ([]byte, error) {
	if s.json {
		var b bytes.Buffer
		err := json.Indent(&b, []byte(strings.TrimSpace(text)), "", "  ")
		b.WriteByte('\n')
		return b.Bytes(), err
	}
	conf, err := merge.ReadJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	return yamldoc.Encode(conf)
}

// blindTries is how often a text may be wrong where nobody looks at it: an editor
// that is a script may be wrong in a new way every time.
const blindTries = 10

// editInVain is kubectl's word for it.
const editInVain = "Edit cancelled, no valid changes were saved"

// loop edits until there is something to save, or nothing to do; what is then to be
// reported comes back. The error is why the text could not be saved.
func (s *editing) loop(g *editor.Guard) (said string, err error) {
	var reason error
	for try := 1; ; try++ {
		before := s.body
		if err := s.open(g, reason); err != nil {
			return "", err
		}
		if blankText(s.body) {
			return "Edit cancelled, saved file was empty.", s.draft.Discard()
		}
		if reason != nil && (bytes.Equal(before, s.body) || try > blindTries && !term.IsTerminal(s.In)) {
			return "", fmt.Errorf("%s: %w", editInVain, reason)
		}
		var next annotate.Annotated
		if next, reason = s.understand(g); reason != nil {
			if g.Err() != nil {
				return "", stopped(g, reason)
			}
			fmt.Fprintf(s.ErrOut, "%s: %s\n", oneLine(s.object.String()), oneLine(reason.Error()))
			continue
		}
		if lastapplied.Read(next.Final).Text == s.same {
			return "Edit cancelled, no changes made.", s.draft.Discard()
		}
		if err := s.meaning(g, next); err != nil {
			return "", err
		}
		yes, err := s.ask(g)
		if err != nil || !yes {
			return "Edit cancelled, not saved: your text is in " + s.draft.Path(), err
		}
		return "", s.save(g, next)
	}
}

// open has the user edit the text.
func (s *editing) open(g *editor.Guard, reason error) error {
	header := editHeader(s, reason)
	text := append([]byte(header), s.body...)
	if s.windows {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	var (
		got []byte
		err error
	)
	g.Away(func() {
		got, err = s.draft.Edit(g, editor.FromEnv(os.Getenv), editor.Streams{In: s.In, Out: s.Out, Err: term.Direct(s.ErrOut)}, text)
	})
	if err != nil {
		return err
	}
	s.body = behind(header, bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")))
	return nil
}

// behind is a text without the header that was put before it. Where the user has
// changed the header, the comments at the top count as such.
func behind(header string, text []byte) []byte {
	if rest, ok := bytes.CutPrefix(text, []byte(header)); ok {
		return rest
	}
	for len(text) > 0 && text[0] == '#' {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text
}

// blankText: nothing but comments and white space is left.
func blankText(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// understand reads the text and plans what is to be written. The error is for the
// user to fix.
func (s *editing) understand(ctx context.Context) (annotate.Annotated, error) {
	objects, err := source.Parse("the text", s.body)
	if err != nil {
		return annotate.Annotated{}, err
	}
	if len(objects) != 1 {
		return annotate.Annotated{}, fmt.Errorf("the text: holds %d objects: it must be one, the configuration of %s", len(objects), s.object)
	}
	conf, err := apply.Given(objects[0].Value, s.object.live)
	if err != nil {
		return annotate.Annotated{}, err
	}
	if err := s.served(ctx, objects[0]); err != nil {
		return annotate.Annotated{}, err
	}
	if conf.Blanking == lastapplied.BlankNothing {
		conf.Blanking = s.was.Blanking // the marker was taken out; the values are no truer for it
	}
	warning, err := s.planner.Check(ctx, s.object.subject(), conf.Value, s.was.Value)
	if err != nil {
		return annotate.Annotated{}, err
	}
	if warning != "" {
		fmt.Fprintf(s.ErrOut, "note: %s: %s\n", oneLine(s.object.String()), oneLine(warning))
	}
	return s.planner.Annotate(ctx, s.object.subject(), s.object.live, s.rewrite(conf))
}

// served: the apiVersion is the one that stood there, live's, or another that the
// server has for this kind.
func (s *editing) served(ctx context.Context, o object.Object) error {
	was, _ := s.was.Value.(map[string]any)
	if v := o.APIVersion(); v == (object.Object{Value: was}).APIVersion() || v == (object.Object{Value: s.object.live}).APIVersion() {
		return nil
	}
	_, err := s.api.Find(ctx, o.Group(), o.Version(), o.Kind())
	if err == nil && o.Group() != s.object.Group {
		err = fmt.Errorf("%s is another kind of object", o)
	}
	if err != nil {
		return fmt.Errorf("apiVersion: %w", err)
	}
	return nil
}

// errOvertaken: an edit is of a text, and that text is there no more.
var errOvertaken = errors.New("last-applied: was changed by somebody else while you edited it: nothing was saved: look at it (kubectl merge view-last-applied), and edit again")

// rewrite puts the user's configuration in the place of the one that was edited,
// and of no other.
func (s *editing) rewrite(conf apply.Conf) annotate.Rewrite {
	return func(_ context.Context, was lastapplied.Original) (apply.Conf, error) {
		if was.Text != s.base {
			return apply.Conf{}, errOvertaken
		}
		return conf, nil
	}
}

// meaning shows what each change comes to in the next merge.
//
// Unlike kubectl: which saves silently what will remove fields a week later.
func (s *editing) meaning(ctx context.Context, next annotate.Annotated) error {
	next.Was = s.was
	all, err := s.planner.Meanings(ctx, next, s.object.local)
	if err != nil {
		return err
	}
	tellMeanings(s.env, s.object, all)
	return nil
}

// tellMeanings writes a line for each field.
func tellMeanings(e *env, o kept, all []annotate.Meaning) {
	for _, m := range all {
		fmt.Fprintf(e.ErrOut, "note: %s: %s: %s\n", oneLine(o.String()), m.Path, m.Text)
	}
}

// ask asks on a terminal whether to save; without one there is nobody to say no.
func (s *editing) ask(g *editor.Guard) (bool, error) {
	t := term.Open(s.In, s.ErrOut, false)
	if t == nil {
		return true, nil
	}
	defer t.Close()
	answer, err := t.Prompt(g, fmt.Sprintf("Save this as what was applied last to %s? [y/n] ", oneLine(s.object.String())))
	if g.Err() != nil {
		return false, context.Cause(g)
	}
	answer = strings.ToLower(answer)
	return err == nil && (answer == "y" || answer == "yes"), nil
}

// save writes the annotation, and throws the draft away once that is done.
func (s *editing) save(g *editor.Guard, next annotate.Annotated) error {
	conf := next.Now
	out := write.Foreseen(next.Planned)
	if next.Action != apply.Nothing {
		var err error
		if out, err = s.store(g, s.object, next, s.rewrite(conf), false); err != nil {
			return stopped(g, err)
		}
		out.Outcome = write.Edited
	}
	if err := s.out.written(s.object, next, out); err != nil {
		return err
	}
	return s.draft.Discard()
}

// stopped is the signal that ended the edit, if one did, else err.
func stopped(g *editor.Guard, err error) error {
	if g.Err() != nil {
		return context.Cause(g)
	}
	return err
}

// saved reports where the text is, for every failure: an edit is never lost.
func (s *editing) saved(err error) error {
	what := strings.TrimPrefix(err.Error(), s.object.String()+": ")
	path := s.draft.Path()
	if !s.draft.Written() {
		return errors.Join(fmt.Errorf("%s: %s: nothing was edited", s.object, what), s.draft.Discard())
	}
	reported := fmt.Errorf("%s: %s: your text is in %s: to save it after all, fix it if necessary, and kubectl merge set-last-applied -f %s",
		s.object, what, path, path)
	var end *editor.Stopped
	if errors.As(err, &end) {
		return &exit{Code: end.Code(), Err: reported}
	}
	return reported
}

// editHeader stands above the text, as comments. JSON has none, and gets it only
// where something is wrong.
func editHeader(s *editing, reason error) string {
	if s.json && reason == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, editText, s.object)
	switch s.was.Blanking {
	case lastapplied.BlankSecret:
		b.WriteString("#\n# The values of a Secret are never kept here: they are empty, and stay so.\n")
	case lastapplied.BlankLeaves:
		b.WriteString("#\n# The configuration was too large to be kept whole: its values are empty, and stay so.\n")
	}
	if reason != nil {
		b.WriteString("#\n# This could not be saved:\n")
		for _, line := range lines(reason, s.secretValues()) {
			fmt.Fprintf(&b, "# * %s\n", strings.TrimPrefix(line, s.object.String()+": "))
		}
		b.WriteString("# Mend it and save, or save it as it is to give up.\n")
	}
	b.WriteString("#\n")
	return b.String()
}

const editText = `# Please edit the last-applied configuration of %s below.
# These lines are ignored, and an empty file ends the edit.
#
# Nothing of the live object changes when you save. It says what was applied last:
# what you take out is no longer yours, and live keeps it; what you put in is yours,
# and the next merge of a file without it removes it from live.
`
