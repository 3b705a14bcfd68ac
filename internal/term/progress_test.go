package term

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		ctx, stop := context.WithCancel(t.Context())
		p := &Progress{w: &out, ended: ctx.Err, every: 100 * time.Millisecond, after: time.Second}
		report := Around(p, func(int) { _, _ = io.WriteString(p.Beside(&out), "reported\n") }) // some of it beside the line

		p.Note("reading", 0, 5)
		time.Sleep(900 * time.Millisecond)
		p.Note("reading", 3, 5)
		if p.End(); out.Len() > 0 {
			t.Errorf("a run of less than a second says nothing, not %q", out.String())
		}

		p.Note("writing", 0, 5)
		report(0)
		time.Sleep(1050 * time.Millisecond)
		p.Note("writing", 2, 5)
		p.Note("writing", 1, 5)
		time.Sleep(100 * time.Millisecond)
		report(0)
		report(0)
		time.Sleep(50 * time.Millisecond)
		p.End()
		p.End()
		stop()
		p.Note("writing", 3, 5)
		time.Sleep(1050 * time.Millisecond)
		p.End()
		const erase = "\r\x1b[K"
		want := "reported\n" + erase + "writing 0/5" + erase + "writing 2/5" + erase + "reported\nreported\n"
		got, end, _ := strings.Cut(out.String(), erase+"stopping: writing 3/5")
		if got = strings.TrimSuffix(got, erase); end != erase || got != want && got != want+erase+"writing 2/5" {
			t.Errorf("%q, want %q: the line gives way to what is reported, never goes back, and is gone at the end", out.String(), want)
		}
	})
}

func TestNoProgressOnAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, out := range []io.Writer{w, &bytes.Buffer{}} {
		p := NewProgress(t.Context(), out)
		if p != nil {
			t.Errorf("%T is no terminal", out)
		}
		p.Note("reading", 0, 1)
		called := false
		Around(p, func(int) { called = true })(0)
		if p.End(); !called {
			t.Error("what is reported is reported without a terminal too")
		}
	}
}
