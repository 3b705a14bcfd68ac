// Package parallel runs one step for many items, a limited number at a time, and reports
// completion in input order. It does not know what the step does.
package parallel

import (
	"context"
	"sync"
)

// Limit is the default number of concurrent steps.
const Limit = 8

// Steps holds the number of steps, and how to run them.
type Steps struct {
	N     int
	Limit int         // steps at once; below 1: Limit
	Done  func(i int) // see Each; may be nil

	// Adapt returns how many steps run at once from now on, given Limit; it is called before each
	// step begins. nil: Limit.
	Adapt func(limit int) int
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
	var (
		slots   = make([]chan struct{}, n) // closed when the step is finished
		next    = make(chan int)
		workers crew
		begun   int
	)
	for i := range slots {
		slots[i] = make(chan struct{})
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
		now := limit
		if s.Adapt != nil {
			now = s.Adapt(limit)
		}
		workers.become(min(max(now, 1), n), next, func(i int) {
			step(i)
			close(slots[i])
		})
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

// crew holds the goroutines that run the steps.
type crew struct {
	sync.WaitGroup
	mu           sync.Mutex
	size, wanted int
}

// become changes the size of the crew: it grows at once, and shrinks as each finishes its step.
func (c *crew) become(wanted int, next <-chan int, do func(i int)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.wanted = wanted; c.size < wanted; c.size++ {
		c.Go(func() {
			for i := range next {
				do(i)
				if c.leave() {
					return
				}
			}
		})
	}
}

// leave reports whether the caller is superfluous, and counts it out.
func (c *crew) leave() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size <= c.wanted {
		return false
	}
	c.size--
	return true
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
