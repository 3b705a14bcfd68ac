package part

import "testing"

// TestParts: each situation is in one part, and a commit chooses each part.
func TestParts(t *testing.T) {
	const situations = 103
	seen, random := [situations]int{}, [situations]int{}
	for n := range count {
		p, had := Part{n, count}, 0
		for i := range situations {
			if p.Has(i) {
				if nth := p.Nth(i); nth != had {
					t.Errorf("situation %d is number %d of part %d, want %d", i, nth, n, had)
				}
				had++
				seen[i]++
			}
		}
		from, to := p.Of(situations)
		for i := from; i < to; i++ {
			random[i]++
		}
	}
	for i := range situations {
		if seen[i] != 1 || random[i] != 1 {
			t.Errorf("situation %d is in %d parts of a table, and in %d of random situations", i, seen[i], random[i])
		}
	}
	for hash, want := range map[string]int{"": 0, "no hash": 0, "0000000d8a": 3, "fffffffe": 4, "00000007": 2} {
		if got := ofCommit(hash); got != want {
			t.Errorf("%q: part %d, want %d", hash, got, want)
		}
	}
}
