package run

import "sync/atomic"

// Phase names what a run is doing.
type Phase string

// The phases, in order. Trying and Writing repeat if objects have to wait for others.
const (
	Reading Phase = "reading"
	Trying  Phase = "trying"
	Writing Phase = "writing"
	Pruning Phase = "pruning"
)

// Progress is called with the number of objects of a phase that are done. It may be called
// by several goroutines at once.
type Progress func(phase Phase, done, total int)

// count begins a phase and returns the function to call for each object that is done.
func (j *Job) count(phase Phase, total int) func(int) {
	if j.Progress == nil {
		return func(int) {}
	}
	j.Progress(phase, 0, total)
	var done atomic.Int64
	return func(int) { j.Progress(phase, int(done.Add(1)), total) }
}
