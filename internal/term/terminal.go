// Package term handles the terminal: colors, width, a line that shows how far a run is, questions,
// and the streams of the process. It refuses to know what is printed.
package term

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	xterm "golang.org/x/term"

	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
)

// Terminal asks the user questions.
type Terminal struct {
	Out io.Writer

	in  *os.File
	own bool // in was opened by Open
}

// Open returns the terminal of standard input and standard error, if both are one; nil if no user
// can be asked. If standard input is taken, it is the terminal that the process belongs to.
func Open(stdin io.Reader, stderr io.Writer, stdinTaken bool) *Terminal {
	out, ok := asTerminal(stderr)
	if !ok {
		return nil
	}
	t := &Terminal{Out: out}
	if !stdinTaken {
		if t.in, ok = asTerminal(stdin); !ok {
			return nil
		}
		return t
	}
	in, err := os.Open("/dev/tty")
	if err != nil {
		return nil
	}
	t.in, t.own = in, true
	return t
}

// Close ends the questions.
func (t *Terminal) Close() {
	if t.own {
		_ = t.in.Close() // it was opened for reading
	}
}

// ErrNoAnswer reports that the terminal is gone, or the user typed the end of input.
var ErrNoAnswer = errors.New("no answer: nothing was written")

// Prompt asks for one line and trims its white space. The end of ctx ends it. The error is
// ErrNoAnswer at the end of the input, or ctx's cause.
func (t *Terminal) Prompt(ctx context.Context, text string) (string, error) {
	fmt.Fprint(t.Out, text)
	return t.await(ctx, t.line)
}

// Hidden is Prompt for secret input. The terminal stops showing input before the prompt appears, so
// that fast typing is hidden, too. Errors are Prompt's, or that of a terminal which cannot be
// switched.
func (t *Terminal) Hidden(ctx context.Context, text string) (string, error) {
	before, err := xterm.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return "", fmt.Errorf("terminal: %w", err)
	}
	defer fmt.Fprintln(t.Out)
	defer func() { _ = xterm.Restore(int(t.in.Fd()), before) }() // it shows what is typed again, also after an interrupt
	fmt.Fprint(t.Out, text)
	return t.await(ctx, t.rawLine)
}

// The keys that a terminal in raw mode leaves to its reader.
const (
	keyInterrupt = 3
	keyEnd       = 4
	keyBack      = 8
	keyKill      = 21
	keyDelete    = 127
)

// ErrInterrupted reports that the user interrupted the program while it waited for input.
var ErrInterrupted = errors.New("interrupted: nothing was written")

func (t *Terminal) rawLine() (string, error) {
	var line []rune
	for in := bufio.NewReaderSize(oneByOne{t.in}, utf8.UTFMax); ; {
		r, _, err := in.ReadRune()
		switch {
		case err != nil:
			return "", err
		case r == '\r' || r == '\n':
			return string(line), nil
		case r == keyInterrupt:
			return "", ErrInterrupted
		case r == keyEnd && len(line) == 0:
			return "", io.EOF
		case r == keyKill:
			line = nil
		case r == keyBack || r == keyDelete:
			line = line[:max(len(line)-1, 0)]
		default:
			line = append(line, r)
		}
	}
}

// oneByOne keeps a buffer from reading input for the next question.
type oneByOne struct{ io.Reader }

// Read reads one byte.
func (o oneByOne) Read(p []byte) (int, error) { return o.Reader.Read(p[:min(len(p), 1)]) }

// await reads in a separate goroutine, since a read cannot be interrupted otherwise.
func (t *Terminal) await(ctx context.Context, read func() (string, error)) (string, error) {
	line, err := parallel.Await(ctx, read)
	switch {
	case err != nil && ctx.Err() != nil:
		fmt.Fprintln(t.Out)
		return "", context.Cause(ctx)
	case errors.Is(err, io.EOF):
		fmt.Fprintln(t.Out)
		return "", ErrNoAnswer
	}
	return line, err
}

// line reads byte by byte: text typed ahead may be meant for a hidden prompt.
func (t *Terminal) line() (string, error) {
	line, err := bufio.NewReader(oneByOne{t.in}).ReadString('\n')
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(line), nil
}

// Stdin returns standard input as a reader that may block for ever: the end of ctx ends the wait.
func Stdin(ctx context.Context, in io.Reader) io.Reader { return &patient{ctx: ctx, from: in} }

// patient reads in a separate goroutine, since a read cannot be interrupted otherwise.
type patient struct {
	ctx   context.Context
	from  io.Reader
	begin sync.Once // nothing is taken from the input before the first read: it may be for a question
	got   *io.PipeReader
}

// Read returns the received bytes; once ctx has ended, that is the error.
func (p *patient) Read(b []byte) (int, error) {
	p.begin.Do(func() {
		out, in := io.Pipe()
		p.got = out
		context.AfterFunc(p.ctx, func() { _ = in.CloseWithError(ErrInterrupted) }) // it never fails
		go func() {
			_, err := io.Copy(in, p.from)
			_ = in.CloseWithError(err) // it never fails
		}()
	})
	return p.got.Read(b)
}
