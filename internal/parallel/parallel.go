// Package parallel does one step on many things, a bounded number at a time, and tells
// the outcomes in input order. It refuses to know what the step is.
package parallel

import (
	"context"
	"sync"
)

// Limit is the number of steps under way at once where nobody asked for another.
const Limit = 8

// Each calls step for every index below n, at most limit at once (below 1 is
// Limit), and done for every index in ascending order, as soon as that index and
// all before it are through; done is never called twice at once. When ctx ends no
// further step is begun, and done is called only for those that were: Each
// returns their number, which is n unless ctx ended.
func Each(ctx context.Context, n, limit int, step, done func(i int)) int {
	if limit < 1 {
		limit = Limit
	}
	limit = min(limit, n)
	var (
		slots   = make([]chan struct{}, n) // closed when the step is through
		next    = make(chan int)
		workers sync.WaitGroup
		begun   int
	)
	for i := range slots {
		slots[i] = make(chan struct{})
	}
	for range limit {
		workers.Go(func() {
			for i := range next {
				step(i)
				close(slots[i])
			}
		})
	}
	told := make(chan struct{})
	count := make(chan int, 1)
	go func() {
		defer close(told)
		tell(slots, count, done)
	}()
	for ; begun < n; begun++ {
		if ctx.Err() != nil {
			break
		}
		select {
		case next <- begun:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	workers.Wait()
	count <- begun
	<-told
	return begun
}

// tell waits for the slots in order. The number of them that were begun becomes
// known only at the end.
func tell(slots []chan struct{}, count <-chan int, done func(i int)) {
	begun := -1
	for i := range slots {
		for begun < 0 {
			select {
			case <-slots[i]:
			case begun = <-count:
				continue
			}
			break
		}
		if begun >= 0 && i >= begun {
			return
		}
		done(i)
	}
	if begun < 0 {
		<-count
	}
}
