package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
)

// guardWord as first argument makes this program a guard.
const guardWord = "guard-child"

// guard runs a program for as long as stdin stays open, and kills it then: the
// way to leave no orphans on systems where the kernel does not offer it. The
// pipe on stdin ends with the process that holds its other end, however that
// one dies.
func guard(args []string, stdin io.Reader, stderr io.Writer) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	closed := make(chan struct{})
	go func() { defer close(closed); _, _ = io.Copy(io.Discard, stdin) }()
	select {
	case <-ended:
	case <-closed:
		_ = cmd.Process.Kill()
		<-ended
	}
	return cmd.ProcessState.ExitCode()
}
