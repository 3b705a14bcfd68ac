// Package parallel runs one step for many items, a limited number at a time, and reports
// completion in input order. It does not know what the step does.
package parallel

import (
	"context"
	"sync"
)

// Limit is the default number of concurrent steps.
const Limit = 8

// Steps are how many steps there are, and how they are run.
type Steps struct {
	N     int
	Limit int         // steps at once; below 1: Limit
	Done  func(i int) // see Each; may be nil
}

// Each calls step for every index below N, at most Limit at once, and Done for every index
// in ascending order, as soon as it and all before it are finished; Done is never called
// concurrently. When ctx ends, no further step is started, and Done is called only for those
// that were. Each returns their number: N unless ctx ended.
func Each(ctx context.Context, s Steps, step func(i int)) int {
	n, limit, done := s.N, s.Limit, s.Done
	if limit < 1 {
		limit = Limit
	}
	if done == nil {
		done = func(int) {}
	}
	limit = min(limit, n)
	var (
		slots   = make([]chan struct{}, n) // closed when the step is finished
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
	reported := make(chan struct{})
	count := make(chan int, 1)
	go func() {
		defer close(reported)
		report(slots, count, done)
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
	<-reported
	return begun
}

// report waits for the slots in order and calls done. count gives the number of steps that
// were started, which is known only at the end.
func report(slots []chan struct{}, count <-chan int, done func(i int)) {
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
