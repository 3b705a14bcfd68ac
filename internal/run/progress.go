package run

import "sync/atomic"

// Phase is what a run is busy with.
type Phase string

// The phases, in order. Trying and Writing come again where some objects have to
// wait for others.
const (
	Reading Phase = "reading"
	Trying  Phase = "trying"
	Writing Phase = "writing"
	Pruning Phase = "pruning"
)

// Progress is told how many of a phase's objects are through. It may be called by
// several goroutines at once.
type Progress func(phase Phase, done, total int)

// count begins a phase; what it returns is called for each object that is through.
func (j *Job) count(phase Phase, total int) func(int) {
	if j.Progress == nil {
		return func(int) {}
	}
	j.Progress(phase, 0, total)
	var done atomic.Int64
	return func(int) { j.Progress(phase, int(done.Add(1)), total) }
}
