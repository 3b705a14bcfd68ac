package term

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
)

// TestStderr: values of Secrets are blanked in whatever is written, until the user asks for them.
func TestStderr(t *testing.T) {
	var out bytes.Buffer
	w := &Stderr{To: &out}
	w.Values.Add(map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"password": "correct-horse-battery"}})
	if Secrets(w) != &w.Values || Direct(w) != io.Writer(&out) {
		t.Error("the values and the stream below are not those given")
	}
	const line = "error: the password is correct-horse-battery\n"
	if n, err := w.Write([]byte(line)); err != nil || n != len(line) || strings.Contains(out.String(), "horse") {
		t.Errorf("%d, %v: %q", n, err, out.String())
	}
	w.Shown = true
	out.Reset()
	if _, err := w.Write([]byte(line)); err != nil || out.String() != line || Secrets(w) != nil {
		t.Errorf("%v: %q", err, out.String())
	}
	if Secrets(&out) != nil || Direct(&out) != io.Writer(&out) {
		t.Error("another stream has no values, and is direct")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestStderrBroken(t *testing.T) {
	if _, err := (&Stderr{To: broken{}}).Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// TestStdin: all that comes is read, and its end as often as it is asked for.
func TestStdin(t *testing.T) {
	text := strings.Repeat("a: 1\n", 40_000)
	in := Stdin(t.Context(), strings.NewReader(text))
	got, err := io.ReadAll(in)
	if err != nil || string(got) != text {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := in.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

// TestStdinInterrupted: the end of the context ends a read of what never comes.
func TestStdinInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never, w := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		in := Stdin(ctx, never)
		go func() {
			synctest.Wait()
			cancel()
		}()
		if _, err := in.Read(make([]byte, 1)); !errors.Is(err, ErrInterrupted) {
			t.Errorf("%v", err)
		}
		w.Close()
	})
}

func TestBeside(t *testing.T) {
	var shown, out bytes.Buffer
	p := &Progress{w: &shown, shown: true}
	if _, err := p.Beside(&out).Write([]byte("line\n")); err != nil || out.String() != "line\n" || shown.String() != "\r\x1b[K" {
		t.Errorf("%v: %q, %q: the line is erased before another is written", err, out.String(), shown.String())
	}
	var none *Progress
	if none.Beside(&out) != io.Writer(&out) {
		t.Error("where nothing is shown, nothing is erased")
	}
	none.End()
}
