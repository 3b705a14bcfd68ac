package files

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// span is where a value in conflict stands in a text.
type span struct {
	from, to int
	is       int // of the plan's conflicts
}

func (w weave) spans(text string) (out []span) {
	if len(w.plan.Conflicts) == 0 {
		return nil
	}
	d := one(text)
	if d == nil {
		return nil
	}
	for i, c := range w.plan.Conflicts {
		if from, to, ok := d.Span(c.Path, w.t); ok {
			out = append(out, span{from, to, i})
		}
	}
	return out
}

// place is a part of a merge of texts, and the values in conflict that it is about.
type place struct {
	linemerge.Chunk
	about []int
}

// cursor finds the values that parts of texts are about, in order.
type cursor struct {
	ours, theirs     []span
	inOurs, inTheirs int
}

func (k *cursor) next(ours, theirs string) (about []int) {
	find := func(all []span, from, to int) {
		for _, c := range all {
			if c.from <= to && from < c.to {
				about = append(about, c.is)
			}
		}
	}
	find(k.ours, k.inOurs, k.inOurs+len(ours))
	find(k.theirs, k.inTheirs, k.inTheirs+len(theirs))
	k.inOurs, k.inTheirs = k.inOurs+len(ours), k.inTheirs+len(theirs)
	return about
}

// places are the parts of a merge of texts. Where layout alone differs, the side is taken
// whose comments have changed, or with choose off dest's.
func (w weave) places(all texts, choose bool) (out []place) {
	k, known := cursor{ours: w.spans(all.ours), theirs: w.spans(all.theirs)}, map[string]int(nil)
	if all.base == "" && w.o != nil {
		known = comments(string(w.o.doc.Text()))
	}
	for _, h := range linemerge.Hunks(all.base, all.ours, all.theirs) {
		here := k
		about := k.next(h.Ours, h.Theirs)
		if !h.Conflict {
			out = append(out, place{Chunk: linemerge.Chunk{Ours: h.Merged, Theirs: h.Merged}})
			continue
		}
		if side, ok := w.side(h, choose, known); ok && len(about) == 0 && all.base != "" {
			out = append(out, place{Chunk: linemerge.Chunk{Ours: side, Theirs: side}})
			continue
		}
		for _, c := range h.Chunks() {
			p := place{c, here.next(c.Ours, c.Theirs)}
			if side, ok := w.side(linemerge.Hunk{Base: c.Base, Ours: c.Ours, Theirs: c.Theirs}, choose, known); c.Conflict && ok && len(p.about) == 0 {
				p.Chunk = linemerge.Chunk{Ours: side, Theirs: side}
			}
			out = w.joined(out, p)
		}
	}
	return out
}

// joined adds a place. Those of one value that is not mixed from two sides are one.
func (w weave) joined(out []place, p place) []place {
	i := slices.IndexFunc(out, func(o place) bool {
		return o.Conflict && p.Conflict && slices.ContainsFunc(o.about, func(c int) bool {
			return !mayMergeByLines(w.plan.Conflicts[c]) && slices.Contains(p.about, c)
		})
	})
	if i < 0 {
		return append(out, p)
	}
	one := out[i]
	for _, o := range append(out[i+1:], p) {
		one.Ours, one.Theirs, one.about = one.Ours+o.Ours, one.Theirs+o.Theirs, append(one.about, o.about...)
	}
	return append(out[:i], one)
}

// spliced is a merged text: with markers, and with one side of each conflict.
type spliced struct {
	marked, ours, theirs strings.Builder
	left, settled        []merge.Disagreement // the values in conflict, and those that the lines have merged
	comments             []int                // the offsets in ours of conflicts about nothing but comments
}

func (w weave) spliced(all texts, choose bool) *spliced {
	s, left := &spliced{}, map[int]bool{}
	for _, p := range w.places(all, choose) {
		at := s.ours.Len()
		s.ours.WriteString(p.Ours)
		s.theirs.WriteString(p.Theirs)
		if !p.Conflict {
			s.marked.WriteString(p.Ours)
			continue
		}
		s.marked.WriteString(marks.Conflict(p.Ours, p.Theirs))
		if len(p.about) == 0 {
			s.comments = append(s.comments, at)
		}
		for _, c := range p.about {
			left[c] = true
		}
	}
	for i, c := range w.plan.Conflicts {
		if left[i] || !mayMergeByLines(c) {
			s.left = append(s.left, c)
		} else {
			s.settled = append(s.settled, c)
		}
	}
	return s
}
