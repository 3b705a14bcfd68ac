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

// Set takes the flag's value.
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

// on reports whether what is printed on w is colored.
func (c color) on(w io.Writer) bool {
	switch c {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	return term.Colors(w)
}

// style has standard error colored as the flag asks, and broken between words where it is a
// terminal.
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

// terminal is where the user is asked; nil if there is nobody. piped: standard input is read
// for something else.
func (e *env) terminal(piped bool) *term.Terminal {
	t := term.Open(e.In, e.ErrOut, piped)
	if t != nil {
		t.Color = e.coloredErr()
	}
	return t
}

// page has what is printed from now on shown page by page, where it is printed on a terminal;
// done shows it, and ends that. An external program that shows a diff is left to do so itself.
func (e *env) page() (done func() error) {
	p := term.NewPager(e.Out, "KUBECTL_MERGE_PAGER", "PAGER")
	if p == nil || os.Getenv("KUBECTL_EXTERNAL_DIFF") != "" {
		return func() error { return nil }
	}
	out := e.Out
	e.Out = p
	r, ok := e.ErrOut.(*term.Stderr)
	if ok {
		r.Pager = p.Stream(r.To)
	}
	return func() error {
		e.Out = out
		if ok {
			r.Pager = nil
		}
		return p.Close()
	}
}
