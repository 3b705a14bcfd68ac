package main

import "fmt"

// target is what a figure is to come to.
type target struct {
	what  string
	is    float64
	limit float64
	least bool // is has to be at least limit, else at most
}

func (t target) met() bool {
	if t.least {
		return t.is >= t.limit
	}
	return t.is <= t.limit
}

// String is one line: met or not, and how far.
func (t target) String() string {
	word, bound := "NOT MET", "at most"
	if t.met() {
		word = "met"
	}
	if t.least {
		bound = "at least"
	}
	return fmt.Sprintf("%-7s  %-62s %8.2f  (%s %g)", word, t.what, t.is, bound, t.limit)
}

// targets are those that the run has figures for.
func (r report) targets() []target {
	var out []target
	add := func(t target, cells ...cell) {
		for _, c := range cells {
			if c.rounds == 0 {
				return
			}
		}
		out = append(out, t)
	}
	for _, n := range r.sizes() {
		for _, op := range all {
			m, k, p := r.cell(n, op, "m"), r.cell(n, op, "k"), r.cell(n, op, "p")
			at := fmt.Sprintf("%d objects, %s: ", n, op)
			times := func(limit float64) target {
				return target{at + "times faster than kubectl", k.wall / m.wall, limit, true}
			}
			switch {
			case n == 1:
				add(target{at + "time, kubectl's is 1", m.wall / k.wall, 0.5, false}, m, k)
			case n < 1000 || op == makeSet || op == plainSet:
			case op == unchanged:
				add(times(100), m, k)
				add(target{at + "CPU per object in ms", 1000 * m.cpu / float64(n), 1, false}, m)
			case op == diff:
				add(times(60), m, k)
			case op == planned:
				d := r.cell(n, diff, "m")
				add(target{at + "time, a diff's is 1", m.wall / d.wall, 1.3, false}, m, d)
				add(target{at + "peak memory, a diff's is 1", m.peakKB / d.peakKB, 1.1, false}, m, d)
			case op == inSet:
				add(times(60), m, k)
				if without := r.cell(n, plainSet, "m"); m.requests >= 0 && without.requests >= 0 {
					add(target{at + "requests more than without the set", float64(m.requests - without.requests), 11, false}, m, without)
				}
			case op == change:
				add(times(12), m, k)
				add(target{at + "the same with --preflight=false", k.wall / p.wall, 20, true}, k, p)
			}
			if m.peakKB > 0 {
				add(target{at + "peak memory, kubectl's is 1", m.peakKB / k.peakKB, 1, false}, m, k)
			}
		}
	}
	if s := r.Startup; len(s) == 2 && s[1].Wall > 0 {
		out = append(out, target{"version: time, that of an empty program is 1", s[0].Wall / s[1].Wall, 1.5, false})
	}
	return out
}
