package cli

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// repeats is how long after a signal another one is a repetition of it. timeout(1) signals its
// command and then the command's process group, and a shell of a CI system does the same.
const repeats = time.Second

// signals ends a run. The first signal ends its context. Later ones have their default effect,
// unless the run rolls back its writes: then they only have that reported.
type signals struct {
	rollingBack atomic.Bool
	report      atomic.Pointer[func()] // reports the rollback in progress
}

// hold makes the run survive further signals, since it rolls back its writes; say reports that.
func (s *signals) hold(say func()) {
	if s != nil {
		s.report.Store(&say)
		s.rollingBack.Store(true)
	}
}

// release ends the effect of hold.
func (s *signals) release() {
	if s != nil {
		s.rollingBack.Store(false)
	}
}

// untilSignal returns a context that the first signal ends.
func (s *signals) untilSignal(ctx context.Context) (context.Context, func()) {
	incoming := make(chan os.Signal, 1)
	signal.Notify(incoming, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(incoming, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := make(chan struct{})
	go func() {
		defer signal.Stop(incoming)
		s.follow(incoming, stop, func(by os.Signal) { cancel(&signalled{by}) }, die)
	}()
	return ctx, func() { close(stop); cancel(nil) }
}

// follow calls first for the first signal, and acts on each later one that does not repeat the one
// before. It reports a rollback in progress; otherwise it calls again, and ends.
func (s *signals) follow(incoming <-chan os.Signal, stop <-chan struct{}, first, again func(os.Signal)) {
	var last time.Time
	for {
		select {
		case by := <-incoming:
			before := last
			last = time.Now()
			switch {
			case before.IsZero():
				first(by)
			case last.Sub(before) < repeats:
			case !s.rollingBack.Load():
				again(by)
				return
			default:
				(*s.report.Load())()
			}
		case <-stop:
			return
		}
	}
}

// die ends the process with the signal's default effect.
func die(by os.Signal) {
	signal.Reset(by)
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Signal(by) // if a process cannot signal itself, the run ends as soon as it can
	}
}
