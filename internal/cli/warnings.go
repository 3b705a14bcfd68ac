package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
)

// warnings prints what a server warns of, each warning once, for the first object that
// it is about. It is kubectl's line.
//
// Unlike kubectl: the object is named, since a run may have many; and what a terminal
// would obey is spelled out, as a server's words are not to be trusted with the user's
// screen.
type warnings struct {
	*env
	mu   sync.Mutex
	off  bool // nobody is told
	told map[string]bool
}

// hush has nobody told.
func (w *warnings) hush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.off = true
}

// HandleWarningHeader tells a warning; others than 299 are not for users.
func (w *warnings) HandleWarningHeader(code int, agent, text string) {
	w.HandleWarningHeaderWithContext(context.Background(), code, agent, text)
}

// HandleWarningHeaderWithContext is the same, with the object that the request is about.
func (w *warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.off || code != 299 || text == "" || w.told[text] {
		return
	}
	if w.told == nil {
		w.told = map[string]bool{}
	}
	w.told[text] = true
	label := "Warning:"
	if w.coloredErr() {
		label = "\x1b[33;1mWarning:\x1b[0m"
	}
	if about, ok := cluster.Subject(ctx); ok {
		text = about.String() + ": " + text
	}
	fmt.Fprintf(w.line.beside(w.ErrOut), "%s %s\n", label, errorText(w.secretValues().Blank(text)))
}

// timeout is how long one request may take; 0 is as long as it likes.
func (e *env) timeout() (time.Duration, error) {
	d, err := clientcmd.ParseTimeout(*e.flags.Timeout)
	if err != nil {
		return 0, fmt.Errorf("--request-timeout=%s: %w", *e.flags.Timeout, err)
	}
	return d, nil
}

// userAgent is by what servers know the program, in audit logs and priority levels.
func userAgent() string {
	v := thisVersion()
	return "kubectl-merge/" + v.Version + " (" + v.Platform + ")"
}

// connection are kubectl's flags, whose clients warn as ours does, and are bounded.
func (e *env) connection() *genericclioptions.ConfigFlags {
	e.warnings = &warnings{env: e}
	flags := genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().WithDiscoveryQPS(50).WithDiscoveryBurst(300).
		WithWarningPrinter(genericiooptions.IOStreams{ErrOut: spelling{e.ErrOut, e.secretValues()}}).
		WithWrapConfigFn(func(c *rest.Config) *rest.Config {
			c.WarningHandler, c.WarningHandlerWithContext = nil, e.warnings
			c.UserAgent = userAgent()
			cluster.Bound(c)
			return c
		})
	*flags.Timeout = strings.TrimSuffix(source.RequestTimeout.String(), "0s")
	return flags
}

// spelling passes lines on with what a terminal would obey spelled out.
type spelling struct {
	to     io.Writer
	secret *redact.Values
}

// Write takes whole lines.
func (s spelling) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		if _, err := fmt.Fprintln(s.to, errorText(s.secret.Blank(strings.TrimSuffix(line, "\n")))); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}
