package main

import "fmt"

// target is the value that a figure has to reach.
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
	return fmt.Sprintf("%-7s  %-62s %8.2f  (%s %.3g)", word, t.what, t.is, bound, t.limit)
}

// targets are those that the run has figures for.
func (r report) targets() []target {
	var out []target
	for _, n := range r.sizes() {
		for _, w := range rows() {
			c := r.at(n, w)
			at := fmt.Sprintf("%d objects, %s: ", n, w.title(n))
			out = append(out, goals{at, c}.small(n)...)
			if n >= 1000 {
				out = append(out, goals{at, c}.large(w, n)...)
				out = append(out, goals{at, c}.bottom(w)...)
			}
			switch {
			case w.op == planned && n >= 1000:
				out = append(out, goals{at, cells{ours: c.ours, peer: r.cell(n, place{ours, diff})}}.plan()...)
			case w.op == inSet:
				out = append(out, goals{at, cells{ours: c.ours, floor: r.cell(n, place{ours, plainSet})}}.set()...)
			}
		}
	}
	return append(out, r.starting()...)
}

// starting are the goals of the start-up: 15 and 20 ms on a machine where the empty program
// takes 21, and 50 ms.
func (r report) starting() []target {
	wall := map[string]float64{}
	for _, s := range r.Startup {
		wall[s.Program] = s.Wall
	}
	empty := wall[startEmpty]
	if empty == 0 {
		return nil
	}
	return []target{
		{"version: time, that of an empty program is 1", wall[startVersion] / empty, 15.0 / 21, false},
		{"one unchanged object: time, that of an empty program is 1", wall[startOne] / empty, 20.0 / 21, false},
		{"the TAB key: ms", 1000 * wall[startTAB], 50, false},
	}
}

// goals are what the figures of one row are to come to.
type goals struct {
	at string
	cells
}

// ratio is a target of one figure of a program by that of another, if both were measured.
func (g goals) ratio(what string, a, b cell, of func(cell) float64, limit float64) []target {
	if a.rounds == 0 || b.rounds == 0 || of(b) == 0 {
		return nil
	}
	return []target{{g.at + what, of(a) / of(b), limit, false}}
}

// times is a target of how many times faster a is than kubectl.
func (g goals) times(what string, a cell, limit float64) []target {
	if a.rounds == 0 || g.peer.rounds == 0 {
		return nil
	}
	return []target{{g.at + what, g.peer.wall / a.wall, limit, true}}
}

func wall(c cell) float64   { return c.wall }
func cpu(c cell) float64    { return c.cpu }
func memory(c cell) float64 { return c.peakKB }

// small are the goals at any size.
func (g goals) small(n int) []target {
	out := g.ratio("peak memory, kubectl's is 1", g.ours, g.peer, memory, 1)
	if n == 1 {
		out = append(out, g.ratio("time, kubectl's is 1", g.ours, g.peer, wall, 0.5)...)
	}
	return out
}

// large are the goals against kubectl, from a thousand objects on.
func (g goals) large(w row, n int) []target {
	const faster = "times faster than kubectl"
	switch {
	case w.name != "":
		return g.ratio("time, kubectl's is 1", g.bare, g.peer, wall, 1)
	case w.op == unchanged && g.ours.rounds > 0:
		out := append(g.times(faster, g.ours, 100), target{g.at + "CPU per object in ms", 1000 * g.ours.cpu / float64(n), 1, false})
		if g.ours.requests >= 0 && n == 1000 {
			out = append(out, target{g.at + "reading requests", float64(g.ours.requests), 60, false})
		}
		return out
	case w.op == diff, w.op == inSet:
		return g.times(faster, g.ours, 60)
	case w.op == change:
		return append(g.times(faster, g.ours, 12), g.times(faster+", --preflight=false", g.bare, 20)...)
	}
	return nil
}

// bottom are the goals against the bare loop.
func (g goals) bottom(w row) []target {
	const (
		time  = "time, the bare loop's is 1"
		least = time + ", --preflight=false"
	)
	switch w.op {
	case unchanged:
		return append(g.ratio(time, g.ours, g.floor, wall, 1.5), g.ratio("CPU, the bare loop's is 1", g.ours, g.floor, cpu, 2)...)
	case diff:
		return g.ratio(time, g.ours, g.floor, wall, 2)
	case create, change:
		return append(g.ratio(time, g.ours, g.floor, wall, 2.3), g.ratio(least, g.bare, g.floor, wall, 1.3)...)
	}
	return nil
}

// plan are the goals of a plan document against a diff.
func (g goals) plan() []target {
	return append(g.ratio("time, a diff's is 1", g.ours, g.peer, wall, 1.3), g.ratio("peak memory, a diff's is 1", g.ours, g.peer, memory, 1.1)...)
}

// set is the goal of a run in a set against one without.
func (g goals) set() []target {
	if g.ours.requests < 0 || g.floor.requests < 0 {
		return nil
	}
	return []target{{g.at + "requests more than without the set", float64(g.ours.requests - g.floor.requests), 11, false}}
}
