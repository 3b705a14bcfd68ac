package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := median(tt.values); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.values, got, tt.want)
		}
	}
}

// TestObjects: there are as many objects as were asked for, and the second file
// differs in as many as the runs are held to.
func TestObjects(t *testing.T) {
	for _, n := range []int{1, 20, 100, 1000} {
		base, after := filepath.Join(t.TempDir(), "base"), filepath.Join(t.TempDir(), "after")
		if err := writeObjects(base, "p", n, false); err != nil {
			t.Fatal(err)
		}
		if err := writeObjects(after, "p", n, true); err != nil {
			t.Fatal(err)
		}
		a, b := documents(t, base), documents(t, after)
		differ, spaces := 0, map[string]bool{}
		for i := range a {
			if a[i] != b[i] {
				differ++
			}
			_, rest, _ := strings.Cut(a[i], "\n  namespace: ")
			space, _, _ := strings.Cut(rest, "\n")
			spaces[space] = true
		}
		if len(a) != n || len(b) != n || differ != changesOf(n) || differ < n*3/4 {
			t.Errorf("%d objects: %d and %d, of which %d differ, want %d", n, len(a), len(b), differ, changesOf(n))
		}
		for _, name := range namespacesOf("p", n) {
			if !spaces[name] {
				t.Errorf("%d objects: none in %s", n, name)
			}
			delete(spaces, name)
		}
		if len(spaces) > 0 {
			t.Errorf("%d objects: no set makes %v", n, spaces)
		}
	}
}

func documents(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "---\n")[1:]
}

