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

	sides map[id][]any // see With
}

// With returns h for files of a merge of some sides, of which a nil one is left out: the values of their Secrets are
// hidden, too, in the metadata of Secrets of the same name.
func (h Hiding) With(sides ...*Set) Hiding {
	h.sides = map[id][]any{}
	for _, s := range slices.DeleteFunc(sides, func(s *Set) bool { return s == nil }) {
		byIdentity(h.sides, s.Values())
	}
	return h
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
	old, a, err := h.masked(d.Old, ours, theirs.text)
	_, b, bad := h.masked(d.Old, theirs.text, ours)
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
		if d.Old, d.Now, err = h.masked(d.Old, d.Now, ""); err != nil {
			return "", err
		}
	}
	return unified(d), nil
}

// noYAML is the error of a text that is no YAML.
type noYAML struct{ error }

// Unwrap returns the error of the parser.
func (e noYAML) Unwrap() error { return e.error }

// masked hides in two forms of a file what is not to be seen; side is a third one.
func (h Hiding) masked(old, now, side string) (string, string, error) {
	a, err := yamldoc.Parse([]byte(old))
	b, bad := yamldoc.Parse([]byte(now))
	c, worse := yamldoc.Parse([]byte(side))
	if err = cmp.Or(err, bad, worse); err != nil {
		return "", "", noYAML{err}
	}
	was, will, sides := opposite(b, a), opposite(a, b), map[id][]any{}
	byIdentity(sides, docValues(c))
	hide := func(was, will any) (any, any) {
		i, _ := identify(cmp.Or(will, was))
		return redact.Mask(was, will, h.Rules.Sensitive(i.ruled(merge.Triple{Local: will, Live: was})), slices.Concat(h.sides[i], sides[i])...)
	}
	if old, err = mask(a, func(n int, v any) any { m, _ := hide(v, will[n]); return m }); err != nil {
		return "", "", err
	}
	now, err = mask(b, func(n int, v any) any { _, m := hide(was[n], v); return m })
	return old, now, err
}

// opposite are, for the documents of a file, those of another one that stand opposite: the next of the same name, or else of
// the same kind, since it may have been renamed; nil for none.
func opposite(f, other *yamldoc.File) []any {
	out, taken := make([]any, len(f.Documents())), map[*yamldoc.Document]bool{}
	for _, named := range []bool{true, false} {
		called := func(d *yamldoc.Document) id {
			i, _ := identify(d.Value())
			if !named {
				i = id{group: i.group, kind: i.kind}
			}
			return i
		}
		free := map[id][]*yamldoc.Document{}
		for _, d := range other.Documents() {
			if !taken[d] {
				free[called(d)] = append(free[called(d)], d)
			}
		}
		for n, d := range f.Documents() {
			if i := called(d); out[n] == nil && len(free[i]) > 0 {
				out[n], taken[free[i][0]], free[i] = free[i][0].Value(), true, free[i][1:]
			}
		}
	}
	return out
}

func byIdentity(all map[id][]any, documents []any) {
	for _, v := range documents {
		i, _ := identify(v)
		all[i] = append(all[i], v)
	}
}

// mask is the text of a file with what hide makes of its documents, by their number and value.
func mask(f *yamldoc.File, hide func(int, any) any) (string, error) {
	secret := false
	out, err := f.Changed(func(n int, d *yamldoc.Document) ([]byte, error) {
		if d.Empty() {
			return nil, nil
		}
		secret = secret || holdsSecret(d.Value())
		return d.Edit(yamldoc.Edit{Want: hide(n, d.Value())})
	})
	if err != nil || !secret {
		return string(out), err
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
