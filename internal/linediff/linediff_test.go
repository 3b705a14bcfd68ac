package linediff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestBetween: the changes lead from one text to the other, in order, and are as few as
// a plain table of all ways finds.
func TestBetween(t *testing.T) {
	for round := range 3000 {
		r := rand.New(rand.NewPCG(3, uint64(round)))
		old, now := text(r, r.IntN(14), 1+r.IntN(6)), text(r, r.IntN(14), 1+r.IntN(6))
		for _, all := range [][]Change{Between(old, now), Compact(old, now, Between(old, now))} {
			if got := replaced(old, now, all); !slices.Equal(got, now) {
				t.Fatalf("round %d: %q to %q: %v comes to %q", round, old, now, all, got)
			}
			n := 0
			for i, c := range all {
				n += c.OldEnd - c.Old + c.NewEnd - c.New
				if c.OldEnd == c.Old && c.NewEnd == c.New || i > 0 && (c.Old <= all[i-1].OldEnd || c.New <= all[i-1].NewEnd) {
					t.Fatalf("round %d: %v", round, all)
				}
			}
			if want := fewest(old, now); n != want {
				t.Fatalf("round %d: %q to %q: %v removes and adds %d lines, where %d would do", round, old, now, all, n, want)
			}
		}
	}
}

// TestCompact: a run of lines that only one text has slides down to its neighbour, and stands where
// git has it.
func TestCompact(t *testing.T) {
	for _, c := range []struct {
		old, now string
		want     []Change
	}{
		{"ab", "abab", []Change{{2, 2, 2, 4}}},
		{"vcd#", "vcde#bvcdx#", []Change{{3, 3, 3, 10}}},
		{"aab", "ab", []Change{{1, 2, 1, 1}}},
		{"abxab", "abyabzab", []Change{{2, 3, 2, 6}}},
	} {
		old, now := strings.Split(c.old, ""), strings.Split(c.now, "")
		if got := Compact(old, now, Between(old, now)); !slices.Equal(got, c.want) {
			t.Errorf("%s to %s: %v, want %v", c.old, c.now, got, c.want)
		}
	}
}

// TestLarge: the difference of texts with more changes than are searched for is still correct.
func TestLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	old := text(r, 30000, 1<<30)
	now := slices.Clone(old)
	for i := range now {
		if r.IntN(2) == 0 {
			now[i] = fmt.Sprintf("changed %d\n", i)
		}
	}
	all := Between(old, now)
	if !slices.Equal(replaced(old, now, all), now) {
		t.Error("the changes do not lead to the text")
	}
	if len(all) < 1000 {
		t.Errorf("only %d changes: what stays is not found", len(all))
	}
}

func TestLines(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "a\nb": 2, "\n\n": 2} {
		if got := Lines(text); len(got) != want || strings.Join(got, "") != text {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func text(r *rand.Rand, n, kinds int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%d\n", r.IntN(kinds))
	}
	return out
}

func replaced(old, now []string, all []Change) []string {
	var out []string
	at := 0
	for _, c := range all {
		out = append(append(out, old[at:c.Old]...), now[c.New:c.NewEnd]...)
		at = c.OldEnd
	}
	return append(out, old[at:]...)
}

// fewest lines to remove and to add, by the longest common subsequence.
func fewest(a, b []string) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			if a[i] == b[j] {
				table[i+1][j+1] = table[i][j] + 1
			} else {
				table[i+1][j+1] = max(table[i][j+1], table[i+1][j])
			}
		}
	}
	return len(a) + len(b) - 2*table[len(a)][len(b)]
}

func BenchmarkBetween(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 5))
	old := text(r, 10000, 1000)
	now := slices.Clone(old)
	for range 500 {
		now[r.IntN(len(now))] = "changed\n"
	}
	for b.Loop() {
		Between(old, now)
	}
}
