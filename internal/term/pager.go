package term

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	xterm "golang.org/x/term"
)

// Pager collects the output to a terminal, and shows it page by page when it is complete, as git
// does (https://git-scm.com/docs/git-config#Documentation/git-config.txt-corepager). Output that
// fits the screen is printed directly.
type Pager struct {
	to      *os.File // the terminal
	command string
	height  int
	width   int

	mu    sync.Mutex
	parts []part
}

// part is the output to one stream.
type part struct {
	to   io.Writer
	text []byte
}

// NewPager returns a pager for the terminal w. It runs the command in the first of the variables
// that is set, otherwise less. It is nil if w is not a terminal, or the command is "" or cat.
func NewPager(w io.Writer, variables ...string) *Pager {
	f, ok := asTerminal(w)
	if !ok || os.Getenv("TERM") == "dumb" {
		return nil
	}
	command := pagerCommand(variables)
	width, height, err := xterm.GetSize(int(f.Fd()))
	if command == "" || command == "cat" || err != nil || height == 0 {
		return nil
	}
	return &Pager{to: f, command: command, width: width, height: height}
}

func pagerCommand(variables []string) string {
	for _, name := range variables {
		if command, set := os.LookupEnv(name); set {
			return strings.TrimSpace(command)
		}
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return "less"
}

// Write collects a text for the terminal. The error is that of the terminal; text for the pager has
// none.
func (p *Pager) Write(b []byte) (int, error) { return p.Stream(p.to).Write(b) }

// Stream returns a writer for another stream: part of the pager if it is a terminal, too, otherwise the stream itself.
func (p *Pager) Stream(to io.Writer) io.Writer {
	if _, ok := asTerminal(to); !ok {
		return to
	}
	return paged{p, to}
}

type paged struct {
	*Pager
	to io.Writer
}

// Write collects the text, in order with those of other streams.
func (w paged) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parts = append(w.parts, part{w.to, bytes.Clone(b)})
	return len(b), nil
}

// Close shows the collected text. If the pager cannot be started, the text is printed directly. The
// error is one of printing.
func (p *Pager) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []byte
	for _, part := range p.parts {
		all = append(all, part.text...)
	}
	if rows(string(all), p.width) >= p.height && p.run(all) {
		return nil
	}
	for _, part := range p.parts {
		if _, err := part.to.Write(part.text); err != nil {
			return err
		}
	}
	return nil
}

// rows returns how many rows of the screen a text needs.
func rows(text string, width int) (n int) {
	for line := range strings.Lines(text) {
		n += 1 + max(utf8.RuneCountInString(strings.TrimRight(line, "\n"))-1, 0)/max(width, 1)
	}
	return n
}

// run shows a text by the pager's command, and reports whether that could be started.
func (p *Pager) run(text []byte) bool {
	cmd := exec.Command("sh", "-c", p.command)
	if runtime.GOOS == "windows" {
		words := strings.Fields(p.command)
		cmd = exec.Command(words[0], words[1:]...)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), p.to, p.to
	cmd.Env = os.Environ()
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, set := os.LookupEnv(name); !set {
			cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%s", name, value))
		}
	}
	if cmd.Start() != nil {
		return false
	}
	_ = cmd.Wait() // a pager's exit code is not an error
	return true
}
