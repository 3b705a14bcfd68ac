package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
)

// secretValues returns those that are blanked on standard error; nil if none are.
func (e *env) secretValues() *redact.Values { return term.Secrets(e.ErrOut) }

// showSecrets disables blanking if --show-secrets is among the flags and set.
func (e *env) showSecrets(flags *pflag.FlagSet) {
	r, ok := e.ErrOut.(*term.Stderr)
	if shown, err := flags.GetBool("show-secrets"); ok && err == nil {
		r.Shown = shown
	}
}

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
}
