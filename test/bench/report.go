package main

import (
	"bytes"
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
}

// measured is one run.
type measured struct {
	Size      int       `json:"size"`
	Round     int       `json:"round"`
	Operation operation `json:"operation"`
	Program   string    `json:"program"` // m, p: ours, with and without preflight; k, s: kubectl, client- and server-side
	Wall      float64   `json:"wallSeconds"`
	CPU       float64   `json:"cpuSeconds"`
	PeakKB    int64     `json:"peakKB"`
	Counted   bool      `json:"counted,omitempty"` // through the proxy: only Requests are of use
	Requests  int       `json:"requests,omitempty"`
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
	return fmt.Sprintf("%s, %d cores%s, %s, kube-apiserver and kubectl %s on loopback, commit %s, %s", f.OS, f.Cores, cpu, f.Go, f.Server, f.Commit, f.Date)
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
}

func (r report) cell(n int, op operation, program string) cell {
	var wall, cpu, peak []float64
	c := cell{requests: -1}
	for _, m := range r.Runs {
		switch {
		case m.Size != n || m.Operation != op || m.Program != program:
		case m.Counted:
			c.requests = m.Requests
		default:
			wall, cpu, peak = append(wall, m.Wall), append(cpu, m.CPU), append(peak, float64(m.PeakKB))
		}
	}
	c.rounds, c.wall, c.cpu, c.peakKB = len(wall), median(wall), median(cpu), median(peak)
	return c
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

func (r report) sizes() []int {
	var out []int
	for _, m := range r.Runs {
		out = append(out, m.Size)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

const heading = "| objects | operation | `kubectl merge` | `--preflight=false` | `kubectl apply` | `--server-side` | times faster | CPU | peak memory | requests |\n" +
	"|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|\n"

// table is the markdown table of the given sizes, with one row for each operation.
func (r report) table(sizes []int) string {
	var b bytes.Buffer
	b.WriteString(heading)
	for _, n := range sizes {
		for _, op := range all {
			m, k, p, s := r.cell(n, op, "m"), r.cell(n, op, "k"), r.cell(n, op, "p"), r.cell(n, op, "s")
			if m.rounds == 0 {
				continue
			}
			name := string(op)
			if op == change && n > 1 {
				name = fmt.Sprintf("%d of %d changed", changesOf(n), n)
			}
			fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s | %s | %s / %s | %s / %s | %s / %s |\n", n, name,
				m.time(), p.time(), k.time(), s.time(), faster(k, m, p),
				m.cpuTime(), k.cpuTime(), m.peak(), k.peak(), m.sent(), k.sent())
		}
	}
	return b.String()
}

func (c cell) time() string    { return c.show(seconds(c.wall)) }
func (c cell) cpuTime() string { return c.show(seconds(c.cpu)) }

func (c cell) peak() string {
	if c.peakKB == 0 {
		return "–"
	}
	return c.show(fmt.Sprintf("%.0f MB", c.peakKB/1024))
}

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

// faster is how many times ours is faster than kubectl apply, with preflight and
// without.
func faster(k, m, p cell) string {
	if k.rounds == 0 {
		return "–"
	}
	text := ratio(k.wall / m.wall)
	if p.rounds > 0 {
		text += " (" + ratio(k.wall/p.wall) + ")"
	}
	return text
}

func ratio(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// print writes what there is to read: facts, table, start-up, targets.
func (r report) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s\n\n%s\n%s\n", r.Facts, r.table(r.sizes()), r.starts())
	for _, t := range r.targets() {
		if err == nil {
			_, err = fmt.Fprintln(w, t)
		}
	}
	return err
}
