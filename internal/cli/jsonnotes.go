package cli

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

// notesFormat is the flag --notes: whether standard error is JSON.
type notesFormat struct{ json *bool }

// String returns the flag's value.
func (f notesFormat) String() string {
	if f.json != nil && *f.json {
		return "json"
	}
	return "text"
}

// Type returns help's name for the value.
func (f notesFormat) Type() string { return "string" }

// Set sets the flag's value.
func (f notesFormat) Set(text string) error {
	if text != "text" && text != "json" {
		return errors.New("must be text or json")
	}
	*f.json = text == "json"
	return nil
}

func (f notesFormat) add(flags *pflag.FlagSet) {
	flags.Var(f, "notes", "format of notes, errors and outcomes on stderr: text, or json (a line each)")
}

// asksJSON reports whether arguments ask for --notes=json, for errors in the flags themselves.
func asksJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	value := slices.Index(args, "--notes") + 1
	return slices.Contains(args, "--notes=json") || value > 0 && value < len(args) && args[value] == "json"
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
