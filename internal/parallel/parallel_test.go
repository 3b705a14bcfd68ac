package parallel

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
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
		}
	})
	if begun == 1000 || begun != int(stepped.Load()) || begun != len(reported) {
		t.Errorf("begun %d, stepped %d, reported %d: want the same number, below 1000: what was begun is ended and reported", begun, stepped.Load(), len(reported))
	}
}
