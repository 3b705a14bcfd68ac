package term

import (
	"context"
	"io"
)

// Stdin returns standard input as a reader that may block for ever: the end of ctx ends the wait.
func Stdin(ctx context.Context, in io.Reader) io.Reader { return &patient{ctx: ctx, from: in} }

// patient reads in a separate goroutine, since a read cannot be interrupted otherwise.
type patient struct {
	ctx  context.Context
	from io.Reader
	got  chan chunk // nil until the first read
	left []byte
}

// chunk is the result of one read.
type chunk struct {
	data []byte
	err  error
}

// Read returns the received bytes; once ctx has ended, that is the error.
func (p *patient) Read(b []byte) (int, error) {
	if p.got == nil {
		p.got = make(chan chunk)
		go p.pump()
	}
	if len(p.left) == 0 {
		select {
		case <-p.ctx.Done():
			return 0, ErrInterrupted
		case c := <-p.got:
			if c.err != nil {
				return 0, c.err
			}
			p.left = c.data
		}
	}
	n := copy(b, p.left)
	p.left = p.left[n:]
	return n, nil
}

// pump passes chunks on until the input ends, and its error as long as reads follow.
func (p *patient) pump() {
	for {
		data := make([]byte, 64<<10)
		n, err := p.from.Read(data)
		if n > 0 && !p.hand(chunk{data: data[:n]}) {
			return
		}
		for err != nil {
			if !p.hand(chunk{err: err}) {
				return
			}
		}
	}
}

func (p *patient) hand(c chunk) bool {
	select {
	case p.got <- c:
		return true
	case <-p.ctx.Done():
		return false
	}
}
