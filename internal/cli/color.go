package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/term"
)

// color is the flag --color.
type color string

// When output is colored.
const (
	colorAuto   color = "auto" // on a terminal, unless NO_COLOR is set
	colorAlways color = "always"
	colorNever  color = "never"
)

func (c *color) String() string { return string(*c) }
func (c *color) Type() string   { return "string" }

// Set sets the flag's value.
func (c *color) Set(text string) error {
	switch *c = color(text); *c {
	case colorAuto, colorAlways, colorNever:
		return nil
	}
	return fmt.Errorf("must be %s, %s or %s", colorAuto, colorAlways, colorNever)
}

func (c *color) add(flags *pflag.FlagSet) {
	*c = colorAuto
	flags.Var(c, "color", "color output: auto (on a terminal, unless NO_COLOR is set), always or never")
	flags.Lookup("color").NoOptDefVal = string(colorAlways)
}

// on reports whether output on w is colored.
func (c color) on(w io.Writer) bool {
	switch c {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	return term.Colors(w)
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
