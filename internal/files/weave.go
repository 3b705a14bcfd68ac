package files

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-merge/kubectl-merge/internal/linediff"
	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
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
	was     any // o's value, by the names of the plan
}

type woven struct {
	text
	left     []merge.Disagreement // conflicts that have markers
	comments []merge.Path         // of places with markers that are about comments
}

// texts are three forms of one document.
type texts struct{ base, ours, theirs string }

func (w *weave) mergeText() (woven, error) {
	raw := texts{ours: linediff.Ended(string(w.d.doc.Text()))}
	raw.theirs = asIn(w.d, w.u.doc.Text())
	if w.o != nil {
		raw.base = asIn(w.d, w.o.doc.Text())
		if merged, _, clean := linemerge.Sides(raw.base, raw.ours, raw.theirs); clean {
			if merged = w.end(merged); w.reads(merged, raw) || w.otherwise(merged, raw) {
				w.plan.Reordered = nil // the lines have both orders
				return woven{text: plainText(merged)}, nil
			}
		}
	}
	out, err := w.normalized()
	if err != nil || w.Policy.Both != merge.LeaveConflict {
		base, theirs := comments(raw.base), comments(raw.theirs)
		if gone := lost(base, theirs, comments(raw.ours), comments(string(out.plain))); err == nil && w.o != nil && slices.ContainsFunc(gone, func(c string) bool { return theirs[c] > base[c] }) {
			w.note(diff.NoteKept, w.d, "comments that updated has changed are not in the result: dest has changed what they stand at", merge.LiveSide)
		}
		return out, err
	}
	if markers := string(out.marked) != string(out.plain); len(out.left) > 0 && !markers || w.loses(raw, string(out.marked), markers && !w.ofScalars()) {
		out.left, out.comments = w.plan.Conflicts, nil
		if slices.ContainsFunc(out.left, func(c merge.Disagreement) bool { return c.Kind == merge.Drift }) {
			raw.base = "" // lines that dest alone has changed are in conflict, too
		}
		out.marked = w.marked(raw, func(marked string) bool { return w.loses(raw, marked, true) })
		if len(out.left) == 0 {
			ours, _ := bothViews(string(out.marked))
			out.comments = pathsAt(ours.text, ours.at, w.t)
		}
	}
	return out, nil
}

// loses: a comment that one side alone has changed, or in a text with markers a value, is
// neither in the text nor on that side of a conflict.
func (w weave) loses(raw texts, marked string, markers bool) bool {
	return len(lostComments(raw, marked)) > 0 || markers && losesValues([]any{w.o.docValue()}, []any{w.d.docValue()}, []any{w.u.docValue()}, marked)
}

// ofScalars: nothing but fields that are scalars on all sides, none of several lines, are in conflict. Both sides of a
// woven text have been read then, and mean the plan.
func (w weave) ofScalars() bool {
	return len(w.plan.Conflicts) > 0 && !slices.ContainsFunc(w.plan.Conflicts, func(c merge.Disagreement) bool {
		return !bothChanged(c) || mayMergeByLines(c) || isCollection(c.Original.Value) || isCollection(c.Live.Value) || isCollection(c.Local.Value) ||
			len(c.Path) == 0 || c.Path[len(c.Path)-1].Kind != merge.FieldStep
	})
}

// two merges two texts: dest's is edited.
func (w weave) two() (woven, error) {
	if len(w.plan.Conflicts) == 0 && merge.Identical(w.plan.Result, w.d.docValue()) {
		return woven{text: plainText(string(w.d.doc.Text()))}, nil
	}
	f, err := w.editedTo(w.d, w.plan.Result, w.u)
	if err != nil {
		return woven{}, err
	}
	if len(w.plan.Conflicts) == 0 {
		return woven{text: plainText(string(f.Text()))}, nil
	}
	d := *w.d
	d.doc = f.Documents()[0]
	wanted := w.unsettled(theirSide)
	theirs, err := w.edited(&d, wanted, w.u)
	if err != nil {
		return woven{}, err
	}
	return w.woven(texts{ours: asIn(w.d, f.Text()), theirs: theirs}, wanted), nil
}

// plainText is a text without conflicts.
func plainText(s string) text { return text{marked: []byte(s), plain: []byte(s)} }

