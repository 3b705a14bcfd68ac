package files

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/linemerge"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/yamldoc"
)

// weave merges the texts of a resource that all sides have, comments and layout included.
//
// The text comes first: where the lines merge cleanly, and what they merge to has the
// meaning that the merge of the values has, that is the result, with the bytes of both
// sides. Otherwise each side is edited to that meaning, and these three texts are merged by
// lines: they differ in comments and layout alone, and in the lines of values in conflict.
type weave struct {
	*merger
	o, u, d *resource // o is nil where original does not have it
	t       *merge.Type
	plan    merge.Plan
}

// woven is what a weave comes to.
type woven struct {
	text
	left     []merge.Disagreement // conflicts that have markers
	comments int                  // places with markers that are about comments
}

// texts are three forms of one document.
type texts struct{ base, ours, theirs string }

// text merges the texts.
func (w weave) text() (woven, error) {
	raw := texts{ours: endLine(string(w.d.doc.Text()))}
	raw.theirs = asIn(w.d, w.u.doc.Text())
	if w.o != nil {
		raw.base = asIn(w.d, w.o.doc.Text())
		if merged, _, clean := linemerge.Sides(raw.base, raw.ours, raw.theirs); clean && w.reads(merged, raw) {
			return woven{text: plainText(w.end(merged))}, nil
		}
	}
	out, err := w.normalized()
	if err != nil || w.Policy.Both != merge.LeaveConflict || len(lostComments(raw, string(out.marked))) == 0 {
		return out, err
	}
	out.comments++
	for _, c := range w.plan.Conflicts {
		if !mayMergeByLines(c) {
			out.marked = w.sections([]byte(raw.ours), []byte(raw.theirs))
			return out, nil
		}
	}
	out.marked = w.marked(raw)
	return out, nil
}

// two merges two texts: dest's is edited.
func (w weave) two() (woven, error) {
	plain, err := w.d.doc.Edit(yamldoc.Edit{Want: w.plan.Result, Type: w.t, Sources: []*yamldoc.Document{w.u.doc}, Comments: true})
	if err != nil {
		return woven{}, fmt.Errorf("%s: %s: %w", w.d.where(), w.d.id, err)
	}
	if len(w.plan.Conflicts) == 0 {
		return woven{text: text{marked: plain, plain: plain}}, nil
	}
	f, err := yamldoc.Parse(plain)
	if err != nil {
		return woven{}, err
	}
	return w.withMarks(f, w.plan.Conflicts, &spliced{}), nil
}

// plainText is a text without conflicts.
func plainText(s string) text { return text{marked: []byte(s), plain: []byte(s)} }

