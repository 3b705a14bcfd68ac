package term

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	xterm "golang.org/x/term"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// Stderr is standard error, the only output for people and logs. The values of the run's Secrets
// are blanked in it, whatever their source. Text written at once stays together, so that no line is
// inside another.
type Stderr struct {
	To     io.Writer
	Values redact.Values
	Shown  bool                // the user asked for the values
	Rename func(string) string // puts the program's name as it was called into messages; nil does nothing

	Style Style     // of what is written
	Pager io.Writer // receives it instead of To; may be nil

	mu sync.Mutex
}

// Write writes whole lines. The values of Secrets are blanked in them, unless Shown. The error is
// that of the underlying stream.
func (r *Stderr) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := string(b)
	switch {
	case r.Shown:
	case json.Valid(b): // notes and errors for programs
		text = r.Values.BlankJSON(text)
	default:
		text = r.Values.Blank(text)
	}
	if r.Rename != nil {
		text = r.Rename(text)
	}
	if _, err := io.WriteString(cmp.Or(r.Pager, r.To), r.Style.Apply(text)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Secrets returns the values that are blanked in writes to w; nil if none are.
func Secrets(w io.Writer) *redact.Values {
	if r, ok := w.(*Stderr); ok && !r.Shown {
		return &r.Values
	}
	return nil
}

// Direct returns a stream as the process received it: to determine whether it is a terminal, and
// for programs that are run. What is collected to be printed on it has a method Unwrap.
func Direct(w io.Writer) io.Writer {
	switch w := w.(type) {
	case interface{ Unwrap() io.Writer }:
		return Direct(w.Unwrap())
	case *Stderr:
		return w.To
	case *Pager:
		return w.to
	}
	return w
}

// IsTerminal reports whether a stream, to read or to write, is a terminal.
func IsTerminal(stream any) bool {
	_, ok := asTerminal(stream)
	return ok
}

// asTerminal returns the file of a stream, if it is a terminal.
func asTerminal(stream any) (*os.File, bool) {
	if w, ok := stream.(io.Writer); ok {
		stream = Direct(w)
	}
	f, ok := stream.(*os.File)
	return f, ok && xterm.IsTerminal(int(f.Fd()))
}

// Colors reports whether w is a terminal with colors and NO_COLOR is not set
// (https://no-color.org).
func Colors(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Width returns the number of columns of w: the value of COLUMNS, otherwise the terminal's; 0 if w
// is not a terminal.
func Width(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	f, ok := asTerminal(w)
	if !ok {
		return 0
	}
	n, _, _ := xterm.GetSize(int(f.Fd())) // 0 with an error
	return n
}

// Style is the appearance of lines for people on a terminal. Its zero value leaves them unchanged.
type Style struct {
	Color bool
	Width int // of the terminal, at which lines are broken between words; 0: nowhere
}

// The colors of git, for the first word of a line, and for lines of a diff.
var (
	wordColors = map[string]string{"error: ": "\x1b[1;31m", "Warning: ": diff.Yellow, "note: ": diff.Cyan}
	diffColors = map[byte]string{'+': diff.Green, '-': diff.Red, '@': diff.Cyan, '<': diff.Yellow, '=': diff.Yellow, '>': diff.Yellow}
)

// Apply adds color and line breaks to notes, errors, warnings and the indented lines below them.
// Other lines are unchanged.
func (s Style) Apply(text string) string {
	if !s.Color && s.Width == 0 {
		return text
	}
	var b strings.Builder
	below := false // a note or an error
	for line := range strings.Lines(text) {
		body := strings.TrimSuffix(line, "\n")
		word := leading(body)
		below = word != "" || below && strings.HasPrefix(body, "  ")
		if below {
			body = s.line(body, word)
		}
		b.WriteString(body + line[len(strings.TrimSuffix(line, "\n")):])
	}
	return b.String()
}

// leading returns the word that a line begins with; "" unless it is a note, an error or a warning.
func leading(line string) string {
	for word := range wordColors {
		if strings.HasPrefix(line, word) {
			return word
		}
	}
	return ""
}

func (s Style) line(line, word string) string {
	bare := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(bare)]
	switch {
	case word != "" || bare == "":
	case strings.HasPrefix(bare, "--- "), strings.HasPrefix(bare, "+++ "): // lines of a diff are never broken
		return indent + diff.Paint(bare, diff.Bold, s.Color)
	case diffColors[bare[0]] != "":
		return indent + diff.Paint(bare, diffColors[bare[0]], s.Color)
	case len(indent)%2 == 1: // its context
		return line
	}
	text := strings.Join(Wrap(bare, s.Width-len(indent)), "\n"+indent)
	if word != "" {
		head := strings.TrimSuffix(word, " ")
		rest := strings.TrimPrefix(text, head) // continues in the same line, or in the next
		if same, ok := strings.CutPrefix(rest, " "); ok {
			rest = " " + s.objectLine(same)
		}
		text = diff.Paint(head, wordColors[word], s.Color) + rest
	}
	return indent + text
}

// objectLine prints the object at the beginning of the text in bold type: deployment.apps/web.
func (s Style) objectLine(text string) string {
	name, rest, ok := strings.Cut(text, ":")
	if !ok || !strings.Contains(name, "/") || strings.ContainsAny(name, " \n") {
		return text
	}
	return diff.Paint(name, diff.Bold, s.Color) + ":" + rest
}

// Wrap breaks a text between words into lines of at most width characters; all but the first are
// indented. A word longer than a line, and a command at the end, stay whole, so that they can be
// copied. A width below 1 breaks nothing.
func Wrap(text string, width int) []string {
	const indent = "  "
	if width < 1 || utf8.RuneCountInString(text) <= width {
		return []string{text}
	}
	command := ""
	if at := strings.LastIndex(text, ": kubectl merge "); at >= 0 {
		text, command = text[:at+1], text[at+2:]
	}
	words := strings.Split(strings.ReplaceAll(text, "kubectl merge", "kubectl\x00merge"), " ")
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, "\x00", " ")
	}
	if command != "" {
		words = append(words, command)
	}
	return Fill(words, width, indent)
}

// Fill puts words into lines of at most width characters; all but the first begin with indent. A word longer
// than a line is one.
func Fill(words []string, width int, indent string) (lines []string) {
	for i, word := range words {
		switch last := len(lines) - 1; {
		case i == 0:
			lines = append(lines, word)
		case utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, indent+word)
		default:
			lines[last] += " " + word
		}
	}
	return lines
}