// TestCheck: a run that failed, or did less than it was to do, is no figure.
func TestCheck(t *testing.T) {
	all := programs("m", "k", "f")
	ours, loops, theirs := all[0], all[2], all[4]
	for _, tt := range []struct {
		reason string
		by     program
		op     operation
		code   int
		output string
		good   bool
	}{
		{"both are new", ours, create, 0, "configmap/a created\nconfigmap/b created\n", true},
		{"one is missing", ours, create, 0, "configmap/a created\n", false},
		{"the word is another", ours, create, 0, "configmap/a created\nconfigmap/b configured\n", false},
		{"more than was asked for", ours, create, 0, "configmap/a created\nconfigmap/b created\nconfigmap/c unchanged\n", false},
		{"all was done, and it failed", ours, create, 1, "configmap/a created\nconfigmap/b created\n", false},
		{"both differ", ours, change, 0, "configmap/a configured\nconfigmap/b configured\n", true},
		{"one does not", ours, change, 0, "configmap/a configured\nconfigmap/b unchanged\n", false},
		{"two are shown, and the code says so", ours, diff, 1, "--- a\n+++ a\n--- b\n+++ b\n", true},
		{"the code says that nothing differs", ours, diff, 0, "--- a\n+++ a\n--- b\n+++ b\n", false},
		{"an error, whatever was shown", ours, diff, 2, "--- a\n+++ a\n--- b\n+++ b\n", false},
		{"a dry run is marked as one", ours, dryClient, 0, "kind: ConfigMap\nconfigmap/a configured (dry run)\nconfigmap/b unchanged (dry run)\n", true},
		{"it was written", ours, dryClient, 0, "configmap/a configured\nconfigmap/b configured\n", false},
		{"the server's dry run is another", ours, dryServer, 0, "configmap/a configured (dry run)\nconfigmap/b configured (dry run)\n", false},
		{"drift counts objects", ours, drifting, 1, "b  configmap/a  changed  data.x\nb  configmap/a  changed  data.y\nb  configmap/b  changed  data.x\n", true},
		{"one has not drifted", ours, drifting, 1, "b  configmap/a  changed  data.x\nb  configmap/a  changed  data.y\n", false},
		{"the loop sends patches alone", loops, change, 0, "configmaps/a configured\nconfigmaps/b configured\n", true},
		{"server-side apply has one word", theirs, change, 0, "configmap/a serverside-applied\nconfigmap/b serverside-applied\n", true},
	} {
		file := filepath.Join(t.TempDir(), "output")
		if err := os.WriteFile(file, []byte(tt.output), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := read(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := tt.by.check(tt.op, 2, tt.code, s); (err == nil) != tt.good {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
}

// figures is a run with one round of each.
func figures() report {
	var r report
	for _, n := range []int{1, 1000} {
		for _, op := range all {
			for program, wall := range map[string]float64{ours: 0.3, kubectl: 33, loop: 0.2} {
				if op == gets && program != loop || program == kubectl && (op == planned || op == drifting || op == bound || op == plainSet) {
					continue
				}
				r.Runs = append(r.Runs,
					measured{Size: n, Operation: op, Program: program, Wall: wall, CPU: wall / 2, PeakKB: 1024 * int64(100*wall)},
					measured{Size: n, Operation: op, Program: program, Wall: 99, Counted: true, Requests: 7})
			}
		}
	}
	return r
}

func TestTable(t *testing.T) {
	got := figures().tables([]int{1000})
	for _, want := range []string{
		"| 1000 | unchanged | 300 ms | – | 33 s | – | 200 ms | 110 | 1.5 |\n",
		"| 1000 | drift | 300 ms | – | 33 s | – | 200 ms | 110 | 1.5 |\n",
		"| 1000 | one GET each | – | – | – | – | 200 ms | – | – |\n",
		"| 1000 | 750 of 1000 changed | 150 ms / 16 s / 100 ms | 30 MB / 3300 MB / 20 MB | 7 / 7 / 7 | 0 ms / 0 ms / 0 ms | 0 / 0 / 0 | 0 / 0 / 0 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no row %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "| 1 |") {
		t.Errorf("a size that was not asked for in\n%s", got)
	}
}

func TestTargets(t *testing.T) {
	r := figures()
	for _, tt := range r.targets() {
		if !tt.met() {
			t.Errorf("not met: %s", tt)
		}
	}
	for i := range r.Runs {
		if r.Runs[i].Program == ours {
			r.Runs[i].Wall, r.Runs[i].CPU, r.Runs[i].PeakKB = 32, 32, 1<<30
			switch r.Runs[i].Operation {
			case inSet, unchanged:
				r.Runs[i].Requests = 100
			case planned: // is measured by the program's own diff
				r.Runs[i].Wall, r.Runs[i].PeakKB = 64, 1<<31
			}
		}
	}
	for _, tt := range r.targets() {
		if tt.met() {
			t.Errorf("met by a program as slow and large as that: %s", tt)
		}
	}
}

// TestWrite: figures go between the marks, again and again, and the README's are
// rows of the page's.
func TestWrite(t *testing.T) {
	top := t.TempDir()
	if err := os.Mkdir(filepath.Join(top, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{page: "# Page\n\n" + blockHead + "old\n" + blockEnd + "after\n", front: "# Front\n\n" + blockHead + blockEnd + "rest\n"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := figures().write(top); err != nil {
			t.Fatal(err)
		}
	}
	whole, _ := os.ReadFile(filepath.Join(top, page))
	short, _ := os.ReadFile(filepath.Join(top, front))
	if s := string(whole); strings.Contains(s, "old") || !strings.HasSuffix(s, "after\n") || strings.Count(s, "| 1 | create |") != 1 {
		t.Errorf("the page is\n%s", s)
	}
	s := string(short)
	if !strings.HasSuffix(s, "rest\n") || strings.Count(s, frontHeading) != 1 || strings.Count(s, blockHead) != 1 {
		t.Errorf("the README is\n%s", s)
	}
	for line := range strings.Lines(s) {
		if strings.HasPrefix(line, "|") && !strings.Contains(string(whole), strings.TrimSuffix(line, "\n")) {
			t.Errorf("not a row of the page: %s", line)
		}
	}
}

// TestPages: the pages have room for the figures.
func TestPages(t *testing.T) {
	for _, name := range []string{page, front} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := replaced(string(text), "figures"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLine: what is sent arrives whole, after a round trip, and no faster than the line is.
func TestLine(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		if c, err := echo.Accept(); err == nil {
			_, _ = io.Copy(c, c)
			_ = c.Close()
		}
	}()
	n, err := networkOf("20ms,8") // a megabyte in a second
	if err != nil {
		t.Fatal(err)
	}
	l := &line{network: n, target: echo.Addr().String()}
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer l.close()
	go l.accept()
	c, err := net.Dial("tcp", l.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	begun, sent := time.Now(), bytes.Repeat([]byte("kubectl "), 25_000)
	go func() {
		_, _ = c.Write(sent)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes came back, %v", len(got), len(sent), err)
	}
	if took := time.Since(begun); took < 200*time.Millisecond {
		t.Errorf("%d bytes took %v", len(sent), took)
	}
	for _, wrong := range []string{"50ms", "10", "50ms,0", "-1ms,10", "fast"} {
		if _, err := networkOf(wrong); err == nil {
			t.Errorf("%s is a network", wrong)
		}
	}
}
