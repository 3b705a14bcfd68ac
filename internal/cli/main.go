package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-merge/kubectl-merge/internal/batch"
)

// The exit codes. diff has 1 for differences and failed for errors.
const (
	done        = 0
	failed      = 1
	diffFailed  = 2
	conflicted  = 3
	interrupted = 130
)

// Main runs one command line, without the program's name, and returns the exit
// code. An interrupt lets what is under way end, and begins nothing more; a
// second one ends the process at once.
func Main(ctx context.Context, args []string, streams genericiooptions.IOStreams) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop)
	root := newRoot(streams)
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	err := root.ExecuteContext(ctx)
	code := exitCode(err)
	for _, line := range lines(err) {
		fmt.Fprintf(streams.ErrOut, "error: %s\n", line)
	}
	if ctx.Err() != nil {
		return interrupted
	}
	return code
}

// exit is an error that says with which code to end; Err may be nil, if all has
// been told.
type exit struct {
	Code int
	Err  error
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
	}
	return failed
}

// lines are the errors joined in err, each one line. Those that say no more than
// that others stood in the way are counted.
func lines(err error) []string {
	var (
		out     []string
		waiting int
		walk    func(error)
	)
	walk = func(err error) {
		var (
			e   *exit
			not *batch.NotReached
		)
		switch joined, many := err.(interface{ Unwrap() []error }); {
		case err == nil:
		case many && !strings.Contains(fmt.Sprintf("%T", err), "wrapErrors"):
			for _, one := range joined.Unwrap() {
				walk(one)
			}
		case errors.As(err, &e) && err == error(e):
			walk(e.Err)
		case errors.As(err, &not):
			waiting++
		default:
			out = append(out, oneLine(err.Error()))
		}
	}
	walk(err)
	switch waiting {
	case 0:
	case 1:
		out = append(out, "1 object was not written because of that; mend it, and merge again")
	default:
		out = append(out, fmt.Sprintf("%d objects were not written because of that; mend it, and merge again", waiting))
	}
	return out
}
