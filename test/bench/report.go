package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is all that was measured.
type report struct {
	Facts   facts      `json:"facts"`
	Startup []started  `json:"startup"`
	Floor   int64      `json:"floorKB"` // no child's peak memory can be measured that is less
	Runs    []measured `json:"runs"`
}

// facts are what the figures depend on.
type facts struct {
	Date   string `json:"date"`
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Go     string `json:"go"`
	OS     string `json:"os"`
	Commit string `json:"commit"`
	Server string `json:"server"` // and kubectl, which is of the same version

	Network string `json:"network"`
}

// measured is one run.
type measured struct {
	Size      int       `json:"size"`
	Round     int       `json:"round"`
	Operation operation `json:"operation"`
	Program   string    `json:"program"` // see programs
	Wall      float64   `json:"wallSeconds"`
	CPU       float64   `json:"cpuSeconds"`
	PeakKB    int64     `json:"peakKB"`
	Counted   bool      `json:"counted,omitempty"` // through the proxy: only Requests are of use
	Requests  int       `json:"requests,omitempty"`
	Server    served    `json:"server"` // what it cost the API server
}

func (m measured) counted() string {
	if !m.Counted {
		return ""
	}
	return fmt.Sprintf("%d requests", m.Requests)
}

func factsOf(ctx context.Context) facts {
	f := facts{Date: time.Now().UTC().Format(time.DateOnly), Cores: runtime.NumCPU(), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH}
	if out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output(); err == nil {
		f.Commit = strings.TrimSpace(string(out))
	}
	info, _ := os.ReadFile("/proc/cpuinfo") // none elsewhere
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			f.CPU = strings.TrimSpace(value)
			break
		}
	}
	return f
}

func (f facts) String() string {
	cpu := f.CPU
	if cpu != "" {
		cpu = " (" + cpu + ")"
	}
	return fmt.Sprintf("%s, %d cores%s, %s, kube-apiserver and kubectl %s %s, commit %s, %s", f.OS, f.Cores, cpu, f.Go, f.Server, f.Network, f.Commit, f.Date)
}

func (r report) save(file string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// cell is the medians of a program at one operation and size; rounds is 0 where it
// was not measured, requests -1 where they were not counted.
type cell struct {
	rounds    int
	wall, cpu float64
	peakKB    float64
	requests  int
	server    served
}

func (r report) cell(n int, at place) cell {
	var wall, cpu, peak, serverCPU, reads, writes []float64
	c := cell{requests: -1}
	for _, m := range r.Runs {
		switch {
		case m.Size != n || m.Operation != at.op || m.Program != at.program:
		case m.Counted:
			c.requests = m.Requests
		default:
			wall, cpu, peak = append(wall, m.Wall), append(cpu, m.CPU), append(peak, float64(m.PeakKB))
			serverCPU, reads, writes = append(serverCPU, m.Server.CPU), append(reads, m.Server.Reads), append(writes, m.Server.Writes)
		}
	}
	c.rounds, c.wall, c.cpu, c.peakKB = len(wall), median(wall), median(cpu), median(peak)
	c.server = served{CPU: median(serverCPU), Reads: median(reads), Writes: median(writes)}
	return c
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

func least(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Min(values)
}

func (r report) sizes() []int {
	var out []int
	for _, m := range r.Runs {
		out = append(out, m.Size)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (c cell) time() string    { return c.show(seconds(c.wall)) }
func (c cell) cpuTime() string { return c.show(seconds(c.cpu)) }

func (c cell) peak() string {
	if c.peakKB == 0 {
		return "–"
	}
	return c.show(fmt.Sprintf("%.0f MB", c.peakKB/1024))
}

// What a run costs the server is shown where it is more than the server's own work.
func (c cell) serverCPU() string { return c.show(seconds(c.server.CPU)) }
func (c cell) reads() string     { return c.show(fmt.Sprint(int(c.server.Reads))) }
func (c cell) writes() string    { return c.show(fmt.Sprint(int(c.server.Writes))) }

func (c cell) sent() string {
	if c.requests < 0 {
		return "–"
	}
	return fmt.Sprint(c.requests)
}

func (c cell) show(text string) string {
	if c.rounds == 0 {
		return "–"
	}
	return text
}

func seconds(s float64) string {
	switch {
	case s < 1:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 10:
		return fmt.Sprintf("%.2f s", s)
	}
	return fmt.Sprintf("%.0f s", s)
}

func ratio(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// print writes what there is to read: facts, table, start-up, targets.
func (r report) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s\n\n%s\n%s\n", r.Facts, r.tables(r.sizes()), r.starts())
	for _, t := range r.targets() {
		if err == nil {
			_, err = fmt.Fprintln(w, t)
		}
	}
	return err
}
