package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// started is how long a run takes that has next to nothing to do.
type started struct {
	Program string  `json:"program"`
	Wall    float64 `json:"wallSeconds"` // median
	CPU     float64 `json:"cpuSeconds"`  // median
	Least   float64 `json:"leastCPUSeconds"`
	PeakKB  float64 `json:"peakKB"`      // median
	Init    float64 `json:"initSeconds"` // the least that packages took before main
	Bytes   int64   `json:"fileBytes"`
}

const (
	starts    = 50   // how often each is started
	initTimes = 15   // how often it is looked at what packages do before main
	completed = 5000 // objects of a kind whose names are completed
)

// The rows of the start-up, in this order.
const (
	startVersion = "kubectl merge version"
	startEmpty   = "an empty program with kubectl's connection flags"
	startOne     = "kubectl merge -f, one unchanged object"
	startLoop    = "bare loop: one list"
	startTAB     = "the TAB key behind `configmap/`, of 5000"
)

// starting are the runs of the start-up, which take turns.
type starting struct {
	field
	commands [][]string
	rows     []string
}

// startup measures the runs that have next to nothing to do: what is left of them is the
// start of the program.
func (f field) startup(ctx context.Context) ([]started, error) {
	empty, err := build(ctx, f.dir, "./test/bench/empty")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(f.dir, "start")
	one, many := filepath.Join(dir, "one.yaml"), filepath.Join(dir, "many.yaml")
	s := starting{field: f, rows: []string{startVersion, startEmpty, startOne, startLoop, startTAB}, commands: [][]string{
		{f.merge, "version"}, {empty}, {f.merge, "-f", one}, {f.floor, "list", one}, {f.merge, "__complete", "edit-last-applied", "-n", "start-many", "configmap/"}}}
	err = os.MkdirAll(dir, 0o755)
	if err == nil {
		err = errors.Join(writeMaps(one, "start-one", 1), writeMaps(many, "start-many", completed))
	}
	if err == nil {
		err = s.server.makeNamespaces(ctx, []string{"start-one", "start-many"})
	}
	if err == nil {
		err = output(ctx, f.floor, "prepare", one, one, one)
	}
	if err == nil {
		err = output(ctx, f.floor, "prepare", many, many, many)
	}
	for _, args := range [][]string{{f.floor, "create", many}, {f.merge, "-f", one}} {
		if err == nil {
			err = s.start(ctx, args, &measured{})
		}
	}
	if err != nil {
		return nil, err
	}
	return s.measure(ctx)
}

// writeMaps writes n ConfigMaps.
func writeMaps(file, ns string, n int) error {
	var b strings.Builder
	for i := range n {
		b.WriteString("---\n" + configMap(ns, i, "1"))
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}

// of is a command that is started.
func (s *starting) of(ctx context.Context, args []string) *exec.Cmd {
	return s.command(ctx, lane{program: program{file: args[0]}, home: filepath.Join(s.dir, "start")}, s.config, args[1:]...)
}

// start runs a command once; what it prints has to be what one that works prints.
func (s *starting) start(ctx context.Context, args []string, m *measured) error {
	state, err := s.run(ctx, m, s.of(ctx, args))
	if err == nil && state.ExitCode() != 0 {
		_, errs := s.printed()
		text, _ := os.ReadFile(errs) // the exit code is the error
		err = fmt.Errorf("%v: exit code %d: %s", args, state.ExitCode(), text)
	}
	return err
}

func (s *starting) measure(ctx context.Context) ([]started, error) {
	runs := make([][]measured, len(s.commands))
	for range starts {
		for i, args := range s.commands {
			var m measured
			if err := s.start(ctx, args, &m); err != nil {
				return nil, err
			}
			if err := s.printedBy(s.rows[i]); err != nil {
				return nil, err
			}
			runs[i] = append(runs[i], m)
		}
	}
	var out []started
	for i, name := range s.rows {
		row, err := s.row(ctx, name, s.commands[i], runs[i])
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// printedBy refuses a run that did not print what it was started for.
func (s *starting) printedBy(row string) error {
	want := map[string]string{startVersion: "kubectl-merge", startOne: " unchanged", startLoop: " unchanged", startTAB: "configmap/app-"}[row]
	out, _ := s.printed()
	text, err := os.ReadFile(out)
	if err == nil && !strings.Contains(string(text), want) {
		err = fmt.Errorf("%s: %q is not in what it printed: %.200s", row, want, text)
	}
	return err
}

func (s *starting) row(ctx context.Context, name string, args []string, runs []measured) (started, error) {
	var wall, cpu, peak []float64
	for _, m := range runs {
		wall, cpu, peak = append(wall, m.Wall), append(cpu, m.CPU), append(peak, float64(m.PeakKB))
	}
	out := started{Program: name, Wall: median(wall), CPU: median(cpu), Least: least(cpu), PeakKB: median(peak)}
	info, err := os.Stat(args[0])
	if err != nil {
		return out, err
	}
	out.Bytes = info.Size()
	var inits []float64
	for range initTimes {
		t, err := s.initTime(ctx, args)
		if err != nil {
			return out, err
		}
		inits = append(inits, t)
	}
	out.Init = least(inits)
	return out, nil
}

// initLine is one of GODEBUG=inittrace=1:
// init k8s.io/api/core/v1 @1.2 ms, 0.35 ms clock, 1024 bytes, 12 allocs
var initLine = regexp.MustCompile(`^init \S+ @\S+ ms, (\S+) ms clock`)

// initTime adds up what the packages of the program do before main, once.
func (s *starting) initTime(ctx context.Context, args []string) (float64, error) {
	cmd := s.of(ctx, args)
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
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
		fmt.Fprintf(&b, "%s: %.1f ms, CPU %.1f ms (at least %.1f ms; before main %.1f ms), peak memory %.0f MB, file %d MB\n",
			s.Program, s.Wall*1000, s.CPU*1000, s.Least*1000, s.Init*1000, s.PeakKB/1024, s.Bytes>>20)
	}
	return b.String()
}