// asIn is a text with the line ends of a resource's file.
func asIn(d *resource, body []byte) string {
	s := strings.ReplaceAll(linediff.Ended(string(body)), "\r\n", "\n")
	if eol := d.file.YAML.EOL(); eol != "\n" {
		s = strings.ReplaceAll(s, "\n", eol)
	}
	return s
}

// end is the text without the last line's end where neither dest's nor updated's has one; it would be
// another value where the text ends with a literal.
func (w weave) end(s string) string {
	if bytes.HasSuffix(w.d.doc.Text(), []byte("\n")) || bytes.HasSuffix(w.u.doc.Text(), []byte("\n")) {
		return s
	}
	return strings.TrimRight(s, "\r\n")
}

// reads: a text has the meaning that the merge of the values has. A value that is merged
// by lines is the merge of the lines.
func (w weave) reads(merged string, raw texts) bool {
	var got any
	switch merged {
	case raw.ours:
		got = w.d.docValue()
	case raw.theirs:
		got = w.u.docValue()
	default:
		d := one(merged)
		if d == nil {
			return false
		}
		got = d.Value()
	}
	return !slices.ContainsFunc(w.plan.Conflicts, func(c merge.Disagreement) bool { return !w.linewise(c) || w.mixes(c, got) }) &&
		w.has(got, w.plan.Result, w.linewise)
}

// mixes: a list of the merged value is none of the sides', see mixed. Lines of texts are the text.
func (w weave) mixes(c merge.Disagreement, merged any) bool {
	is, there := merge.Lookup(merged, c.Path, w.t)
	return isCollection(c.Live.Value) && mixed([4]merge.Opt{c.Original, c.Live, c.Local, {Value: is, Set: there}})
}

// linewise: a value in conflict may be what the lines come to, since each side has it on several.
func (w weave) linewise(c merge.Disagreement) bool {
	several := func(r *resource) bool {
		from, to, ok := r.doc.Span(c.Path, w.t)
		return ok && strings.Count(strings.TrimSpace(string(r.doc.Text()[from:to])), "\n") > 0
	}
	_, isText := c.Live.Value.(string)
	return mayMergeByLines(c) || isText && bothChanged(c) && several(w.o) && several(w.u) && several(w.d)
}

// otherwise: a text has the meaning of a merge in which what one side alone has renamed is followed,
// entries of lists or those of mappings too, or in which a list that the server replaces is one value.
// That is then the plan.
func (w *weave) otherwise(merged string, raw texts) bool {
	if len(w.plan.Conflicts)+len(w.plan.Settled) == 0 {
		return false
	}
	triple := merge.Triple{Local: w.u.docValue(), Original: w.o.docValue(), Live: w.d.docValue()}
	is := func(triple merge.Triple, t *merge.Type, alone bool) bool {
		other := *w
		other.t = t
		other.merge(triple, alone)
		other.plan = textsByLine(other.plan)
		if !other.reads(merged, raw) {
			return false
		}
		*w = other
		return true
	}
	return is(triple, w.t, true) || is(triple, w.typeOf(false, w.u, w.d, w.o, triple), false) || is(followKeys(triple), w.t, true)
}

// with is a value with another one at a path, or with none there.
func with(v any, at merge.Path, now merge.Opt) any {
	c := merge.Change{Op: merge.OpRemove, Path: at}
	if now.Set {
		c.Op, c.Old, c.New = merge.OpSet, now, now
	}
	if out, err := merge.Replay(v, []merge.Change{c}); err == nil {
		return out
	}
	return v
}

func theirSide(c merge.Disagreement) merge.Opt { return c.Local }

// unsettled is the result with what a side has for the values in conflict.
func (w weave) unsettled(side func(merge.Disagreement) merge.Opt) any {
	v := w.plan.Result
	if !w.ofScalars() {
		for _, c := range w.plan.Conflicts {
			v = with(v, c.Path, side(c))
		}
		return v
	}
	v = runtime.DeepCopyJSONValue(v) // each change would copy the list around it
	in := merge.NewFinder(v, w.t)
	for _, c := range w.plan.Conflicts {
		last := len(c.Path) - 1
		holder, _ := in.Lookup(c.Path[:last])
		if fields, ok := holder.(map[string]any); ok {
			fields[c.Path[last].Name] = side(c).Value
		}
	}
	return v
}

