// Package part divides what the large tests play, so that one run plays a fifth of it: the
// fifth that the commit's hash chooses, so that all are played in turn as commits are made. A
// situation that is played is checked as thoroughly as in a run of all of them.
package part

import (
	"flag"
	"fmt"
	"os/exec"
	"strconv"
	"testing"
)

// count is the number of parts.
const count = 5

var chosen = flag.String("part", "", fmt.Sprintf("part of the large tests to play: 0 to %d, or all (\"\": the part that the commit's hash chooses, 0 without git)", count-1))

// Part is a part of a test's situations.
type Part struct{ n, of int }

// Chosen is the part that this run plays. It is logged with the flag that repeats it.
func Chosen(t testing.TB) Part {
	t.Helper()
	switch n, err := strconv.Atoi(*chosen); {
	case *chosen == "all":
		return Part{0, 1}
	case *chosen != "" && (err != nil || n < 0 || n >= count):
		t.Fatalf("-part=%s: is neither 0 to %d nor all", *chosen, count-1)
	case *chosen != "":
		return Part{n, count}
	}
	out, _ := exec.Command("git", "rev-parse", "HEAD").Output() // an archive of the source has no git
	p := Part{ofCommit(string(out)), count}
	t.Logf("part %d of 0 to %d (-part=%d plays it again, -part=all plays everything)", p.n, count-1, p.n)
	return p
}

// ofCommit is the number of the part that a commit's hash chooses.
func ofCommit(hash string) int {
	n, err := strconv.ParseUint(hash[:min(8, len(hash))], 16, 64)
	if err != nil {
		return 0
	}
	return int(n % count)
}

// Has reports whether the nth situation of a table is in the part. Neighbours are in different
// parts.
func (p Part) Has(n int) bool { return n%p.of == p.n }

// Nth is how many situations of the part stand before the nth of a table.
func (p Part) Nth(n int) int { return n / p.of }

// Of is the part of n random situations: from one of them up to, but without, another.
func (p Part) Of(n int) (from, to int) { return n * p.n / p.of, n * (p.n + 1) / p.of }

// Seed is for tests that draw anew in each part.
func (p Part) Seed() uint64 { return uint64(p.n) + 1 }

// Least is how much of what a run of everything reaches a run of the part has to reach at least.
func (p Part) Least(n int) int { return n / p.of }
