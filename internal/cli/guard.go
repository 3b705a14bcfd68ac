package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

// guardFlag states what to do about other managers of the objects.
type guardFlag struct {
	mode    string
	refused error // of a preview, which is shown nevertheless
}

func (f *guardFlag) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.mode, "guard", "warn", "objects and fields that somebody else manages (Flux, Argo CD, Helm, an autoscaler) and may change back: warn, refuse (exit 3, nothing is written) or off")
}

func (f *guardFlag) validate() error {
	switch f.mode {
	case "warn", "refuse", "off":
		return nil
	}
	return fmt.Errorf("--guard=%s: must be warn, refuse or off", f.mode)
}

// noteGuard is the kind of a note about who else manages an object or a field.
const noteGuard diff.NoteKind = "guard"

// check reports who else manages the objects to be written. With --guard=refuse, other managers are
// an error with exit code 3; that of a preview is kept for its end.
func (f *guardFlag) check(ctx context.Context, s *session, notes *reporter, mode dryRun) error {
	if f.mode == "off" {
		for _, item := range s.Items {
			if item.Guards != nil {
				item.Own()
				item.Guards = nil
			}
		}
		return nil
	}
	if s.api != nil {
		s.Guard(ctx, s.api)
	}
	objects := 0
	for _, item := range s.Items {
		if len(item.Guards) > 0 && item.Err == nil {
			objects++
			notes.guards(item)
		}
	}
	if objects == 0 || f.mode != "refuse" {
		return nil
	}
	what := "1 object is managed by somebody else, too"
	if objects > 1 {
		what = fmt.Sprintf("%d objects are managed by somebody else, too", objects)
	}
	f.refused = &exit{Code: conflicted, Err: errors.New("--guard=refuse: " + what + ": nothing was written: see the notes, or merge with --guard=warn")}
	if mode == dryNone && s.Failed() == nil {
		return f.refused
	}
	return nil
}

// ended returns the error that a verb ends with: its own, otherwise that of a refused preview.
func (f *guardFlag) ended(err error) error {
	if err != nil {
		return err
	}
	return f.refused
}

// guards reports who else manages an item, or fields of it.
func (t *reporter) guards(item *run.Item) {
	if t.quiet {
		return
	}
	for _, n := range guardNotes(item) {
		t.note("note", n)
	}
}

func guardNotes(item *run.Item) []diff.Note {
	var notes []diff.Note
	for _, f := range item.Guards {
		notes = append(notes, diff.Note{Object: item.Target.String(), Namespace: item.Target.Namespace, Kind: noteGuard, Path: f.Path, Message: escape.Line(f.Text)})
	}
	return notes
}
