package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/batch"
)

// noteFlags say what is told on stderr.
type noteFlags struct {
	quiet bool
	notes string
}

func (f *noteFlags) add(flags *pflag.FlagSet) {
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "tell errors only, no notes")
	flags.StringVar(&f.notes, "notes", "text", "how notes on stderr are written: text or json")
}

// teller tells what happens beside the outcome: what was overwritten, removed,
// ignored.
type teller struct {
	w     io.Writer
	quiet bool
	json  bool
	files map[string]bool // whose ignored fields have been told
}

func (f *noteFlags) teller(e *env) (*teller, error) {
	if f.notes != "text" && f.notes != "json" {
		return nil, fmt.Errorf("--notes=%s: must be text or json", f.notes)
	}
	return &teller{w: e.ErrOut, quiet: f.quiet, json: f.notes == "json", files: map[string]bool{}}, nil
}

func (t *teller) item(item *batch.Item) {
	if t.quiet {
		return
	}
	name := item.Target.String()
	p := item.Outcome.Planned
	for _, text := range p.Problems {
		t.note(name, text)
	}
	for _, text := range item.Outcome.Notes {
		t.note(name, text)
	}
}

func (t *teller) note(object, text string) {
	fmt.Fprintf(t.w, "note: %s\n", oneLine(object+": "+text))
}

// unsettled joins the conflicts that are left to the user.
func (t *teller) unsettled(items []*batch.Item) error {
	var errs []error
	for _, item := range items {
		for _, c := range item.Outcome.Planned.Conflicts {
			errs = append(errs, fmt.Errorf("%s: %s: conflict", item.Target, c.Path))
		}
	}
	return errors.Join(errs...)
}
