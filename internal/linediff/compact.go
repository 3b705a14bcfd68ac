package linediff

// Compact lists changes between two texts as git does, which slides each run of lines that only one
// text has: as far down as it goes, so that neighbours become one, and then up again to the last run
// of the other text that it has passed. As many lines change; nil where nothing differs.
//
// Rules: git's xdl_change_compact (xdiff/xdiffi.c), without its heuristic of indentation.
func Compact(old, now []string, all []Change) []Change {
	a, b := &side{changed: make([]bool, len(old)+1)}, &side{changed: make([]bool, len(now)+1)}
	a.lines, b.lines = numbered(old, now)
	for _, c := range all {
		a.mark(c.Old, c.OldEnd)
		b.mark(c.New, c.NewEnd)
	}
	a.compact(b)
	b.compact(a)
	return changesOf(a, b)
}

// side is one text, and which of its lines the other one does not have.
type side struct {
	lines   []int
	changed []bool // one more than lines, never true
}

func (s *side) mark(from, to int) {
	for i := from; i < to; i++ {
		s.changed[i] = true
	}
}

// run is a run of changed lines; empty where two unchanged lines of both texts follow each other.
type run struct{ from, to int }

func (s *side) first() (r run) {
	r.to = s.endOf(0)
	return r
}

func (s *side) endOf(at int) int {
	for s.changed[at] {
		at++
	}
	return at
}

func (s *side) startOf(at int) int {
	for at > 0 && s.changed[at-1] {
		at--
	}
	return at
}

// next is the run behind the unchanged line that ends one.
func (s *side) next(r run) run { return run{r.to + 1, s.endOf(r.to + 1)} }

func (s *side) previous(r run) run { return run{s.startOf(r.from - 1), r.from - 1} }

// down slides a run by a line, and takes in the run that it then touches.
func (s *side) down(r run) (run, bool) {
	if r.to == len(s.lines) || s.lines[r.from] != s.lines[r.to] {
		return r, false
	}
	s.changed[r.from], s.changed[r.to] = false, true
	return run{r.from + 1, s.endOf(r.to + 1)}, true
}

func (s *side) up(r run) (run, bool) {
	if r.from == 0 || s.lines[r.from-1] != s.lines[r.to-1] {
		return r, false
	}
	s.changed[r.from-1], s.changed[r.to-1] = true, false
	return run{s.startOf(r.from - 1), r.to - 1}, true
}

// compact slides every run of a text beside the other one.
func (s *side) compact(other *side) {
	r, o := s.first(), other.first()
	for {
		if r.from < r.to {
			r, o = s.slide(r, other, o)
		}
		if r.to == len(s.lines) {
			return
		}
		r, o = s.next(r), other.next(o)
	}
}

// slide slides one run, beside which o stands in the other text.
func (s *side) slide(r run, other *side, o run) (run, run) {
	beside := -1 // where the run ends beside the last run of the other text
	for grown, size, ok := true, 0, true; grown; grown = r.to-r.from != size {
		size, beside = r.to-r.from, -1
		for r, ok = s.up(r); ok; r, ok = s.up(r) {
			o = other.previous(o)
		}
		if o.from < o.to {
			beside = r.to
		}
		for r, ok = s.down(r); ok; r, ok = s.down(r) {
			if o = other.next(o); o.from < o.to {
				beside = r.to
			}
		}
	}
	for ok := true; beside >= 0 && ok && o.from == o.to; {
		if r, ok = s.up(r); ok {
			o = other.previous(o)
		}
	}
	return r, o
}

// changesOf are the changes that two texts with marked lines differ in.
func changesOf(a, b *side) (out []Change) {
	for i, j := 0, 0; i < len(a.changed) && j < len(b.changed); i, j = i+1, j+1 {
		c := Change{Old: i, New: j, OldEnd: a.endOf(i), NewEnd: b.endOf(j)}
		if i, j = c.OldEnd, c.NewEnd; c.Old < i || c.New < j {
			out = append(out, c)
		}
	}
	return out
}
