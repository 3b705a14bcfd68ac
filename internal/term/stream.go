package term

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"sync"

	xterm "golang.org/x/term"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
)

// Stderr is standard error, the only output for people and logs. The values of the run's Secrets
// are blanked in it, whatever their source. Text written at once stays together, so that no line is
// inside another.
type Stderr struct {
	To     io.Writer
	Values redact.Values
	Shown  bool                // the user asked for the values
	Rename func(string) string // puts the program's name as it was called into messages; nil does nothing

	Style Style     // of what is written
	Pager io.Writer // receives it instead of To; may be nil

	mu sync.Mutex
}

// Write writes whole lines. The values of Secrets are blanked in them, unless Shown. The error is
// that of the underlying stream.
func (r *Stderr) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := string(b)
	switch {
	case r.Shown:
	case json.Valid(b): // notes and errors for programs
		text = r.Values.BlankJSON(text)
	default:
		text = r.Values.Blank(text)
	}
	if r.Rename != nil {
		text = r.Rename(text)
	}
	if _, err := io.WriteString(cmp.Or(r.Pager, r.To), r.Style.Apply(text)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Secrets returns the values that are blanked in writes to w; nil if none are.
func Secrets(w io.Writer) *redact.Values {
	if r, ok := w.(*Stderr); ok && !r.Shown {
		return &r.Values
	}
	return nil
}

// Direct returns a stream as the process received it: to determine whether it is a terminal, and
// for programs that are run. What is collected to be printed on it has a method Unwrap.
func Direct(w io.Writer) io.Writer {
	switch w := w.(type) {
	case interface{ Unwrap() io.Writer }:
		return Direct(w.Unwrap())
	case *Stderr:
		return w.To
	case *Pager:
		return w.to
	}
	return w
}

// IsTerminal reports whether a stream, to read or to write, is a terminal.
func IsTerminal(stream any) bool {
	_, ok := asTerminal(stream)
	return ok
}

// asTerminal returns the file of a stream, if it is a terminal.
func asTerminal(stream any) (*os.File, bool) {
	if w, ok := stream.(io.Writer); ok {
		stream = Direct(w)
	}
	f, ok := stream.(*os.File)
	return f, ok && xterm.IsTerminal(int(f.Fd()))
}

// Colors reports whether w is a terminal with colors and NO_COLOR is not set
// (https://no-color.org).
func Colors(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Width returns the number of columns of w: the value of COLUMNS, otherwise the terminal's; 0 if w
// is not a terminal.
func Width(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	f, ok := asTerminal(w)
	if !ok {
		return 0
	}
	n, _, _ := xterm.GetSize(int(f.Fd())) // 0 with an error
	return n
}