// endLine is a text whose last line has an end.
func endLine(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// asIn is a text with the line ends of a resource's file.
func asIn(d *resource, body []byte) string {
	s := strings.ReplaceAll(endLine(string(body)), "\r\n", "\n")
	if eol := d.file.YAML.EOL(); eol != "\n" {
		s = strings.ReplaceAll(s, "\n", eol)
	}
	return s
}

// end is the text without the last line's end where neither dest's nor updated's has one.
func (w weave) end(s string) string {
	if bytes.HasSuffix(w.d.doc.Text(), []byte("\n")) || bytes.HasSuffix(w.u.doc.Text(), []byte("\n")) {
		return s
	}
	return strings.TrimRight(s, "\r\n")
}

// reads: a text has the meaning that the merge of the values has. A value that is merged
// by lines is what the lines come to.
func (w weave) reads(merged string, raw texts) bool {
	var got any
	switch merged {
	case raw.ours:
		got = w.d.value()
	case raw.theirs:
		got = w.u.value()
	default:
		f, err := yamldoc.Parse([]byte(merged))
		if err != nil || len(f.Documents()) != 1 {
			return false
		}
		got = f.Documents()[0].Value()
	}
	return w.means(got, w.plan.Conflicts)
}

// with is a value with another one at a path.
func with(v any, at merge.Path, now any) any {
	out, err := merge.Replay(v, []merge.Change{{Op: merge.OpSet, Path: at, New: merge.Some(now)}})
	if err != nil {
		return nil
	}
	return out
}

// normalized edits each side to the result, and merges the texts.
func (w weave) normalized() (woven, error) {
	base, ours, theirs := w.plan.Result, w.plan.Result, w.plan.Result
	var soft, hard []merge.Disagreement
	for _, c := range w.plan.Conflicts {
		if !mayMergeByLines(c) {
			hard = append(hard, c)
			continue
		}
		soft = append(soft, c)
		base, theirs = with(base, c.Path, c.Original.Value), with(theirs, c.Path, c.Local.Value)
	}
	d, err := w.edited(w.d, ours, w.u)
	if err != nil {
		return woven{}, err
	}
	own := plainText(w.end(d))
	all := texts{ours: d}
	if all.theirs, err = w.edited(w.u, theirs, w.d); err == nil && w.o != nil {
		all.base, err = w.edited(w.o, base, w.u, w.d)
	}
	for _, choose := range []bool{true, false} {
		if err != nil {
			break // the other sides cannot be written so: dest's text is left
		}
		s := w.spliced(all, soft, choose)
		if f, parses := w.holds(s.text.String(), soft); parses {
			return w.withMarks(f, hard, s), nil
		}
	}
	f, err := yamldoc.Parse([]byte(d))
	if err != nil {
		return woven{}, err
	}
	out := w.withMarks(f, w.plan.Conflicts, &spliced{})
	if len(w.plan.Conflicts) == 0 {
		out.text = own
	}
	return out, nil
}

// edited is the text of a resource with another value.
func (w weave) edited(r *resource, want any, from ...*resource) (string, error) {
	e := yamldoc.Edit{Want: want, Type: w.t}
	for _, f := range from {
		e.Sources = append(e.Sources, f.doc)
	}
	text, err := r.doc.Edit(e)
	if err != nil {
		return "", fmt.Errorf("%s: %s: %w", r.where(), r.id, err)
	}
	return asIn(w.d, text), nil
}

// spliced is a merged text in which dest's lines stand in each place that is in conflict.
type spliced struct {
	text  strings.Builder
	lines []yamldoc.Lines
	left  []merge.Disagreement // the values among them
}

// spliced merges three texts of one meaning, but for the values that are merged by lines.
// Where layout alone differs, the side is taken whose comments have changed, or with
// choose off dest's.
func (w weave) spliced(all texts, soft []merge.Disagreement, choose bool) *spliced {
	s, values := &spliced{}, spans(nil)
	if f, err := yamldoc.Parse([]byte(all.ours)); len(soft) > 0 && err == nil {
		values = newSpans(f.Documents()[0], soft, w.t)
	}
	at := 0
	for _, h := range linemerge.Hunks(all.base, all.ours, all.theirs) {
		from := at
		at += len(h.Ours)
		if !h.Conflict {
			s.text.WriteString(h.Merged)
			continue
		}
		inside := values.touched(from, at)
		if side, ok := w.side(h, choose); ok && len(inside) == 0 && w.o != nil {
			s.text.WriteString(side)
			continue
		}
		for _, c := range h.Chunks() {
			side, ok := w.side(linemerge.Hunk{Base: c.Base, Ours: c.Ours, Theirs: c.Theirs}, choose)
			switch {
			case !c.Conflict:
				s.text.WriteString(c.Ours)
				continue
			case ok && len(inside) == 0:
				s.text.WriteString(side)
				continue
			}
			start := s.text.Len()
			s.text.WriteString(c.Ours)
			s.lines = append(s.lines, yamldoc.Lines{From: start, To: s.text.Len(), Theirs: c.Theirs})
		}
		s.left = append(s.left, inside...)
	}
	return s
}

// side is the side of a place that both have changed, where one has changed the layout
// alone; ok is false where it is left to the user.
func (w weave) side(h linemerge.Hunk, choose bool) (text string, ok bool) {
	base, ours, theirs := comments(h.Base), comments(h.Ours), comments(h.Theirs)
	switch {
	case !choose, same(ours, theirs), same(base, theirs):
		return h.Ours, true
	case same(base, ours):
		return h.Theirs, true
	}
	return h.Ours, w.Policy.Both != merge.LeaveConflict
}

// holds: a text has the merged meaning, whatever it has for the values that are merged by
// lines.
func (w weave) holds(text string, soft []merge.Disagreement) (*yamldoc.File, bool) {
	f, err := yamldoc.Parse([]byte(text))
	if err != nil || len(f.Documents()) != 1 {
		return nil, false
	}
	return f, w.means(f.Documents()[0].Value(), soft)
}

// means: a value is the merged one, whatever it has at the paths of conflicts.
func (w weave) means(got any, open []merge.Disagreement) bool {
	want := w.plan.Result
	for _, c := range open {
		v, ok := merge.Lookup(got, c.Path, w.t)
		if !ok || !mayMergeByLines(c) {
			return false
		}
		want = with(want, c.Path, v)
	}
	return w.alike(want, got, w.t)
}
