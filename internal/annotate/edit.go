package annotate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Edit is one configuration that a user edits as text, possibly several times.
type Edit struct {
	*run.Item
	Body []byte // the text, without a header

	run  *Run
	json bool
	was  lastapplied.Original // a Secret's values blanked
	same string               // the annotation without a change
	base string               // the annotation at the beginning of the edit
}

// Edit starts with the current last-applied, as JSON or YAML. The values of a Secret are removed
// before the text is put into a file: they are not recorded anyway. It is an error if there is no
// annotation, or none that can be edited (annotate.Usable), or the schema cannot be read.
func (r *Run) Edit(ctx context.Context, item *run.Item, asJSON bool) (*Edit, error) {
	live := item.Planned.Live
	read := lastapplied.Read(live)
	if err := Usable(read, live); err != nil {
		return nil, err
	}
	s := &Edit{Item: item, run: r, json: asJSON, was: read, base: read.Text}
	c, err := r.Planner.Annotate(ctx, subject(item, live), live, read)
	if err != nil {
		return nil, err
	}
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
func (s *Edit) Plan(ctx context.Context, warn func(string)) error {
	objects, err := source.Parse("the text", s.Body)
	if err != nil { // its lines are those of the text that is shown again, below the error
		above := strings.Count(s.Header(strings.Split(err.Error(), "\n")), "\n")
		_, err = source.Parse("the text", append(bytes.Repeat([]byte("\n"), above), s.Body...))
		return err
	}
	if len(objects) != 1 {
		return fmt.Errorf("the text: holds %d objects: it must be one, the configuration of %s", len(objects), s.Target)
	}
	live := s.Planned.Live
	conf, err := apply.Given(objects[0].Value, live)
	if err != nil {
		return err
	}
	if err := s.served(ctx, objects[0]); err != nil {
		return err
	}
	conf.Blanking = cmp.Or(conf.Blanking, s.was.Blanking) // without the marker, the values are still blanked
	edited := subject(s.Item, live)
	edited.Origin = object.Origin{}
	warning, err := s.run.Planner.Check(ctx, edited, conf, s.was.Value)
	if err != nil {
		return err
	}
	if warning != "" {
		warn(warning)
	}
	if s.Planned, err = s.run.Planner.Annotate(ctx, subject(s.Item, live), live, conf); err != nil {
		return err
	}
	again := lastapplied.Read(s.Planned.Final) // as recorded, with the values of Secrets blanked
	s.run.Rewrite = func(_ context.Context, _ *run.Item, live map[string]any) (*lastapplied.Original, error) {
		if lastapplied.Read(live).Text != s.base {
			return nil, errOvertaken
		}
		return &again, nil
	}
	return nil
}

// served checks that the apiVersion is the former one, live's, or another that the server has for
// this kind.
func (s *Edit) served(ctx context.Context, o object.Object) error {
	if v := o.APIVersion(); v == (object.Object{Value: merge.At[map[string]any](s.was.Value)}).APIVersion() || v == (object.Object{Value: s.Planned.Live}).APIVersion() {
		return nil
	}
	_, err := s.run.api.Find(ctx, o.Group(), o.Version(), o.Kind())
	if err == nil && o.Group() != s.Target.Group {
		err = fmt.Errorf("%s is another kind of object", o)
	}
	if err != nil {
		return fmt.Errorf("apiVersion: %w", err)
	}
	return nil
}

// errOvertaken reports that the edited text is no longer the current one.
var errOvertaken = errors.New("last-applied: was changed by others while you edited it: nothing was saved: look at it (kubectl merge view-last-applied), and edit again")

// Same reports whether the planned change results in the former text.
func (s *Edit) Same() bool { return lastapplied.Read(s.Planned.Final).Text == s.same }

// Meanings returns the consequences of the change for the next merge, field by field. They are in
// path order, none if nothing changes. The error is that of the schema, or of the merge.
//
// Unlike kubectl: which saves silently what will remove fields a week later.
func (s *Edit) Meanings(ctx context.Context) ([]Meaning, error) {
	return s.run.Planner.Meanings(ctx, s.Planned, s.was.Value, Local(s.Item))
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
			fmt.Fprintf(&b, "# * %s\n", strings.TrimPrefix(line, s.Target.String()+": "))
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
