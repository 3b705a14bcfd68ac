//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// passed returns when the signals that were sent to this process before are in the channels that
// receive them: one that is sent now has gone the same way. Nothing else of the program listens to it.
func passed() {
	one := make(chan os.Signal, 1)
	signal.Notify(one, syscall.SIGWINCH)
	defer signal.Stop(one)
	if syscall.Kill(os.Getpid(), syscall.SIGWINCH) == nil {
		<-one
	}
}
