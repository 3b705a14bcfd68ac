package cli

import (
	"cmp"
	"context"
	"errors"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/guard"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// noteGuard is the kind of a note about who else manages an object or a field.
const noteGuard diff.NoteKind = "guard"

// checkGuard reports who else manages the objects to be written. With --guard=refuse, other managers are
// an error with exit code 3; that of a preview is kept for its end.
func (c *call) checkGuard(ctx context.Context, s *session, notes *reporter) error {
	if c.guard == "off" {
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
	objects, found := 0, []diff.Note(nil)
	for _, item := range s.Items {
		if len(item.Guards) > 0 && item.Err == nil {
			objects++
			for _, n := range guardNotes(item) {
				notes.hint(n)
				found = append(found, n)
			}
		}
	}
	if objects == 0 || c.guard != "refuse" {
		return nil
	}
	what := diff.Count(objects, "object is", "objects are") + " managed by somebody else, too"
	c.refused = &exit{Code: conflicted, Err: &guardError{errors.New("--guard=refuse: " + what + ": nothing was written: see the notes, or merge with --guard=warn"), found}}
	if c.mode == dryNone && s.Failed() == nil {
		return c.refused
	}
	return nil
}

// guardError is the error of --guard=refuse, with all that somebody else manages.
type guardError struct {
	error
	found []diff.Note
}

// guarded returns the error that a verb ends with: its own, otherwise that of a refused preview.
func (c *call) guarded(err error) error {
	return cmp.Or(err, c.refused)
}

func guardNotes(item *run.Item) []diff.Note {
	return each(item.Guards, func(f guard.Finding) diff.Note {
		return diff.Note{Object: item.Target.String(), Namespace: item.Target.Namespace, Kind: noteGuard, Path: f.Path, Message: escape.Line(f.Text)}
	})
}
