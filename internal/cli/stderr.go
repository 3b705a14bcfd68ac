package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
)

// stderr is standard error: the one place where text leaves that is for people or
// logs. The values of the run's Secrets are blanked in it, whoever wrote it; what is
// written at once stays together, so that no line stands within another.
type stderr struct {
	mu     sync.Mutex
	to     io.Writer
	values redact.Values
	shown  bool // the user asked for the values
}

// Write writes whole lines.
func (r *stderr) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := string(b)
	if !r.shown {
		text = r.values.Blank(text)
	}
	if _, err := io.WriteString(r.to, text); err != nil {
		return 0, err
	}
	return len(b), nil
}

// secretValues are those that are blanked on standard error; nil where nothing is.
func (e *env) secretValues() *redact.Values {
	if r, ok := e.ErrOut.(*stderr); ok && !r.shown {
		return &r.values
	}
	return nil
}

// showSecrets has nothing blanked where --show-secrets is among the flags and set.
func (e *env) showSecrets(flags *pflag.FlagSet) {
	r, ok := e.ErrOut.(*stderr)
	if shown, err := flags.GetBool("show-secrets"); ok && err == nil {
		r.shown = shown
	}
}

// The kinds of lines on standard error that no report has.
const (
	noteOutcome diff.NoteKind = "outcome" // of a dry run, whose result is on standard output
	noteShown   diff.NoteKind = "shown"   // values of a Secret are printed
)

// remark prints a line about an object: the words for people that it is given, or, where
// programs read, JSON of the same.
func (e *env) remark(n diff.Note, words string) error {
	if e.json {
		text, err := json.Marshal(n)
		if err != nil {
			return err
		}
		words = string(text)
	}
	_, err := fmt.Fprintln(e.line.beside(e.ErrOut), words)
	return err
}

// direct is a stream as it was given to the process: for who needs to know whether it
// is a terminal, and for programs that are run.
func direct(w any) any {
	if r, ok := w.(*stderr); ok {
		return r.to
	}
	return w
}

// asFile is the file that a stream is, if it is one.
func asFile(w any) (*os.File, bool) {
	f, ok := direct(w).(*os.File)
	return f, ok
}

// logTo has everything logged written to w, each entry once; client-go logs by klog.
func logTo(w io.Writer) {
	logging := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logging)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL", "one_output": "true"} {
		_ = logging.Set(name, value) // each is there
	}
	klog.SetOutput(w)
}
