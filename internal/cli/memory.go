package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// minHeap is how large the heap may become, in bytes, before a garbage collection. The
	// default is 4 MB, which the libraries half fill before main begins. A command for one object
	// would then spend a seventh of its CPU time on collecting.
	minHeap      = 24 << 20
	usualPercent = 100
)

// lowMemory maps numbers of objects to the heap's growth between collections, in percent: it saves
// memory at the cost of about a tenth more time.
var lowMemory = map[int]int{8000: 50, 50_000: 33}

// collector sets the garbage collector for a run; its methods may be called at any time. GOGC in
// the environment takes precedence.
type collector struct {
	once    sync.Once
	mu      sync.Mutex
	percent int
}

// heap is the process's collector.
var heap = &collector{percent: usualPercent}

// grow lets the heap grow to minHeap before the first collection, and again after each one.
func (c *collector) grow() {
	if os.Getenv("GOGC") != "" {
		return
	}
	c.once.Do(func() {
		c.adjust()
		c.watch()
	})
}

// watch sets the percentage after each collection. A finalizer runs once for each collection that
// its object did not outlive.
func (c *collector) watch() {
	runtime.SetFinalizer(new(*collector), func(**collector) {
		c.adjust()
		c.watch()
	})
}

// adjust sets the percentage for the memory in use after the last collection.
func (c *collector) adjust() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	c.mu.Lock()
	defer c.mu.Unlock()
	debug.SetGCPercent(percentage(live[0].Value.Uint64(), c.percent))
}

// percentage returns how much the heap may grow until it is collected: up to minHeap, or by
// percent if that is more. 100 % are at least leastHeap.
func percentage(live uint64, percent int) int {
	const leastHeap = 4 << 20
	if live >= minHeap {
		return percent
	}
	return max(percent, int(min((minHeap-live)*100/max(live, 1), minHeap/leastHeap*100)))
}

// reading sets the percentage by the number of objects read so far.
func (c *collector) reading(objects int) {
	percent, set := lowMemory[objects]
	if !set || os.Getenv("GOGC") != "" {
		return
	}
	c.mu.Lock()
	c.percent = percent
	c.mu.Unlock()
	c.adjust()
}