// normalized edits each side to the result, and merges the texts.
func (w weave) normalized() (woven, error) {
	d, err := w.edited(w.d, w.plan.Result, w.u)
	if err != nil {
		return woven{}, err
	}
	all, wanted := texts{ours: d}, w.unsettled(theirSide)
	if all.theirs, err = w.edited(w.u, wanted, w.d); err == nil && w.o != nil {
		all.base, err = w.edited(w.o, w.unsettled(func(c merge.Disagreement) merge.Opt { return c.Original }), w.u, w.d)
	}
	if err != nil { // the other sides cannot be written so
		all = texts{ours: d, theirs: asIn(w.d, w.u.doc.Text())}
	}
	return w.woven(all, wanted), nil
}

// edited is the text of a resource with another value.
func (w weave) edited(r *resource, want any, from ...*resource) (string, error) {
	f, err := w.editedTo(r, want, from...)
	if err != nil {
		return "", err
	}
	return asIn(w.d, f.Text()), nil
}

// editedTo is that text with the line ends of its own file.
func (w weave) editedTo(r *resource, want any, from ...*resource) (*yamldoc.File, error) {
	sources := object.Each(from, func(r *resource) *yamldoc.Document { return r.doc })
	f, err := r.doc.Edited(yamldoc.Edit{Want: want, Type: w.t, Comments: w.Original == nil, Sources: sources})
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", r.where(), r.id, err)
	}
	return f, nil
}

// woven merges three texts of one meaning, but for the values in conflict; wanted is what theirs means. The result has to
// read as the merged value with dest's and with updated's side of each; otherwise all that
// the two differ in is left to the user, or the whole.
func (w weave) woven(all texts, wanted any) woven {
	two := texts{ours: all.ours, theirs: all.theirs}
	for i, sides := range []texts{all, all, two} {
		s := w.spliced(sides, i != 1)
		text := w.end(s.ours.String())
		if w.means(text, w.plan.Result, s.settled) && (len(s.left) == 0 || w.means(w.end(s.theirs.String()), wanted, s.settled)) {
			out := woven{text: plainText(text), left: s.left, comments: pathsAt(s.ours.String(), s.comments, w.t)}
			if len(s.left)+len(s.comments) > 0 {
				out.marked = []byte(s.marked.String())
			}
			return out
		}
	}
	out := woven{text: plainText(w.end(all.ours)), left: w.plan.Conflicts}
	if len(w.plan.Conflicts) > 0 {
		out.marked = w.sections([]byte(all.ours), []byte(all.theirs))
	}
	return out
}

// means: a text has a meaning, whatever it has for the values that are merged by lines. Settled are not mixed
// lists, and no texts: their own lines are in conflict.
func (w weave) means(text string, want any, settled []merge.Disagreement) bool {
	d := one(text)
	return d != nil && w.has(d.Value(), want, mayMergeByLines) &&
		!slices.ContainsFunc(settled, func(c merge.Disagreement) bool { return !isCollection(c.Local.Value) || w.mixes(c, d.Value()) })
}

func (w weave) has(got, want any, byLines func(merge.Disagreement) bool) bool {
	for _, c := range w.plan.Conflicts {
		if !byLines(c) {
			continue
		}
		v, ok := merge.Lookup(got, c.Path, w.t)
		if !ok {
			return false
		}
		want = with(want, c.Path, merge.Some(v))
	}
	return w.alike(want, got, w.t)
}

// side is the side of a place that both have changed, where one has changed the layout
// alone, or what both have added; ok is false where it is left to the user. Where base is not known, the comments that
// known has are neither side's.
func (w weave) side(h linemerge.Hunk, choose bool, known map[string]int) (text string, ok bool) {
	base, ours, theirs := comments(h.Base), comments(h.Ours), comments(h.Theirs)
	for c := range known {
		delete(ours, c)
		delete(theirs, c)
	}
	switch {
	case !choose, maps.Equal(ours, theirs), maps.Equal(base, theirs):
		return h.Ours, true
	case maps.Equal(base, ours):
		return h.Theirs, true
	case w.Policy.Both == merge.LeaveConflict:
		return h.Ours, false
	}
	if apart, clean := h.Apart(); clean && h.Base != "" && len(comments(apart)) >= len(ours) { // a comment too many is better than one too few
		return apart, true
	}
	return h.Ours, true
}
