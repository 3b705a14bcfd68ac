package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// roomyHeap is how large the heap may become, in bytes, before it is worth a garbage
	// collection: the default is 4 MB, which the libraries half fill before main begins, so that
	// a command for one object would spend a seventh of its CPU time on collecting.
	roomyHeap    = 24 << 20
	usualPercent = 100
)

// sparing is by how much the heap may grow between collections where there are many objects: it
// saves memory at the cost of about a tenth more time.
var sparing = map[int]int{8000: 50, 50_000: 33}

// collector sets the garbage collector by what a run needs; its methods may be called at any
// time. GOGC in the environment counts more.
type collector struct {
	once    sync.Once
	mu      sync.Mutex
	percent int
}

// heap is the process's.
var heap = &collector{percent: usualPercent}

// roomy has the heap grow to roomyHeap before anything is collected, and after each
// collection again.
func (c *collector) roomy() {
	if os.Getenv("GOGC") != "" {
		return
	}
	c.once.Do(func() {
		c.adjust()
		c.watch()
	})
}

// watch sets the percentage after each collection. A finalizer is run once for each
// collection that its object did not outlive.
func (c *collector) watch() {
	runtime.SetFinalizer(new(*collector), func(**collector) {
		c.adjust()
		c.watch()
	})
}

// adjust sets the percentage for what was in use after the last collection.
func (c *collector) adjust() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	c.mu.Lock()
	defer c.mu.Unlock()
	debug.SetGCPercent(percentage(live[0].Value.Uint64(), c.percent))
}

// percentage is by how much the heap may grow until it is collected: up to roomyHeap, or by
// percent where that is more. Whatever is in use, 100 % are at least leastHeap.
func percentage(live uint64, percent int) int {
	const leastHeap = 4 << 20
	if live >= roomyHeap {
		return percent
	}
	return max(percent, int(min((roomyHeap-live)*100/max(live, 1), roomyHeap/leastHeap*100)))
}

// reading sets the percentage by how many objects have been read, while they are still being
// read.
func (c *collector) reading(objects int) {
	percent, set := sparing[objects]
	if !set || os.Getenv("GOGC") != "" {
		return
	}
	c.mu.Lock()
	c.percent = percent
	c.mu.Unlock()
	c.adjust()
}
