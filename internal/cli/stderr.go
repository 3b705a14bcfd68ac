package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/features"
	"k8s.io/klog/v2"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// secretValues returns those that are blanked on standard error; nil if none are.
func (e *env) secretValues() *redact.Values { return cmp.Or(e.blanked, term.Secrets(e.ErrOut)) }

// The kinds of lines on standard error that no report has.
const (
	noteOutcome diff.NoteKind = "outcome" // of a dry run, whose result is on standard output
	noteShown   diff.NoteKind = "shown"   // values of a Secret are printed
)

// remark prints a line about an object: the given words for people or, for programs, JSON of the
// same.
func (e *env) remark(n diff.Note, words string) error {
	if e.json {
		text, err := json.Marshal(n)
		if err != nil {
			return err
		}
		words = string(text)
	}
	_, err := fmt.Fprintln(e.line.Beside(e.ErrOut), words)
	return err
}

// logTo writes all log entries to w, each once; client-go logs by klog.
func logTo(w io.Writer) {
	logging := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logging)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL", "one_output": "true"} {
		_ = logging.Set(name, value) // each exists
	}
	klog.SetOutput(w)
	features.FeatureGates().Enabled(features.WatchListClient) // logs all gates when it is first asked: before -v is set
}

// addLogFlags adds the two of klog's flags that users of kubectl know.
func addLogFlags(flags *pflag.FlagSet) {
	all := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(all)
	for _, name := range []string{"v", "vmodule"} {
		flags.AddGoFlag(all.Lookup(name))
	}
}

// logged is a log sink for the library.
type logged struct{ warnings *warnings }

// Init does nothing.
func (logged) Init(klog.RuntimeInfo) {}

// Enabled returns false: only errors are handled.
func (logged) Enabled(int) bool { return false }

// Info drops the line.
func (logged) Info(int, string, ...any) {}

// Error passes on a message without an error; errors are returned elsewhere.
func (l logged) Error(err error, msg string, _ ...any) {
	if err == nil {
		l.warnings.HandleWarningHeaderWithContext(context.Background(), 299, "", msg)
	}
}

// WithValues changes nothing.
func (l logged) WithValues(...any) klog.LogSink { return l }

// WithName changes nothing.
func (l logged) WithName(string) klog.LogSink { return l }

// hush ends all logging: client-go's messages about a server that is down would appear on the
// completed command line, or among JSON.
func hush() { logTo(io.Discard) }

// asksJSON reports whether arguments ask for --notes=json, maybe by their profile, for errors in the flags
// themselves.
func asksJSON(ctx context.Context, args []string) bool {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags, flags.Usage = true, func() {}
	notes, name := flags.String("notes", "", ""), flags.String("profile", "", "")
	_ = flags.Parse(args) // errors are reported later
	p, _ := profileNamed(ctx, *name)
	return *notes == "json" || *notes == "" && slices.ContainsFunc(p.flags, func(s setting) bool { return s.flag == "notes" && s.values[0] == "json" })
}

// note prints a note on an object or a file, "" for none.
func (e *env) note(object, text string) {
	n := diff.Note{Object: object, Kind: noteProblem, Message: escape.Line(text)}
	words := "note: " + n.Message
	if object != "" {
		words = "note: " + escape.Line(object) + ": " + n.Message
	}
	_ = e.remark(n, words) // only stdout matters
}

// helpAt begins the only line break in an error: the pointer to the help that ends errors about the
// command line.
const helpAt = "\nSee '"

// oneLine is escape.Line for an error's text: it keeps the line break before a pointer to
// the help.
func oneLine(text string) string {
	if at := strings.LastIndex(text, helpAt); at >= 0 && !strings.Contains(text[at+1:], "\n") {
		return escape.Line(text[:at]) + "\n" + escape.Line(text[at+1:])
	}
	return escape.Line(text)
}

// longest is how much of an error is reported: a longer text is quoted input.
const longest = 4000

// errorText returns an error's text for people.
func errorText(text string) string {
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest*3/4], "") + " … " + strings.ToValidUTF8(text[len(text)-longest/4:], "")
	}
	return oneLine(text)
}

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

// pagers are the variables that name the pager's command, the first first.
var pagers = []string{"KUBECTL_MERGE_PAGER", "PAGER"}

// page makes later output on a terminal appear page by page; done shows it, and ends paging. An
// external program that shows a diff does its own paging.
func (c *call) page() (done func() error) {
	p := term.NewPager(c.Out, pagers...)
	if p == nil || c.asks() || c.found != nil || os.Getenv("KUBECTL_EXTERNAL_DIFF") != "" {
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
