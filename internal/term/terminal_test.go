package term

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// asked is a terminal at which a user types.
func asked(t *testing.T, typed string) (*Terminal, *bytes.Buffer) {
	t.Helper()
	in, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	if _, err := keys.WriteString(typed); err != nil {
		t.Fatal(err)
	}
	keys.Close()
	var out bytes.Buffer
	return &Terminal{Out: &out, in: in, own: true}, &out
}

// TestPrompt: each question takes one line of what was typed ahead.
func TestPrompt(t *testing.T) {
	term, out := asked(t, " l \nsecond\n")
	for _, want := range []string{"l", "second"} {
		if got, err := term.Prompt(t.Context(), "which? "); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	if _, err := term.Prompt(t.Context(), "which? "); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("%v: the end of input is no answer", err)
	}
	if got := out.String(); strings.Count(got, "which? ") != 3 {
		t.Errorf("%q", got)
	}
	term.Close()
	if _, err := term.in.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v: a terminal that was opened for questions is closed", err)
	}
}

// TestPromptInterrupted: the end of the context ends a question without an answer.
func TestPromptInterrupted(t *testing.T) {
	in, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	defer in.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	time.AfterFunc(time.Millisecond, func() { cancel(why) })
	if _, err := (&Terminal{Out: io.Discard, in: in}).Prompt(ctx, ""); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

// TestRawLine: the keys that a terminal in raw mode leaves to its reader.
func TestRawLine(t *testing.T) {
	for _, tt := range []struct {
		reason, typed, want string
		err                 error
	}{
		{"a line", "secret\rrest", "secret", nil},
		{"characters of several bytes", "pässwört\n", "pässwört", nil},
		{"a character is taken back", "ab\x7fc\x08d\n", "ad", nil},
		{"more are taken back than there are", "a\x7f\x7fb\n", "b", nil},
		{"the line is taken back", "wrong\x15right\n", "right", nil},
		{"an interrupt", "ab\x03", "", ErrInterrupted},
		{"the end", "\x04", "", io.EOF},
		{"the end within a line is a character", "a\x04\n", "a\x04", nil},
		{"the terminal is gone", "ab", "", io.EOF},
	} {
		term, _ := asked(t, tt.typed)
		if got, err := term.rawLine(); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v; want %q, %v", tt.reason, got, err, tt.want, tt.err)
		}
	}
}

func TestHiddenNeedsATerminal(t *testing.T) {
	term, out := asked(t, "secret\n")
	if _, err := term.Hidden(t.Context(), "password: "); err == nil || out.Len() > 0 {
		t.Errorf("%v, %q: what a pipe cannot hide is not asked for", err, out.String())
	}
}

// TestNoTerminal: pipes and buffers are not terminals, so no question is asked and nothing is colored.
func TestNoTerminal(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	t.Setenv("COLUMNS", "")
	for _, w := range []io.Writer{out, &bytes.Buffer{}, &Stderr{To: out}} {
		if Open(in, w, false) != nil || Open(in, w, true) != nil || IsTerminal(w) || Colors(w) || Width(w) != 0 {
			t.Errorf("%T is taken for a terminal", w)
		}
	}
	t.Setenv("COLUMNS", "132")
	if got := Width(out); got != 132 {
		t.Errorf("%d columns, want what COLUMNS says", got)
	}
}
