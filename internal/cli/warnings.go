package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

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
