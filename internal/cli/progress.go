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

// progress shows on a terminal how far a run is, in one line that is overwritten and finally
// erased. nil shows nothing.
type progress struct {
	w     io.Writer
	every time.Duration // between two updates
	after time.Duration // nothing is shown before that

	mu          sync.Mutex
	phase       run.Phase
	done, total int
	shown       bool          // there is a line to erase
	stop        chan struct{} // closed to end the updates; nil while there are none
	stopped     chan struct{} // closed when it has ended
}

// progress is shown if standard error is a terminal, unless quiet is set.
func (e *env) progress(quiet bool) *progress {
	f, ok := asFile(e.ErrOut)
	if !ok || quiet || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progress{w: f, every: 100 * time.Millisecond, after: time.Second}
}

// report is the Progress of a Job; nil for none.
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
		done = max(done, p.done) // calls may arrive out of order
	}
	p.phase, p.done, p.total = phase, done, total
	if p.stop == nil {
		p.stop, p.stopped = make(chan struct{}), make(chan struct{})
		go p.look(p.stop, p.stopped)
	}
}

// look updates the line until stop is closed.
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

// around erases the line before report prints.
func (p *progress) around(report func(*run.Item)) func(*run.Item) {
	if p == nil {
		return report
	}
	return func(item *run.Item) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.clear()
		report(item)
	}
}

// beside is w for writing while the line may be shown.
func (p *progress) beside(w io.Writer) io.Writer {
	if p == nil {
		return w
	}
	return lineless{p, w}
}

// lineless erases the line before it writes.
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

// clear erases the line. The caller holds the lock.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// end erases the line until note is called again.
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
