package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// terminal is where a user can be asked something.
type terminal struct {
	in    *os.File
	out   io.Writer
	own   bool // in was opened for this
	color bool
	width int // 0 if unknown
}

// terminal is standard input and standard error, if both are one; nil if there is
// nobody to ask. Where standard input is taken by a file, the terminal that the
// process belongs to is asked.
func (e *env) terminal(stdinTaken bool) *terminal {
	out, ok := asFile(e.ErrOut)
	if !ok || !term.IsTerminal(int(out.Fd())) {
		return nil
	}
	t := &terminal{out: out, color: e.coloredErr(), width: width(out)}
	if !stdinTaken {
		in, ok := e.In.(*os.File)
		if !ok || !term.IsTerminal(int(in.Fd())) {
			return nil
		}
		t.in = in
		return t
	}
	in, err := os.Open("/dev/tty")
	if err != nil {
		return nil
	}
	t.in, t.own = in, true
	return t
}

func (t *terminal) close() {
	if t.own {
		_ = t.in.Close() // it was only read
	}
}

func (t *terminal) say(line string) { fmt.Fprintln(t.out, line) }

func (t *terminal) bold(s string) string {
	if !t.color {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

// errNoAnswer: the terminal went away, or the user typed the end of input.
var errNoAnswer = errors.New("no answer: nothing was written")

// prompt asks for one line, without its white space at the ends. It is cut short
// when ctx ends.
func (t *terminal) prompt(ctx context.Context, text string) (string, error) {
	fmt.Fprint(t.out, text)
	return t.await(ctx, t.line)
}

// hidden is prompt for what is not to be seen. The terminal stops showing what is
// typed before it is asked for, so that nobody is too quick for it.
func (t *terminal) hidden(ctx context.Context, text string) (string, error) {
	before, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return "", fmt.Errorf("terminal: %w", err)
	}
	defer fmt.Fprintln(t.out)
	defer func() { _ = term.Restore(int(t.in.Fd()), before) }() // it shows what is typed again, also after an interrupt
	fmt.Fprint(t.out, text)
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

var errInterrupted = &exit{Code: interrupted, Err: errors.New("interrupted: nothing was written")}

func (t *terminal) rawLine() (string, error) {
	var line []rune
	for in := bufio.NewReaderSize(oneByOne{t.in}, utf8.UTFMax); ; {
		r, _, err := in.ReadRune()
		switch {
		case err != nil:
			return "", err
		case r == '\r' || r == '\n':
			return string(line), nil
		case r == keyInterrupt:
			return "", errInterrupted
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

// oneByOne keeps a buffer from taking what is meant for the next question.
type oneByOne struct{ io.Reader }

// Read reads one byte.
func (o oneByOne) Read(p []byte) (int, error) { return o.Reader.Read(p[:min(len(p), 1)]) }

// await reads in a goroutine of its own, as nothing else cuts a read short.
func (t *terminal) await(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		line string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		line, err := read()
		answers <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(t.out)
		return "", context.Cause(ctx)
	case a := <-answers:
		if errors.Is(a.err, io.EOF) {
			fmt.Fprintln(t.out)
			return "", &exit{Code: conflicted, Err: errNoAnswer}
		}
		return a.line, a.err
	}
}

// line reads byte by byte: what was typed ahead may be meant for a hidden prompt.
func (t *terminal) line() (string, error) {
	var line []byte
	for b := make([]byte, 1); ; {
		n, err := t.in.Read(b)
		if n == 1 && b[0] == '\n' {
			return strings.TrimSpace(string(line)), nil
		}
		if n == 1 {
			line = append(line, b[0])
			continue
		}
		if err != nil {
			return "", err
		}
	}
}

// width is the number of columns that w has: what COLUMNS says, else the
// terminal's; 0 where w is no terminal.
func width(w any) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	f, ok := asFile(w)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}
