package files

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Hiding selects the values that the diff of a file does not show.
type Hiding struct {
	ShowSecrets bool         // hides nothing
	Rules       schema.Rules // what they call sensitive is hidden too
}

// Diff is the unified diff of a file that changes, conflict markers included; see
// Diff. The error is that of a text that is not YAML; it names the file.
func (c Changed) Diff(h Hiding) (text string, err error) {
	d := Texts{From: "/dev/null", To: "/dev/null", Now: string(c.Text)}
	if c.File != nil {
		d.From, d.Old = "a/"+c.Name, string(c.File.readText())
	}
	if c.Text != nil {
		d.To = "b/" + c.Name
	}
	switch {
	case c.lines && !h.ShowSecrets:
		return fmt.Sprintf("--- %s\n+++ %s\n(not YAML, so that what is secret in it is not known: --show-secrets shows its lines)\n", escape.Text(d.From), escape.Text(d.To)), nil
	case c.lines && (c.File.binary() || (&File{raw: c.Text}).binary()):
		return fmt.Sprintf("Binary files %s and %s differ\n", escape.Text(d.From), escape.Text(d.To)), nil
	case c.lines:
		return unified(d), nil
	case h.ShowSecrets || bytes.Equal(c.Text, c.Plain):
		text, err = Diff(d, h)
	default:
		text, err = h.markedDiff(d, string(c.Plain))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.Name, err)
	}
	return text, nil
}

// markedDiff is the diff to a text with conflict markers; ours is what it is with dest's side of each. Where something
// is hidden on a side, the markers are around what the sides differ in then.
func (h Hiding) markedDiff(d Texts, ours string) (string, error) {
	_, theirs := bothViews(d.Now)
	old, a, err := h.masked(d.Old, ours)
	_, b, bad := h.masked(d.Old, theirs.text)
	if old != d.Old || a != ours || b != theirs.text {
		d.Old = old
		d.Now, _ = marks.Marked(linemerge.Hunk{Ours: a, Theirs: b}.Chunks())
	}
	return unified(d), cmp.Or(err, bad)
}

// Texts are two forms of a YAML file, and what a diff calls them.
type Texts = diff.Pair

// unified is the unified diff of two texts, control characters escaped.
func unified(d Texts) string {
	return diff.Text(Texts{From: escape.Text(d.From), To: escape.Text(d.To), Old: visible(d.Old), Now: visible(d.Now)}, 3)
}

// Diff is the unified diff of two forms of a file. The values of Secrets, what else
// internal/redact names and the comments of documents that hold a Secret are masked, as
// h has it, and control characters are escaped. The error is a
// text that is no YAML.
func Diff(d Texts, h Hiding) (string, error) {
	if !h.ShowSecrets {
		var err error
		if d.Old, d.Now, err = h.masked(d.Old, d.Now); err != nil {
			return "", err
		}
	}
	return unified(d), nil
}

// noYAML is the error of a text that is no YAML.
type noYAML struct{ error }

// Unwrap returns the error of the parser.
func (e noYAML) Unwrap() error { return e.error }

// masked hides in two forms of a file what is not to be seen.
func (h Hiding) masked(old, now string) (string, string, error) {
	a, err := yamldoc.Parse([]byte(old))
	b, bad := yamldoc.Parse([]byte(now))
	if err = cmp.Or(err, bad); err != nil {
		return "", "", noYAML{err}
	}
	was, will := byIdentity(a), byIdentity(b)
	if old, err = mask(a, func(i id, v any) any { m, _ := h.mask(i, v, will[i]); return m }); err != nil {
		return "", "", err
	}
	now, err = mask(b, func(i id, v any) any { _, m := h.mask(i, was[i], v); return m })
	return old, now, err
}

func (h Hiding) mask(i id, was, will any) (any, any) {
	return redact.Mask(was, will, h.Rules.Sensitive(i.ruled(merge.Triple{Local: will, Live: was})))
}

func byIdentity(f *yamldoc.File) map[id]any {
	out := map[id]any{}
	for _, d := range f.Documents() {
		i, _ := identify(d.Value())
		out[i] = d.Value()
	}
	return out
}

func mask(f *yamldoc.File, hide func(id, any) any) (string, error) {
	texts := map[*yamldoc.Document][]byte{}
	secret := false
	for _, d := range f.Documents() {
		if d.Empty() {
			continue
		}
		secret = secret || holdsSecret(d.Value())
		i, _ := identify(d.Value())
		text, err := d.Edit(yamldoc.Edit{Want: hide(i, d.Value())})
		if err != nil {
			return "", err
		}
		texts[d] = text
	}
	out := f.Assemble(texts, nil)
	if !secret {
		return string(out), nil
	}
	edited, err := yamldoc.Parse(out)
	if err != nil {
		return "", err
	}
	return string(edited.HideComments(func(d *yamldoc.Document) bool { return holdsSecret(d.Value()) }, redact.Blanked)), nil
}

// holdsSecret: a Secret stands in the document, alone or in a list.
func holdsSecret(value any) bool {
	obj, _ := value.(map[string]any)
	return redact.IsSecret(obj) || slices.ContainsFunc(merge.At[[]any](obj, "items"), holdsSecret)
}

// visible escapes control characters. Line ends stay as they are.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || r == '\t' || r == '\r' || strconv.IsPrint(r) || strconv.IsGraphic(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}
