package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

// progress says on a terminal how far a run is, in one line that is written over and
// leaves nothing behind. nil says nothing.
type progress struct {
	w     io.Writer
	every time.Duration // between two looks
	after time.Duration // nothing is said before that

	mu          sync.Mutex
	phase       run.Phase
	done, total int
	shown       bool          // there is a line to take away
	stop        chan struct{} // closed to end the looking; nil while nobody looks
	stopped     chan struct{} // closed when it has ended
}

// progress is for a user who sits at standard error, and did not ask for quiet.
func (e *env) progress(quiet bool) *progress {
	f, ok := asFile(e.ErrOut)
	if !ok || quiet || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progress{w: f, every: 100 * time.Millisecond, after: time.Second}
}

// report is what a Job is to tell.
func (p *progress) report() run.Progress {
	if p == nil {
		return nil
	}
	return p.note
}

func (p *progress) note(phase run.Phase, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if phase == p.phase && total == p.total {
		done = max(done, p.done) // whoever counts may be overtaken on the way here
	}
	p.phase, p.done, p.total = phase, done, total
	if p.stop == nil {
		p.stop, p.stopped = make(chan struct{}), make(chan struct{})
		go p.look(p.stop, p.stopped)
	}
}

// look shows the line again and again until stop is closed.
func (p *progress) look(stop <-chan struct{}, stopped chan<- struct{}) {
	defer close(stopped)
	for pause := p.after; ; pause = p.every {
		select {
		case <-stop:
			return
		case <-time.After(pause):
			p.mu.Lock()
			fmt.Fprintf(p.w, "\r\x1b[K%s %d/%d", p.phase, p.done, p.total)
			p.shown = true
			p.mu.Unlock()
		}
	}
}

// around keeps the line out of the way of what tell prints.
func (p *progress) around(tell func(*run.Item)) func(*run.Item) {
	if p == nil {
		return tell
	}
	return func(item *run.Item) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.clear()
		tell(item)
	}
}

// beside is w for whoever writes while the line may be there.
func (p *progress) beside(w io.Writer) io.Writer {
	if p == nil {
		return w
	}
	return lineless{p, w}
}

// lineless takes the line away before it writes.
type lineless struct {
	p *progress
	w io.Writer
}

// Write writes whole lines.
func (l lineless) Write(b []byte) (int, error) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.p.clear()
	return l.w.Write(b)
}

// clear takes the line away; the lock is held.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// end takes the line away until there is something to report again.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.mu.Lock()
	stop, stopped := p.stop, p.stopped
	p.stop = nil
	p.mu.Unlock()
	if stop == nil {
		return
	}
	close(stop)
	<-stopped
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}
