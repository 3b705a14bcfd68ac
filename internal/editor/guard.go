package editor

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// Stopped reports that the process was asked to end.
type Stopped struct{ Signal os.Signal }

// Error names the signal.
func (s *Stopped) Error() string { return fmt.Sprintf("was ended by a signal (%s)", s.Signal) }

// Code returns the exit code that shells give for the signal.
func (s *Stopped) Code() int {
	if n, ok := s.Signal.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 1
}

// Guard makes a signal end an edit without losing it: it ends the Context, with a *Stopped for its
// cause, rather than the process.
type Guard struct {
	context.Context
	keyboard bool
	away     atomic.Bool
	seen     chan chan struct{} // closes the received channel once the signals so far are handled
	release  func()
}

// NewGuard watches for SIGINT, SIGTERM and SIGHUP until Release. The end of ctx itself is ignored:
// its creator may receive signals too. keyboard states that an interrupt may come from the keyboard
// of the editor's terminal: such an interrupt is for the editor, and does not end the edit.
func NewGuard(ctx context.Context, keyboard bool) *Guard {
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	g := &Guard{Context: inner, keyboard: keyboard, seen: make(chan chan struct{})}
	signals := make(chan os.Signal, 4)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	g.release = func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
	take := func(s os.Signal) {
		if s != os.Interrupt || !g.keyboard || !g.away.Load() {
			cancel(&Stopped{Signal: s})
		}
	}
	go func() {
		for {
			select {
			case s := <-signals:
				take(s)
			case ready := <-g.seen:
				for len(signals) > 0 {
					take(<-signals)
				}
				close(ready)
			case <-done:
				return
			}
		}
	}()
	return g
}

// Away runs step while the editor has the terminal. An interrupt that came before its end is the
// editor's, even if it was not handled yet.
func (g *Guard) Away(step func()) {
	g.away.Store(true)
	defer g.away.Store(false)
	step()
	passed()
	ready := make(chan struct{})
	g.seen <- ready
	<-ready
}

// Release stops watching; it must be called once.
func (g *Guard) Release() { g.release() }
