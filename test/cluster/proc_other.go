//go:build !linux

package main

import (
	"os"
	"os/exec"
)

// guarded makes the command end with this process, even with one that is killed.
// The guard between them sees our end of its stdin close.
func guarded(cmd *exec.Cmd) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g := exec.Command(self, append([]string{guardWord}, cmd.Args...)...)
	g.Env, g.Dir, g.Stdout, g.Stderr = cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr
	if _, err := g.StdinPipe(); err != nil { // ours to hold, never written to
		return nil, err
	}
	return g, nil
}
