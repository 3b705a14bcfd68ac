package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// initLine is one of GODEBUG=inittrace=1.
var initLine = regexp.MustCompile(`^init (\S+) @.* clock, (\d+) bytes, (\d+) allocs$`)

// TestStart: what packages do before main, counted, since completion and every run of one
// object wait for it.
func TestStart(t *testing.T) {
	program := filepath.Join(t.TempDir(), "kubectl-merge")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.Command("go", "build", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd := exec.Command(program, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	packages, size, allocs := 0, 0, 0
	for line := range strings.Lines(trace.String()) {
		if m := initLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			b, _ := strconv.Atoi(m[2]) // digits
			n, _ := strconv.Atoi(m[3])
			packages, size, allocs = packages+1, size+b, allocs+n
		}
	}
	t.Logf("%d packages, %d bytes, %d allocations", packages, size, allocs)
	if packages == 0 || packages > 300 || size > 2_700_000 || allocs > 20_000 {
		t.Errorf("before main: %d packages allocate %d bytes %d times: at most 300, 2700000 and 20000, so that starting takes no longer than it did", packages, size, allocs)
	}
}
