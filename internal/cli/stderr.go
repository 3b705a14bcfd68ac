package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/features"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
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

// warnings collects warnings of servers, and of the client library. They are printed when the
// command ends, in the order of the objects' names; kubectl prints each as it comes.
//
// Unlike kubectl: the object is named, since a run may have many. Warnings of several
// objects that differ in nothing but names and numbers are one line with a count, as
// errors are; with --notes=json each is a note. And control characters are spelled
// out, as a server's words are not to be trusted with the user's screen.
type warnings struct {
	*env
	mu   sync.Mutex
	off  bool // warnings are dropped
	all  []warning
	seen map[warning]bool
}

// warning is one warning, with its object, "" for none.
type warning struct{ object, text string }

// hush drops all warnings.
func (w *warnings) hush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.off = true
}

// HandleWarningHeaderWithContext takes a warning, with the object of the request; others than 299 are
// not for users.
func (w *warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _ string, text string) {
	one := warning{text: text}
	if about, ok := cluster.Subject(ctx); ok {
		one.object = about.String()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.off || code != 299 || text == "" || w.seen[one] {
		return
	}
	w.seen[one] = true
	w.all = append(w.all, one)
}

// print prints the warnings of a command that has ended.
func (w *warnings) print() {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortStableFunc(w.all, func(a, b warning) int { return cmp.Compare(a.object, b.object) })
	if w.json {
		t := w.plainReporter()
		for _, one := range w.all {
			t.note("", diff.Note{Object: one.object, Kind: noteWarning, Message: errorText(w.secretValues().BlankOthers(one.text))})
		}
		return
	}
	label := "Warning:"
	if w.coloredErr() {
		label = "\x1b[33;1mWarning:\x1b[0m"
	}
	for _, g := range grouped(w.all) {
		text := g.first.text
		if g.first.object != "" {
			text = g.first.object + ": " + text
		}
		fmt.Fprintf(w.ErrOut, "%s %s%s\n", label, errorText(w.secretValues().BlankOthers(text)), g.more())
	}
}

// alike holds warnings of several objects that mean the same to a reader.
type alike struct {
	first  warning
	others int
	vary   bool // their texts differ
}

func (a alike) more() string {
	text := more(a.others)
	if a.vary {
		text = strings.TrimSuffix(text, ")") + ", with names and numbers of their own)"
	}
	return text
}

// particular matches the parts of a warning that are specific to one object.
var particular = regexp.MustCompile(`"[^"]*"|'[^']*'|[0-9]+`)

// grouped groups warnings that differ only in names and numbers; every warning of one object is
// separate.
func grouped(all []warning) (groups []alike) {
	type key struct {
		text string
		nth  int // among its object's
	}
	at := map[key]int{}
	had := map[warning]int{}
	for _, one := range all {
		shape := particular.ReplaceAllString(one.text, `""`)
		had[warning{one.object, shape}]++
		k := key{shape, had[warning{one.object, shape}]}
		i, ok := at[k]
		if !ok {
			at[k] = len(groups)
			groups = append(groups, alike{first: one})
			continue
		}
		groups[i].others++
		groups[i].vary = groups[i].vary || groups[i].first.text != one.text
	}
	return groups
}

// requestTimeout returns how long one request may take; 0 is without limit.
func (e *env) requestTimeout() (time.Duration, error) {
	text := e.limit
	if e.flags.Timeout != nil {
		text = *e.flags.Timeout
	}
	d, err := clientcmd.ParseTimeout(text)
	if err != nil {
		return 0, fmt.Errorf("--request-timeout=%s: %w", text, err)
	}
	return d, nil
}

// userAgent returns the name of the program for servers, in audit logs and priority levels.
func userAgent() string {
	v := thisVersion()
	return "kubectl-merge/" + v.Version + " (" + v.Platform + ")"
}

// connection returns kubectl's flags; their clients handle warnings as this program's do, and are bounded.
func (e *env) connection() *genericclioptions.ConfigFlags {
	e.warnings = &warnings{env: e, seen: map[warning]bool{}}
	flags := genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().WithDiscoveryQPS(50).WithDiscoveryBurst(300).
		WithWarningPrinter(genericiooptions.IOStreams{ErrOut: spelling{e.ErrOut, e.secretValues()}}).
		WithWrapConfigFn(func(c *rest.Config) *rest.Config {
			c.WarningHandler, c.WarningHandlerWithContext = nil, e.warnings
			c.UserAgent = userAgent()
			if d, err := e.requestTimeout(); err == nil {
				c.Timeout = d
			}
			cluster.Bound(c)
			return c
		})
	*flags.Timeout = strings.TrimSuffix(source.RequestTimeout.String(), "0s")
	return flags
}

// spelling passes lines on with control characters escaped.
type spelling struct {
	to     io.Writer
	secret *redact.Values
}

// Write takes whole lines.
func (s spelling) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		if _, err := fmt.Fprintln(s.to, errorText(s.secret.BlankOthers(strings.TrimSuffix(line, "\n")))); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}
