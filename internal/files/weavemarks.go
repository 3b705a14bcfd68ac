package files

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/yamldoc"
)

// span is where a value in conflict stands in a text.
type span struct {
	from, to int
	is       merge.Disagreement
}

type spans []span

func newSpans(d *yamldoc.Document, conflicts []merge.Disagreement, t *merge.Type) (out spans) {
	for _, c := range conflicts {
		if from, to, ok := d.Span(c.Path, t); ok {
			out = append(out, span{from, to, c})
		}
	}
	return out
}

// touched are the values whose lines are among those of a range.
func (s spans) touched(from, to int) (out []merge.Disagreement) {
	for _, c := range s {
		if c.from <= to && from < c.to {
			out = append(out, c.is)
		}
	}
	return out
}

// withMarks puts markers around values in conflict, and around lines.
func (w weave) withMarks(f *yamldoc.File, hard []merge.Disagreement, s *spliced) woven {
	d := f.Documents()[0]
	out := woven{text: plainText(w.end(string(d.Text())))}
	values := newSpans(d, hard, w.t)
	s.lines = slices.DeleteFunc(s.lines, func(l yamldoc.Lines) bool { return len(values.touched(l.From, l.To)) > 0 })
	out.comments = len(s.lines) - len(s.left)
	all := make([]yamldoc.Conflict, len(hard))
	for i, c := range hard {
		all[i] = yamldoc.Conflict{Path: c.Path, Theirs: c.Local}
	}
	if len(all)+len(s.lines) == 0 {
		return out
	}
	marks := w.marks()
	marks.Type, marks.TheirSide = w.t, w.u.doc
	out.marked = d.Mark(all, s.lines, marks)
	for _, c := range w.plan.Conflicts {
		if has(paths(hard), c.Path.String()) || has(paths(s.left), c.Path.String()) {
			out.left = append(out.left, c)
		}
	}
	return out
}

func paths(all []merge.Disagreement) (out []any) {
	for _, c := range all {
		out = append(out, c.Path.String())
	}
	return out
}
