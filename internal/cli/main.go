// Package cli turns command lines into jobs, one verb per file, and reports their outcomes. It
// refuses to merge, and to call an API server itself.
package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"

	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
)

// The exit codes. diff has 1 for differences and failed for errors.
const (
	done        = 0
	failed      = 1
	diffFailed  = 2
	conflicted  = 3
	notReady    = 4
	hungUp      = 129
	interrupted = 130
	terminated  = 143
	undriven    = 255 // of git's merge driver: newer versions of git end the merge; a code up to 128 is a conflict, for which there are no markers
)

// Main runs one command line, without the program's name, and returns the exit code. An interrupt,
// a CI job's request to terminate, or the end of the terminal lets requests in progress finish, and
// begins nothing more. Another signal, unless it repeats the first, ends the process at once. A
// rollback is always finished. The executable may have been renamed: help and messages name commands
// under the new name.
func Main(ctx context.Context, executable string, args []string, streams genericiooptions.IOStreams) int {
	heap.grow()
	called := programOf(executable)
	ending := newSignals()
	ctx, stop := ending.untilSignal(ctx)
	defer stop()
	errs := &term.Stderr{To: streams.ErrOut, Rename: called.rename()}
	streams.ErrOut = errs
	logTo(errs)
	if _, bounded := http.DefaultTransport.(source.Downloads); !bounded { // kustomize's client uses it
		http.DefaultTransport = source.Downloads{RoundTripper: http.DefaultTransport}
	}
	defer klog.Flush()
	e := &env{IOStreams: streams, json: asksJSON(ctx, args), signals: ending, typed: append([]string{own.file}, args...)}
	root := newRoot(e)
	if e.rename = called.rename(); e.rename != nil { // help and completion scripts use the program's name
		root.Use = e.rename(root.Use)
		root.Annotations[cobra.CommandDisplayNameAnnotation] = called.command
	}
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	err := root.ExecuteContext(ctx)
	code := exitCode(err)
	e.warnings.print()
	e.report(err)
	if end, ok := errors.AsType[*exit](err); ctx.Err() != nil && err != nil && !(ok && end.Ended) { // the run may be complete nevertheless
		if by, ok := errors.AsType[*signalled](context.Cause(ctx)); ok && endings[by.signal] != 0 {
			return endings[by.signal]
		}
		return interrupted
	}
	if code == failed && slices.ContainsFunc(args, gitsOwn) {
		return undriven
	}
	return code
}

// endings maps signals to the exit codes of a run that they have ended: 128 and the signal's number.
var endings = map[os.Signal]int{syscall.SIGHUP: hungUp, os.Interrupt: interrupted, syscall.SIGTERM: terminated}

// signalled is the cause of a context that a signal has ended.
type signalled struct{ signal os.Signal }

// Error names the signal.
func (s *signalled) Error() string { return s.signal.String() }

// Unwrap returns context.Canceled.
func (s *signalled) Unwrap() error { return context.Canceled }

// exit is an error with an exit code; Err may be nil, if everything has been reported.
type exit struct {
	Code  int
	Err   error
	Ended bool // the user ended it as intended: the code is Code despite a signal
}

// Error returns the text of Err.
func (e *exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *exit) Unwrap() error { return e.Err }

func exitCode(err error) int {
	var e *exit
	switch {
	case err == nil:
		return done
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, term.ErrNoAnswer):
		return conflicted
	case errors.Is(err, term.ErrInterrupted):
		return interrupted
	}
	return failed
}

// repeats is how long after a signal another one is a repetition of it. timeout(1) signals its
// command and then the command's process group, and a shell of a CI system does the same.
const repeats = time.Second

// signals ends a run. The first signal ends its context. Later ones have their default effect,
// unless the run rolls back its writes: then they only have that reported.
type signals struct {
	process Process
	lent    atomic.Bool            // another program has the terminal
	settled chan chan struct{}     // closes the received channel once the signals so far are handled
	ended   chan struct{}          // closed when no more are handled
	last    time.Time              // of the last signal
	report  atomic.Pointer[func()] // reports the rollback in progress; nil: there is none
}

func newSignals() *signals {
	return &signals{settled: make(chan chan struct{}), ended: make(chan struct{})}
}

// hold makes the run survive further signals, since it rolls back its writes; say reports that. A
// closed output is an error then.
func (s *signals) hold(say func()) {
	if s != nil {
		signal.Ignore(syscall.SIGPIPE)
		s.report.Store(&say)
	}
}

// release ends the effect of hold.
func (s *signals) release() {
	if s != nil {
		s.report.Store(nil)
	}
}

// lend runs step, during which another program, such as an editor, has the terminal. An interrupt that
// comes before its end is that program's, even if it was not handled yet: it does not end the run.
func (s *signals) lend(step func()) {
	s.lent.Store(true)
	defer s.lent.Store(false)
	step()
	if s.process.Passed != nil {
		s.process.Passed()
	}
	handled := make(chan struct{})
	select {
	case s.settled <- handled:
		<-handled
	case <-s.ended:
	}
}

// Process gives a run its access to the process that it is in.
type Process struct {
	Signals <-chan os.Signal
	Die     func(os.Signal)       // ends the process, as the signal does by default
	Passed  func()                // returns when the signals that were sent before are in Signals; nil: they are
	Run     func(*exec.Cmd) error // runs another program; nil: the command's own Run
}

type processKey struct{}

// In returns a context whose runs take this for their process.
func (p Process) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, processKey{}, p)
}

// untilSignal returns a context that the first signal ends.
func (s *signals) untilSignal(ctx context.Context) (context.Context, func()) {
	given := false
	release := func() {}
	if s.process, given = ctx.Value(processKey{}).(Process); !given {
		incoming := make(chan os.Signal, 1)
		signal.Notify(incoming, os.Interrupt, syscall.SIGTERM)
		if !signal.Ignored(syscall.SIGHUP) { // as under nohup
			signal.Notify(incoming, syscall.SIGHUP)
		}
		s.process, release = Process{Signals: incoming, Die: die, Passed: passed}, func() { signal.Stop(incoming) }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := make(chan struct{})
	go func() {
		defer release()
		s.follow(stop, func(by os.Signal) { cancel(&signalled{by}) })
	}()
	return ctx, func() { close(stop); cancel(nil) }
}

// follow acts on each signal until stop is closed, or the process dies.
func (s *signals) follow(stop <-chan struct{}, first func(os.Signal)) {
	defer close(s.ended)
	for dead := false; !dead; {
		select {
		case by := <-s.process.Signals:
			dead = s.take(by, first)
		case handled := <-s.settled:
			for len(s.process.Signals) > 0 {
				dead = s.take(<-s.process.Signals, first) || dead
			}
			close(handled)
		case <-stop:
			return
		}
	}
}

// take calls first for the first signal, and acts on each later one that does not repeat the one
// before. It reports a rollback in progress; otherwise the process dies.
func (s *signals) take(by os.Signal, first func(os.Signal)) (dies bool) {
	if by == os.Interrupt && s.lent.Load() {
		return false
	}
	before := s.last
	s.last = time.Now()
	switch report := s.report.Load(); {
	case before.IsZero():
		first(by)
	case s.last.Sub(before) < repeats:
	case report != nil:
		(*report)()
	default:
		s.process.Die(by)
		return true
	}
	return false
}

// die ends the process with the signal's default effect.
func die(by os.Signal) {
	signal.Reset(by)
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Signal(by) // if a process cannot signal itself, the run ends as soon as it can
	}
}
