package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// started is how long a program takes that has nothing to do.
type started struct {
	Program string  `json:"program"`
	Wall    float64 `json:"wallSeconds"` // median
	CPU     float64 `json:"cpuSeconds"`  // median
	PeakKB  float64 `json:"peakKB"`      // median
	Init    float64 `json:"initSeconds"` // of that, what packages do before main
	Bytes   int64   `json:"fileBytes"`
}

// starts is how often each is started.
const starts = 50

// startup measures `kubectl merge version` beside a program that does nothing, in
// turns.
func startup(ctx context.Context, dir, merge string) ([]started, error) {
	empty, err := build(ctx, dir, "./test/bench/empty")
	if err != nil {
		return nil, err
	}
	commands := [][]string{{merge, "version"}, {empty}}
	wall, cpu, peak := make([][]float64, 2), make([][]float64, 2), make([][]float64, 2)
	for range starts {
		for i, args := range commands {
			cmd := exec.CommandContext(ctx, args[0], args[1:]...)
			begun := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%v: %w: %s", args, err, out)
			}
			wall[i] = append(wall[i], time.Since(begun).Seconds())
			c, p := usage(cmd.ProcessState)
			cpu[i], peak[i] = append(cpu[i], c), append(peak[i], float64(p))
		}
	}
	var out []started
	for i, name := range []string{"kubectl merge version", "an empty program with kubectl's connection flags"} {
		s := started{Program: name, Wall: median(wall[i]), CPU: median(cpu[i]), PeakKB: median(peak[i])}
		info, err := os.Stat(commands[i][0])
		if err == nil {
			s.Bytes = info.Size()
			s.Init, err = initTime(ctx, commands[i])
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// initLine is one of GODEBUG=inittrace=1:
// init k8s.io/api/core/v1 @1.2 ms, 0.35 ms clock, 1024 bytes, 12 allocs
var initLine = regexp.MustCompile(`^init \S+ @\S+ ms, (\S+) ms clock`)

// initTime adds up what the packages do before main, once.
func initTime(ctx context.Context, args []string) (float64, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%v: %w", args, err)
	}
	sum := 0.0
	for line := range strings.Lines(stderr.String()) {
		if m := initLine.FindStringSubmatch(line); m != nil {
			ms, _ := strconv.ParseFloat(m[1], 64)
			sum += ms / 1000
		}
	}
	return sum, nil
}

// starts is the start-up as lines to read.
func (r report) starts() string {
	var b strings.Builder
	for _, s := range r.Startup {
		fmt.Fprintf(&b, "%s: %.1f ms, CPU %.1f ms (before main %.1f ms), peak memory %.0f MB, file %d MB\n",
			s.Program, s.Wall*1000, s.CPU*1000, s.Init*1000, s.PeakKB/1024, s.Bytes>>20)
	}
	return b.String()
}
