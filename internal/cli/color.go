package cli

import (
	"io"
	"os"

	"github.com/kubectl-merge/kubectl-merge/internal/term"
)

// colors reports whether output on w is colored, as --color asks.
func (e *env) colors(w io.Writer) bool {
	return e.color == "always" || e.color != "never" && term.Colors(w)
}

// style sets the color of standard error as the flag asks; on a terminal, lines are broken between
// words.
func (e *env) style() {
	r, ok := e.ErrOut.(*term.Stderr)
	if !ok {
		return
	}
	r.Style.Color = e.coloredErr() && !e.json
	if term.IsTerminal(r) && !e.json {
		r.Style.Width = term.Width(r)
	}
}

// terminal returns the terminal to ask the user on; nil if there is none. piped states that
// standard input is read for something else.
func (e *env) terminal(piped bool) *term.Terminal {
	t := term.Open(e.In, e.ErrOut, piped)
	if t != nil {
		t.Color = e.coloredErr()
	}
	return t
}

// page makes later output on a terminal appear page by page; done shows it, and ends paging. An
// external program that shows a diff does its own paging.
func (c *call) page() (done func() error) {
	p := term.NewPager(c.Out, "KUBECTL_MERGE_PAGER", "PAGER")
	if p == nil || c.asks() || os.Getenv("KUBECTL_EXTERNAL_DIFF") != "" {
		return func() error { return nil }
	}
	out := c.Out
	c.Out = p
	r, ok := c.ErrOut.(*term.Stderr)
	if ok {
		r.Pager = p.Stream(r.To)
	}
	return func() error {
		c.Out = out
		if ok {
			r.Pager = nil
		}
		return p.Close()
	}
}
