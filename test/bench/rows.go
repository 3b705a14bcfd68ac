package main

import (
	"fmt"
	"slices"
	"strings"
)

// place is where a figure stands: a program at an operation.
type place struct {
	program string
	op      operation
}

// row is one line of a table: places of one operation, or of others that are what it is
// to be compared with.
type row struct {
	name  string // "" is the operation's
	op    operation
	ours  place
	bare  place // without preflight
	peer  place
	ssa   place // the peer, --server-side
	floor place
}

// rows are the lines of a size.
func rows() []row {
	var out []row
	for _, op := range all {
		r := row{op: op, ours: place{ours, op}, bare: place{oursBare, op}, peer: place{kubectl, op}, ssa: place{kubectlSSA, op}, floor: place{loop, floorOf(op)}}
		if op == drifting {
			r.peer.op = diff
		}
		out = append(out, r)
	}
	for _, op := range []operation{create, unchanged, change} {
		out = append(out, row{op: op, name: "--server-side: ", ours: place{oursServer, op}, bare: place{oursDirect, op}, peer: place{kubectlSSA, op}, floor: place{loop, op}})
	}
	return out
}

// floorOf is the operation by which the bare loop has the same result: where nothing is written, it lists.
func floorOf(op operation) operation {
	switch op {
	case diff, planned, drifting, dryClient:
		return unchanged
	case inSet:
		return plainSet
	}
	return op
}

// title names the operation of a line.
func (w row) title(n int) string {
	if w.op == change && n > 1 {
		return fmt.Sprintf("%s%d of %d changed", w.name, changesOf(n), n)
	}
	return w.name + string(w.op)
}

// cells are the figures of a row.
type cells struct{ ours, bare, peer, ssa, floor cell }

func (r report) at(n int, w row) cells {
	return cells{r.cell(n, w.ours), r.cell(n, w.bare), r.cell(n, w.peer), r.cell(n, w.ssa), r.cell(n, w.floor)}
}

// measured says whether there is anything to print; what only others were measured at is
// printed where it is the loop's own.
func (c cells) measured(w row) bool {
	return c.ours.rounds > 0 || w.op == gets && c.floor.rounds > 0
}

const (
	timeHeading = "| objects | operation | `kubectl merge` | `--preflight=false` | `kubectl apply` | `--server-side` | bare loop | times faster | × bare loop |\n" +
		"|---:|---|---:|---:|---:|---:|---:|---:|---:|\n"
	costHeading = "| objects | operation | CPU | peak memory | requests | API server CPU | etcd reads | etcd writes |\n" +
		"|---:|---|---:|---:|---:|---:|---:|---:|\n"
)

// tables are what there is to print: time, and cost.
func (r report) tables(sizes []int) string {
	return r.times(sizes) + "\nWhat it costs, `kubectl merge` / kubectl / bare loop:\n\n" + r.costs(sizes)
}

// times is the table of wall times of the given sizes.
func (r report) times(sizes []int) string {
	return r.table(timeHeading, sizes, rows(), func(c cells) []string {
		return []string{c.ours.time(), c.bare.time(), c.peer.time(), c.ssa.time(), c.floor.time(), c.timesFaster(), c.timesFloor()}
	})
}

// costs is the table of all else. CPU and reads of a single object are lost in what the
// server does for itself.
func (r report) costs(sizes []int) string {
	return r.table(costHeading, sizes, rows(), func(c cells) []string {
		three := func(show func(cell) string) string {
			return show(c.ours) + " / " + show(c.peer) + " / " + show(c.floor)
		}
		return []string{three(cell.cpuTime), three(cell.peak), three(cell.sent), three(cell.serverCPU), three(cell.reads), three(cell.writes)}
	})
}

func (r report) table(heading string, sizes []int, shown []row, columns func(cells) []string) string {
	var b strings.Builder
	b.WriteString(heading)
	for _, n := range sizes {
		for _, w := range shown {
			if c := r.at(n, w); c.measured(w) {
				fmt.Fprintf(&b, "| %d | %s | %s |\n", n, w.title(n), strings.Join(columns(c), " | "))
			}
		}
	}
	return b.String()
}

// timesFaster is how many times as long as ours the peer takes, and in brackets, as ours
// without preflight.
func (c cells) timesFaster() string {
	return quotient(c.peer, c.ours) + inBrackets(c.bare, quotient(c.peer, c.bare))
}

// timesFloor is how many times as long as the bare loop ours takes, and in brackets, ours
// without preflight.
func (c cells) timesFloor() string {
	return quotient(c.ours, c.floor) + inBrackets(c.bare, quotient(c.bare, c.floor))
}

func quotient(a, b cell) string {
	if a.rounds == 0 || b.rounds == 0 {
		return "–"
	}
	return ratio(a.wall / b.wall)
}

func inBrackets(c cell, text string) string {
	if c.rounds == 0 || text == "–" {
		return ""
	}
	return " (" + text + ")"
}

// pageSizes are the numbers of objects of the rows that docs/performance.md shows; all others
// are printed.
var pageSizes = []int{1, 1000}

// pageRows are the operations that docs/performance.md shows, and frontRows those of the README.
var (
	pageRows  = []operation{create, unchanged, diff, change}
	frontRows = []operation{create, unchanged, diff, change}
)

// The first columns of the page are those of the README.
const (
	frontHeading = "| objects | operation | `kubectl merge` | kubectl |\n|---:|---|---:|---:|\n"
	pageHeading  = "| objects | operation | `kubectl merge` | kubectl | bare loop | × bare loop | CPU | peak memory | requests |\n" +
		"|---:|---|---:|---:|---:|---:|---:|---:|---:|\n"
)

// page is the table of docs/performance.md.
func (r report) page() string {
	sizes := slices.DeleteFunc(r.sizes(), func(n int) bool { return !slices.Contains(pageSizes, n) })
	shown := slices.DeleteFunc(rows(), func(w row) bool {
		return !slices.Contains(pageRows, w.op) || w.name != "" && w.op == create
	})
	return r.table(pageHeading, sizes, shown, func(c cells) []string {
		return []string{c.ours.time(), c.peer.time(), c.floor.time(), quotient(c.ours, c.floor), c.ours.cpuTime(), c.ours.peak(), c.ours.sent()}
	})
}

// front is the short table of the README.
func (r report) front() string {
	shown := slices.DeleteFunc(rows(), func(w row) bool { return !slices.Contains(frontRows, w.op) || w.name != "" })
	return r.table(frontHeading, []int{frontSize}, shown, func(c cells) []string { return []string{c.ours.time(), c.peer.time()} })
}
