package parallel

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestEachReportsInOrder(t *testing.T) {
	for _, tt := range []struct {
		n, limit int
		reason   string
	}{
		{0, 4, "nothing to do ends at once"},
		{1, 0, "no limit given takes the default"},
		{50, 1, "one at a time"},
		{50, 7, "fewer slots than steps"},
		{3, 99, "more slots than steps"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var got []int
			var now, most atomic.Int32
			begun := Each(t.Context(), Steps{N: tt.n, Limit: tt.limit, Done: func(i int) { got = append(got, i) }}, func(i int) {
				now.Add(1)
				for m := most.Load(); now.Load() > m && !most.CompareAndSwap(m, now.Load()); m = most.Load() {
				}
				time.Sleep(time.Duration((tt.n-i)%5) * time.Millisecond)
				now.Add(-1)
			})
			if begun != tt.n || len(got) != tt.n || !slices.IsSorted(got) {
				t.Errorf("%s: begun %d, reported %v, want all %d in order", tt.reason, begun, got, tt.n)
			}
			if tt.limit > 0 && int(most.Load()) > tt.limit {
				t.Errorf("%s: %d at once, want at most %d", tt.reason, most.Load(), tt.limit)
			}
		})
	}
}

// TestEachAdapts: as many steps at once as is said before each begins.
func TestEachAdapts(t *testing.T) { synctest.Test(t, eachAdapts) }

func eachAdapts(t *testing.T) {
	const n = 400
	var now, most, asked atomic.Int32
	grown, shrunk := int32(0), int32(0)
	Each(t.Context(), Steps{N: n, Limit: 4, Adapt: func(limit int) int {
		switch i := asked.Add(1); {
		case i == n/4:
			most.Store(0)
		case i == n/2:
			grown = most.Load()
		case i == n*3/4:
			most.Store(0)
		}
		if i := asked.Load(); i >= n/4 && i < n/2 {
			return 4 * limit
		}
		return limit
	}, Done: nil}, func(int) {
		now.Add(1)
		for m := most.Load(); now.Load() > m && !most.CompareAndSwap(m, now.Load()); m = most.Load() {
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
	})
	if shrunk = most.Load(); grown <= 4 || grown > 16 || shrunk > 4 {
		t.Errorf("%d at once where 16 may be, %d where 4 may be again", grown, shrunk)
	}
	if asked.Load() != n {
		t.Errorf("asked %d times, want once for each of %d steps", asked.Load(), n)
	}
}

func TestEachStopsWhenTheContextEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var reported []int
	var stepped atomic.Int32
	begun := Each(ctx, Steps{N: 1000, Limit: 2, Done: func(i int) { reported = append(reported, i) }}, func(i int) {
		stepped.Add(1)
		if i == 10 {
			stop()
		} else if i > 10 { // whichever goroutine is scheduled first
			<-ctx.Done()
		}
	})
	if begun == 1000 || begun != int(stepped.Load()) || begun != len(reported) {
		t.Errorf("begun %d, stepped %d, reported %d: want the same number, below 1000: what was begun is ended and reported", begun, stepped.Load(), len(reported))
	}
}
