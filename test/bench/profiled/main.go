// Command profiled is kubectl-merge with a profile of each run, as test/bench takes it:
//
//	go build -o /tmp/profiled/kubectl-merge ./test/bench/profiled
//	go run ./test/bench -merge /tmp/profiled/kubectl-merge -sizes 1000 -operations diff
//	go tool pprof -top /tmp/profiled/kubectl-merge /tmp/profiled/cpu-*
//
// The profiles of CPU time and of all memory that was allocated stand beside the program, one
// of each for a run. It is not to be timed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-merge/kubectl-merge/internal/cli"
)

func main() {
	runtime.MemProfileRate = 64 << 10
	stop, err := profile()
	if err != nil {
		fmt.Fprintln(os.Stderr, "profiled:", err)
		os.Exit(4)
	}
	code := cli.Main(context.Background(), os.Args[0], os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "profiled:", err)
		os.Exit(4)
	}
	os.Exit(code)
}

// profile begins the profiles of a run; what it returns ends them.
func profile() (stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	file := func(what string) (*os.File, error) {
		return os.Create(filepath.Join(filepath.Dir(self), fmt.Sprintf("%s-%d.pprof", what, os.Getpid())))
	}
	cpu, err := file("cpu")
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		heap, err := file("allocs")
		if err != nil {
			return err
		}
		return errors.Join(cpu.Close(), pprof.Lookup("allocs").WriteTo(heap, 0), heap.Close())
	}, nil
}
