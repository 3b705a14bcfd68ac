package cli

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestSignals(t *testing.T) {
	for _, tt := range []struct {
		what string
		at   []time.Duration // of each signal, after the one before
		held bool
		want string
	}{
		{"one", []time.Duration{0}, false, "ends"},
		{"timeout(1), which signals its command and then the group", []time.Duration{0, time.Microsecond, 0}, false, "ends"},
		{"an impatient user", []time.Duration{0, 2 * time.Second}, false, "ends dies"},
		{"repeats of repeats are one", []time.Duration{0, 900 * time.Millisecond, 900 * time.Millisecond}, false, "ends"},
		{"a rollback is finished", []time.Duration{0, 2 * time.Second, time.Millisecond, 2 * time.Second}, true, "ends reported reported"},
		{"a rollback of a failed run is finished", []time.Duration{5 * time.Second}, true, "ends"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var did []string
				say := func(what string) func(os.Signal) { return func(os.Signal) { did = append(did, what) } }
				s, incoming, stop := newSignals(), make(chan os.Signal, 1), make(chan struct{})
				s.process = Process{Signals: incoming, Die: say("dies")}
				if tt.held {
					s.hold(func() { did = append(did, "reported") })
				}
				go s.follow(stop, say("ends"))
				for _, pause := range tt.at {
					time.Sleep(pause)
					incoming <- syscall.SIGTERM
					synctest.Wait()
				}
				close(stop)
				synctest.Wait()
				if got := strings.Join(did, " "); got != tt.want {
					t.Errorf("%q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestLent: an interrupt is the editor's while it has the terminal, however often it comes and even if
// it is handled late; afterwards, and with another signal, the run ends.
func TestLent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, incoming := newSignals(), make(chan os.Signal, 1)
		died := false
		s.process = Process{Signals: incoming, Die: func(os.Signal) { died = true }}
		var by []os.Signal
		stop := make(chan struct{})
		go s.follow(stop, func(one os.Signal) { by = append(by, one) })
		s.lend(func() {
			for range 3 {
				incoming <- os.Interrupt
				time.Sleep(2 * repeats)
			}
			incoming <- os.Interrupt
		})
		if len(by) > 0 || died {
			t.Errorf("ended by %v, %t: the editor has the terminal", by, died)
		}
		s.lend(func() { incoming <- syscall.SIGTERM })
		incoming <- os.Interrupt
		synctest.Wait()
		if len(by) != 1 || by[0] != syscall.SIGTERM || died {
			t.Errorf("ended by %v, %t", by, died)
		}
		time.Sleep(2 * repeats)
		incoming <- os.Interrupt
		synctest.Wait()
		if !died {
			t.Error("the editor has the terminal no more")
		}
		s.lend(func() {}) // follow has ended
		close(stop)
	})
}

// TestPassed: a signal that was sent before is handled when the terminal is given back.
func TestPassed(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // there are no signals to send
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	s := newSignals()
	ctx, stop := s.untilSignal(t.Context())
	defer stop()
	s.lend(func() {
		if err := self.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	})
	if ctx.Err() != nil {
		t.Errorf("%v: the interrupt was the editor's", context.Cause(ctx))
	}
	if err := self.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if by, ok := errors.AsType[*signalled](context.Cause(ctx)); !ok || by.signal != syscall.SIGTERM {
		t.Errorf("the cause is %v", context.Cause(ctx))
	}
}

// A command that is not run by Main has no signals to hold.
func TestNoSignals(*testing.T) {
	var s *signals
	s.hold(func() {})
	s.release()
}
