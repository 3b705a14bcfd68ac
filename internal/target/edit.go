package target

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/annotate"
	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Edit is one configuration that a user edits as text, possibly several times.
type Edit struct {
	Target
	Body []byte // the text, without a header

	access *Access
	json   bool
	was    lastapplied.Original // a Secret's values blanked
	same   string               // the annotation without a change
	base   string               // the annotation at the beginning of the edit
}

// Edit starts with the current last-applied, as JSON or YAML. The values of a Secret are removed
// before the text is put into a file: they are not recorded anyway. It is an error if there is no
// annotation, or none that can be edited (annotate.Usable), or the schema cannot be read.
func (a *Access) Edit(ctx context.Context, t Target, asJSON bool) (*Edit, error) {
	read := lastapplied.Read(t.Live)
	if err := annotate.Usable(read, t.Live); err != nil {
		return nil, err
	}
	c, err := a.Plan(ctx, t, func(context.Context, lastapplied.Original) (lastapplied.Original, error) { return read, nil })
	if err != nil {
		return nil, err
	}
	s := &Edit{Target: t, access: a, json: asJSON, was: read, base: read.Text}
	recorded := lastapplied.Read(c.Final)
	if s.same = recorded.Text; recorded.Blanking == lastapplied.BlankSecret {
		s.was = recorded
	}
	s.Body, err = s.print(s.was.Text)
	return s, err
}

// print returns a configuration in the edited form.
func (s *Edit) print(text string) ([]byte, error) {
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

// Behind returns a text without the header that was put before it. If the user has changed the
// header, the comments at the top are removed.
func Behind(header string, text []byte) []byte {
	if rest, ok := bytes.CutPrefix(text, []byte(header)); ok {
		return rest
	}
	for len(text) > 0 && text[0] == '#' {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text
}

// Blank reports whether the text has only comments and white space.
func (s *Edit) Blank() bool {
	for line := range bytes.Lines(s.Body) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// Plan reads the text and plans the write. warn is called with a lenient planner's report of fields
// that the kind does not have; the error is for the user to fix.
func (s *Edit) Plan(ctx context.Context, warn func(string)) (annotate.Annotated, error) {
	objects, err := source.Parse("the text", s.Body)
	if err != nil { // its lines are those of the text that is shown again, below the error
		above := strings.Count(s.Header(strings.Split(err.Error(), "\n")), "\n")
		_, err = source.Parse("the text", append(bytes.Repeat([]byte("\n"), above), s.Body...))
		return annotate.Annotated{}, err
	}
	if len(objects) != 1 {
		return annotate.Annotated{}, fmt.Errorf("the text: holds %d objects: it must be one, the configuration of %s", len(objects), s.Target)
	}
	conf, err := apply.Given(objects[0].Value, s.Live)
	if err != nil {
		return annotate.Annotated{}, err
	}
	if err := s.served(ctx, objects[0]); err != nil {
		return annotate.Annotated{}, err
	}
	conf.Blanking = cmp.Or(conf.Blanking, s.was.Blanking) // without the marker, the values are still blanked
	edited := s.subject()
	edited.Origin = object.Origin{}
	warning, err := s.access.Planner.Check(ctx, edited, conf, s.was.Value)
	if err != nil {
		return annotate.Annotated{}, err
	}
	if warning != "" {
		warn(warning)
	}
	c, err := s.access.Plan(ctx, s.Target, s.rewrite(conf))
	c.Rewrite = s.rewrite(c.Now) // as recorded, with the values of Secrets blanked
	return c, err
}

// served checks that the apiVersion is the former one, live's, or another that the server has for
// this kind.
func (s *Edit) served(ctx context.Context, o object.Object) error {
	if v := o.APIVersion(); v == (object.Object{Value: merge.At[map[string]any](s.was.Value)}).APIVersion() || v == (object.Object{Value: s.Live}).APIVersion() {
		return nil
	}
	_, err := s.access.API.Find(ctx, o.Group(), o.Version(), o.Kind())
	if err == nil && o.Group() != s.Group {
		err = fmt.Errorf("%s is another kind of object", o)
	}
	if err != nil {
		return fmt.Errorf("apiVersion: %w", err)
	}
	return nil
}

// errOvertaken reports that the edited text is no longer the current one.
var errOvertaken = errors.New("last-applied: was changed by others while you edited it: nothing was saved: look at it (kubectl merge view-last-applied), and edit again")

// rewrite replaces the edited configuration by the user's, and no other one.
func (s *Edit) rewrite(conf lastapplied.Original) annotate.Rewrite {
	return func(_ context.Context, was lastapplied.Original) (lastapplied.Original, error) {
		if was.Text != s.base {
			return was, errOvertaken
		}
		return conf, nil
	}
}

// Same reports whether a change results in the former text.
func (s *Edit) Same(c annotate.Annotated) bool { return lastapplied.Read(c.Final).Text == s.same }

// Meanings returns the consequences of the change for the next merge, field by field. They are in
// path order, none if nothing changes. The error is that of the schema, or of the merge.
//
// Unlike kubectl: which saves silently what will remove fields a week later.
func (s *Edit) Meanings(ctx context.Context, c annotate.Annotated) ([]annotate.Meaning, error) {
	c.Was = s.was
	return s.access.Planner.Meanings(ctx, c, s.Local)
}

// Header returns the comments above the text, with the lines that report why the text could not be
// saved. JSON has no comments, and gets a header only if there are such lines.
func (s *Edit) Header(wrong []string) string {
	if s.json && len(wrong) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, editText, s.Target)
	switch s.was.Blanking {
	case lastapplied.BlankSecret:
		b.WriteString("#\n# The values of a Secret are never kept here: they are empty, and stay so.\n")
	case lastapplied.BlankLeaves:
		b.WriteString("#\n# The configuration was too large to be kept whole: its values are empty, and stay so.\n")
	}
	if len(wrong) > 0 {
		b.WriteString("#\n# This could not be saved:\n")
		for _, line := range wrong {
			fmt.Fprintf(&b, "# * %s\n", strings.TrimPrefix(line, s.String()+": "))
		}
		b.WriteString("# Fix it and save, or save it as it is to give up.\n")
	}
	b.WriteString("#\n")
	return b.String()
}

const editText = `# Please edit the last-applied configuration of %s below.
# These lines are ignored, and an empty file ends the edit.
#
# Nothing of the live object changes when you save. It records what was applied last:
# what you take out is no longer yours, and live keeps it; what you put in is yours,
# and the next merge of a file without it removes it from live.
`
