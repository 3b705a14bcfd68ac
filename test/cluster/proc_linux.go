package main

import (
	"os/exec"
	"syscall"
)

// guarded makes the command end with this process, even with one that is killed,
// and out of reach of the terminal's Ctrl-C: the order of stopping is ours.
func guarded(cmd *exec.Cmd) (*exec.Cmd, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return cmd, nil
}
