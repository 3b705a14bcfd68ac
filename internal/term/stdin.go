package term

import (
	"context"
	"io"
)

// Stdin is standard input as a text that may take for ever to come: the end of ctx
// ends the wait.
func Stdin(ctx context.Context, in io.Reader) io.Reader { return &patient{ctx: ctx, from: in} }

// patient reads in a goroutine of its own, as nothing else cuts a read short.
type patient struct {
	ctx  context.Context
	from io.Reader
	got  chan chunk // nil until the first read
	left []byte
}

// chunk is what one read gave.
type chunk struct {
	data []byte
	err  error
}

// Read reads what has come; once ctx has ended, that is the error.
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

// pump hands on what comes until there is no more, and what ended it for as long as
// anybody asks.
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
