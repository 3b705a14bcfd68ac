// Package linediff finds the differences between two texts, line by line: the fewest lines
// to remove and add, as git and diff do. It refuses to know what the lines mean.
package linediff

import (
	"slices"
	"strings"
)

// Change replaces the lines from Old up to but not including OldEnd of one text, counted
// from 0, by the lines from New to NewEnd of another.
type Change struct{ Old, OldEnd, New, NewEnd int }

// Ended returns a text with its last line ended.
func Ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// Lines returns the lines of a text, with their ends; nil for an empty text.
func Lines(text string) []string { return slices.Collect(strings.Lines(text)) }

// Between lists the changes that lead from old to now, in order, with unchanged lines
// between any two. nil where nothing differs. As few lines as possible change, unless the
// texts differ in thousands.
//
// Rules: E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), in its
// linear space, which git uses too.
func Between(old, now []string) []Change {
	d := &differ{old: old, now: now}
	d.between(span{0, len(d.old), 0, len(d.now)})
	return d.changes
}

// differ collects the changes between two texts.
type differ struct {
	old, now          []string
	changes           []Change
	forward, backward []int // how far paths reach, by diagonal; see middle
}

// span is a part of both texts: lines from a to aEnd of the old one, and from b to bEnd
// of the new one.
type span struct{ a, aEnd, b, bEnd int }

// between finds the changes in a part of the texts.
func (d *differ) between(s span) {
	for s.a < s.aEnd && s.b < s.bEnd && d.old[s.a] == d.now[s.b] {
		s.a, s.b = s.a+1, s.b+1
	}
	for s.a < s.aEnd && s.b < s.bEnd && d.old[s.aEnd-1] == d.now[s.bEnd-1] {
		s.aEnd, s.bEnd = s.aEnd-1, s.bEnd-1
	}
	switch {
	case s.a == s.aEnd && s.b == s.bEnd:
	case s.a == s.aEnd || s.b == s.bEnd:
		d.changed(s)
	default:
		x, y := d.middle(s)
		d.between(span{s.a, x, s.b, y})
		d.between(span{x, s.aEnd, y, s.bEnd})
	}
}

// changed adds a change; it extends the last one where that ends at its start.
func (d *differ) changed(s span) {
	if n := len(d.changes); n > 0 && d.changes[n-1].OldEnd == s.a && d.changes[n-1].NewEnd == s.b {
		d.changes[n-1].OldEnd, d.changes[n-1].NewEnd = s.aEnd, s.bEnd
		return
	}
	d.changes = append(d.changes, Change{s.a, s.aEnd, s.b, s.bEnd})
}

// mostEdits bounds the search for a shortest path, whose time grows with its square.
const mostEdits = 2000

// middle returns a place in the middle of a shortest path through a part. Both halves can
// be compared separately; neither is the whole. A path goes through the lines of both
// texts: a step forward in one is a line removed or added, in both an unchanged line. The
// search goes from both ends at once, until the paths meet.
func (d *differ) middle(s span) (x, y int) {
	n, m := s.aEnd-s.a, s.bEnd-s.b
	size := 2*min((n+m+1)/2, mostEdits) + 4
	if len(d.forward) < size {
		d.forward, d.backward = make([]int, size), make([]int, size)
	}
	fore := paths{reach: d.forward[:size], n: n, m: m, same: func(x, y int) bool { return d.old[s.a+x] == d.now[s.b+y] }}
	back := paths{reach: d.backward[:size], n: n, m: m, same: func(x, y int) bool { return d.old[s.aEnd-1-x] == d.now[s.bEnd-1-y] }}
	for edits := 0; edits <= mostEdits; edits++ {
		if x, ok := fore.lengthen(edits, &back, edits-1); ok {
			return s.a + x[0], s.b + x[1]
		}
		if x, ok := back.lengthen(edits, &fore, edits); ok {
			return s.aEnd - x[0], s.bEnd - x[1]
		}
	}
	x, y = fore.farthest(mostEdits)
	return s.a + x, s.b + y
}

// paths holds the longest paths from one end, one on each diagonal x - y.
type paths struct {
	reach []int // x by diagonal
	n, m  int
	same  func(x, y int) bool
}

func (p *paths) at(diagonal int) *int {
	return &p.reach[len(p.reach)/2+diagonal]
}

// none marks a diagonal on which no path stays inside the part.
const none = -1

// bounds returns the diagonals on which paths with so many edits can be.
func (p *paths) bounds(edits int) (low, high int) {
	return -(edits - 2*max(0, edits-p.m)), edits - 2*max(0, edits-p.n)
}

// lengthen makes every path one edit longer. It returns where one meets a path from the
// other end, of which the paths with complete edits are known.
func (p *paths) lengthen(edits int, other *paths, complete int) (meets [2]int, ok bool) {
	delta := p.n - p.m
	low, high := p.bounds(edits)
	otherLow, otherHigh := other.bounds(complete)
	for k := low; k <= high; k += 2 {
		x := p.longer(k, edits)
		for x >= 0 && x < p.n && x-k < p.m && p.same(x, x-k) {
			x++
		}
		*p.at(k) = x
		back := delta - k
		if x == none || complete < 0 || back < otherLow || back > otherHigh || (back-otherLow)%2 != 0 {
			continue
		}
		if from := *other.at(back); from != none && x+from >= p.n {
			return [2]int{x, x - k}, true
		}
	}
	return meets, false
}

// longer returns how far a path on a diagonal reaches with one more edit.
func (p *paths) longer(k, edits int) int {
	if edits == 0 {
		return 0
	}
	x := none
	if right := *p.at(k + 1); k+1 <= edits-1 && right != none && right-k <= p.m {
		x = right
	}
	if left := *p.at(k - 1); k-1 >= 1-edits && left != none && left < p.n && left+1 > x {
		x = left + 1
	}
	return x
}

// farthest returns the end of the path that reaches farthest.
func (p *paths) farthest(edits int) (x, y int) {
	low, high := p.bounds(edits)
	for k := low; k <= high; k += 2 {
		if at := *p.at(k); at != none && at+at-k > x+y {
			x, y = at, at-k
		}
	}
	return x, y
}

// Compact slides each change that only adds or only removes lines as far down as equal lines go, and
// makes one of those that then touch, as git does. As many lines change; nil where none does.
//
// Rules: git's xdl_change_compact (xdiff/xdiffi.c).
func Compact(old, now []string, all []Change) (out []Change) {
	for i := len(all) - 1; i >= 0; i-- {
		c := all[i]
		for {
			adds, removes := c.Old == c.OldEnd, c.New == c.NewEnd
			switch n := len(out); {
			case n > 0 && c.OldEnd == out[n-1].Old:
				c.OldEnd, c.NewEnd, out = out[n-1].OldEnd, out[n-1].NewEnd, out[:n-1]
				continue
			case c.OldEnd < len(old) && (adds && now[c.New] == old[c.OldEnd] || removes && old[c.Old] == old[c.OldEnd]):
				c = Change{c.Old + 1, c.OldEnd + 1, c.New + 1, c.NewEnd + 1}
				continue
			}
			break
		}
		out = append(out, c)
	}
	slices.Reverse(out)
	return out
}
