// Package parallel runs one step for many items, a limited number at a time, and reports
// completion in input order; what has begun may outlast an interrupt, or is abandoned. It does not know
// what the step does.
package parallel

import (
	"cmp"
	"context"
	"sync"
	"time"
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
	var (
		limit             = cmp.Or(max(s.Limit, 0), Limit)
		mu                sync.Mutex
		changed           = sync.NewCond(&mu)
		all               sync.WaitGroup
		finished          = make([]bool, s.N)
		running, reported int
		busy              bool // one of the steps' goroutines reports
	)
	finish := func(i int) {
		mu.Lock()
		defer mu.Unlock()
		running, finished[i] = running-1, true
		changed.Broadcast()
		for !busy && reported < s.N && finished[reported] {
			next := reported
			busy = true
			mu.Unlock()
			if s.Done != nil {
				s.Done(next)
			}
			mu.Lock()
			reported, busy = next+1, false
		}
	}
	defer context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		changed.Broadcast()
	})()
	defer all.Wait()
	for i := range s.N {
		now := limit
		if s.Adapt != nil {
			now = max(s.Adapt(limit), 1)
		}
		mu.Lock()
		for running >= now && ctx.Err() == nil {
			changed.Wait()
		}
		running++
		mu.Unlock()
		if ctx.Err() != nil {
			return i
		}
		all.Go(func() {
			step(i)
			finish(i)
		})
	}
	return s.N
}

// grace is how long writes in progress may take after the user has stopped the run: the
// outcome of a request that is cut off is unknown.
const grace = 20 * time.Second

// Outlasting returns a context that ends grace after ctx does. It is kept until then.
func Outlasting(ctx context.Context) context.Context {
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return long
}

// Await calls do, which may never return, and abandons it when ctx ends: the error is that of ctx then.
func Await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	var result T
	var err error
	done := make(chan struct{})
	go func() {
		result, err = do()
		close(done)
	}()
	select {
	case <-done:
		return result, err
	case <-ctx.Done():
		return *new(T), ctx.Err()
	}
}
