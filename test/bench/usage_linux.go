package main

import (
	"os"
	"syscall"
)

// usage is the CPU time in seconds, and the peak memory in KB, of an ended child and
// of its own children.
func usage(p *os.ProcessState) (cpu float64, peakKB int64) {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		peakKB = u.Maxrss
	}
	return (p.UserTime() + p.SystemTime()).Seconds(), peakKB
}

// ownPeak is this process's peak memory in KB: no child's can be measured that is less.
func ownPeak() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Maxrss
}
