package term

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Progress shows on a terminal how far a run is, in one line that is overwritten and finally
// erased. nil shows nothing.
type Progress struct {
	w     io.Writer
	ended func() error  // an error once the run is to end, which the line says
	every time.Duration // between two updates
	after time.Duration // nothing is shown before that

	mu          sync.Mutex
	phase       string
	done, total int
	shown       bool          // there is a line to erase
	paused      bool          // a report is printed, and no line among its own
	stop        chan struct{} // closed to end the updates; nil while there are none
	stopped     chan struct{} // closed when it has ended
}

// NewProgress shows progress on w of a run that ctx ends; nil if w is not a terminal.
func NewProgress(ctx context.Context, w io.Writer) *Progress {
	f, ok := asTerminal(w)
	if !ok || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &Progress{w: f, ended: ctx.Err, every: 100 * time.Millisecond, after: time.Second}
}

// Note shows how far a phase is. Several goroutines may call it at once.
func (p *Progress) Note(phase string, done, total int) {
	if p == nil {
		return
	}
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
func (p *Progress) look(stop <-chan struct{}, stopped chan<- struct{}) {
	defer close(stopped)
	for pause := p.after; ; pause = p.every {
		select {
		case <-stop:
			return
		case <-time.After(pause):
			p.show()
		}
	}
}

// show writes the line anew.
func (p *Progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paused {
		return
	}
	phase := p.phase
	if p.ended() != nil {
		phase = "stopping: " + phase
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s %d/%d", phase, p.done, p.total)
	p.shown = true
}

// Around erases the line before report prints, which may write Beside it, and shows it again afterwards.
func Around[T any](p *Progress, report func(T)) func(T) {
	if p == nil {
		return report
	}
	return func(item T) {
		p.pause(true)
		defer p.pause(false)
		report(item)
	}
}

// pause erases the line, and keeps it from being shown as long as paused is set.
func (p *Progress) pause(paused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.paused = paused
}

// Beside returns w for writes while the line may be shown.
func (p *Progress) Beside(w io.Writer) io.Writer {
	if p == nil {
		return w
	}
	return lineless{p, w}
}

// lineless erases the line before it writes.
type lineless struct {
	p *Progress
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
func (p *Progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// End erases the line until Note is called again.
func (p *Progress) End() {
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
