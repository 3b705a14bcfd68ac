package play

import (
	"slices"
	"strings"
	"testing"
)

// Shrink is a scenario that breaks the law that s breaks, with fewer events and objects, and less
// concurrency: none of them can be left out. The steps stay. The report is that of its play.
func (p *Place) Shrink(t *testing.T, s Scenario, broken Report) (Scenario, Report) {
	law := lawOf(broken)
	for smaller := true; smaller; {
		smaller = false
		for _, c := range s.smaller() {
			if r := p.Play(t, c); lawOf(r) == law {
				s, broken, smaller = c, r, true
				break
			}
		}
	}
	return s, broken
}

// lawOf is the name of the law that is broken first; "" for none.
func lawOf(r Report) string {
	if len(r.Broken) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(r.Broken[0], ":")
	return name
}

// smaller are the scenarios with one thing less.
func (s Scenario) smaller() (all []Scenario) {
	for i := range s.Events {
		c := s
		c.Events = slices.Delete(slices.Clone(s.Events), i, i+1)
		all = append(all, c)
	}
	for i, step := range s.Steps {
		if step.Concurrency > 1 {
			c := s
			c.Steps = slices.Clone(s.Steps)
			c.Steps[i].Concurrency = 1
			all = append(all, c)
		}
	}
	for n, refs := range s.Files {
		for i := range refs {
			if len(refs) > 1 {
				c := s
				c.Files = slices.Clone(s.Files)
				c.Files[n] = slices.Delete(slices.Clone(refs), i, i+1)
				all = append(all, c)
			}
		}
	}
	return all
}
