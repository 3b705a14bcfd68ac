package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"syscall"

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
)

// Main runs one command line, without the program's name, and returns the exit
// code. An interrupt, the request to terminate that comes when a CI job is called off,
// or the end of the terminal lets what is under way end, and begins nothing more; another one,
// unless it repeats the first, ends the process at once. A rollback is finished all the same.
func Main(ctx context.Context, args []string, streams genericiooptions.IOStreams) int {
	return MainAs(ctx, own.file, args, streams)
}

// MainAs is Main for a program whose executable may have been renamed: the commands that
// help and messages name are those that work.
func MainAs(ctx context.Context, executable string, args []string, streams genericiooptions.IOStreams) int {
	heap.roomy()
	called := programOf(executable)
	ending := &signals{}
	ctx, stop := ending.untilSignal(ctx)
	defer stop()
	errs := &term.Stderr{To: streams.ErrOut, Rename: called.rename()}
	streams.ErrOut = errs
	logTo(errs)
	if _, bounded := http.DefaultTransport.(source.Downloads); !bounded { // kustomize's client has no other
		http.DefaultTransport = source.Downloads{RoundTripper: http.DefaultTransport}
	}
	defer klog.Flush()
	e := &env{IOStreams: streams, json: asksJSON(args), signals: ending}
	root := newRoot(e)
	renamed(root, called)
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	err := root.ExecuteContext(ctx)
	code := exitCode(err)
	e.warnings.print()
	e.report(err)
	var end *exit
	if ctx.Err() != nil && err != nil && !(errors.As(err, &end) && end.Ended) { // all that was asked for may be done all the same
		var by *signalled
		if errors.As(context.Cause(ctx), &by) && endings[by.signal] != 0 {
			return endings[by.signal]
		}
		return interrupted
	}
	return code
}

// endings are the exit codes of a run that a signal has ended: 128 and its number.
var endings = map[os.Signal]int{syscall.SIGHUP: hungUp, os.Interrupt: interrupted, syscall.SIGTERM: terminated}

// signalled is why a context ended that a signal has ended.
type signalled struct{ signal os.Signal }

// Error names the signal.
func (s *signalled) Error() string { return s.signal.String() }

// Unwrap is context.Canceled.
func (s *signalled) Unwrap() error { return context.Canceled }

// exit is an error that has the code to end with; Err may be nil, if all has
// been reported.
type exit struct {
	Code  int
	Err   error
	Ended bool // by the user, as asked: the code is Code though a signal has come
}

// Error is the text of Err.
func (e *exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap is Err.
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
