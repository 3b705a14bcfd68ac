package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := &progress{w: &out, every: 100 * time.Millisecond, after: time.Second}
		tell := p.around(func(item *run.Item) { out.WriteString("reported\n") })

		p.note(run.Reading, 0, 5)
		time.Sleep(900 * time.Millisecond)
		p.note(run.Reading, 3, 5)
		if p.end(); out.Len() > 0 {
			t.Errorf("a run of less than a second says nothing, not %q", out.String())
		}

		p.note(run.Writing, 0, 5)
		tell(nil)
		time.Sleep(1050 * time.Millisecond)
		p.note(run.Writing, 2, 5)
		p.note(run.Writing, 1, 5)
		time.Sleep(100 * time.Millisecond)
		tell(nil)
		tell(nil)
		time.Sleep(50 * time.Millisecond)
		p.end()
		p.end()
		const erase = "\r\x1b[K"
		want := "reported\n" + erase + "writing 0/5" + erase + "writing 2/5" + erase + "reported\nreported\n"
		if got := strings.TrimSuffix(out.String(), erase); got != want && got != want+erase+"writing 2/5" {
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
	for _, out := range []*env{
		{IOStreams: genericiooptions.IOStreams{ErrOut: w}},
		{IOStreams: genericiooptions.IOStreams{ErrOut: &bytes.Buffer{}}},
	} {
		p := out.progress(false)
		if p != nil || p.report() != nil {
			t.Errorf("%T is no terminal", out.ErrOut)
		}
		called := false
		p.around(func(*run.Item) { called = true })(nil)
		if p.end(); !called {
			t.Error("what is reported is reported without a terminal too")
		}
	}
}
