package cli

import (
	"os"
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
				s := &signals{}
				if tt.held {
					s.hold(func() { did = append(did, "reported") })
				}
				incoming, stop := make(chan os.Signal, 1), make(chan struct{})
				go s.follow(incoming, stop, say("ends"), say("dies"))
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

// A command that is not run by Main has no signals to hold.
func TestNoSignals(*testing.T) {
	var s *signals
	s.hold(func() {})
	s.release()
}
