//go:build !linux

package main

import "os"

// usage is the CPU time in seconds of an ended child; peak memory is measured on Linux
// alone.
func usage(p *os.ProcessState) (cpu float64, peakKB int64) {
	return (p.UserTime() + p.SystemTime()).Seconds(), 0
}

func ownPeak() int64 { return 0 }
