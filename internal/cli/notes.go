package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/impact"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// mostNotes is how many notes one object gets; the rest is counted.
const mostNotes = 10

// reporter prints notes besides the outcome: values that were overwritten, removed, ignored, or
// left to the user.
type reporter struct {
	*env
	quiet   bool
	secrets bool            // show the values of Secrets
	preview bool            // nothing is written
	grouped bool            // notes on one object are printed below its name
	files   map[string]bool // whose ignored fields have been reported
	printed map[string]bool // remedies that have been printed
	still   int             // objects with undecided values
}

// reporter returns the reporter of a run's notes.
func (c *call) reporter() *reporter {
	r := c.plainReporter()
	r.quiet, r.secrets, r.preview, r.grouped = c.quiet, c.secrets, c.mode != dryNone, !c.json && term.IsTerminal(c.ErrOut)
	return r
}

// note prints a note as env's does, unless --quiet leaves it out.
func (c *call) note(object, text string) {
	if !c.quiet {
		c.env.note(object, text)
	}
}

// plainReporter returns a reporter of notes that belong to no run.
func (e *env) plainReporter() *reporter {
	return &reporter{env: e, files: map[string]bool{}, printed: map[string]bool{}}
}

// noteProblem is the kind of a note about a problem besides the merge: an unreadable annotation, a
// missing feature of the server.
const noteProblem diff.NoteKind = "problem"

// noteKept is the kind of a note about an object that is missing in the input, and kept.
const noteKept diff.NoteKind = "kept"

func (t *reporter) item(item *run.Item) {
	if t.quiet {
		return
	}
	t.problems(item)
	if item.Rendered == nil { // a rendered item has none on its values; see rendering
		t.brief("note", t.of(item))
	}
}

// of returns the notes on the values of an item.
func (t *reporter) of(item *run.Item) []diff.Note {
	p := item.Result.Planned
	report := reportOf(p, t.secrets)
	report.Preview, report.Restored = t.preview, item.Result.Restored
	if item.Result.Outcome == write.Unsettled { // nothing of it is written
		report.Plan, report.Adoptable = merge.Plan{}, nil
	}
	if t.files[item.Object.Origin.File] {
		report.Ignored = nil
	}
	if len(report.Ignored) > 0 {
		t.files[item.Object.Origin.File] = true
	}
	notes := diff.Notes(report)
	if p.Action == apply.Nothing && item.Result.Outcome == write.Unchanged { // nothing is sent, so nothing is lost
		notes = slices.DeleteFunc(notes, diff.Note.Lost)
	}
	return notes
}

// brief prints notes; for people, only as many as they read.
func (t *reporter) brief(word string, notes []diff.Note) {
	if !t.json {
		notes = diff.Brief(notes, mostNotes, t.preview)
	}
	t.print(word, notes)
}

// manyNotes is the number of notes from which on the name of their object is printed once, above them.
const manyNotes = 3

// print prints the notes on one object: on a terminal, many of them below its name.
func (t *reporter) print(word string, notes []diff.Note) {
	if t.grouped && len(notes) >= manyNotes && !slices.ContainsFunc(notes, repeated) {
		text := word + ": " + escape.Line(notes[0].Object) + ":"
		for _, n := range notes {
			lines := slices.Concat([]string{n.Text()}, n.Hunks(), t.ways(n))
			text += "\n  " + strings.Join(lines, "\n    ")
		}
		fmt.Fprintln(t.ErrOut, text)
		return
	}
	for _, n := range notes {
		t.note(word, n)
	}
}

// ways returns the remedies for a note that have not been printed before.
func (t *reporter) ways(n diff.Note) []string {
	ways := n.Ways()
	if n.Kind == diff.NoteUndecided || n.Kind == diff.NoteMore { // one remedy for all, printed once
		ways = slices.DeleteFunc(ways, func(way string) bool { return t.printed[way] })
		for _, way := range ways {
			t.printed[way] = true
		}
	}
	return ways
}

// missing reports namespaces whose absence would make the server refuse a merge.
func (t *reporter) missing(namespaces []run.MissingNamespace) {
	for _, n := range namespaces {
		text := "not found: %s would be created in it: create it first, or add it to the input"
		if n.Deleting {
			text = "is being deleted: %s would be created in it, which it refuses: wait until it is gone, and create it again"
		}
		t.hint(diff.Note{Object: n.String(), Kind: noteProblem, Message: fmt.Sprintf(text, diff.Count(n.Objects, "object", "objects"))})
	}
}

// kept reports an object that is missing in the input, and kept.
func (t *reporter) kept(item *run.Item) { t.note("note", keptNote(item)) }

func keptNote(item *run.Item) diff.Note {
	return diff.Note{Object: item.Target.String(), Namespace: item.Target.Namespace, Kind: noteKept, Message: "kept: " + oneLine(item.Reason())}
}

// problems reports problems besides the merge.
func (t *reporter) problems(item *run.Item) {
	for _, n := range t.problemsOf(item) {
		t.hint(n)
	}
}

// problemsOf returns the notes on problems besides the merge.
func (t *reporter) problemsOf(item *run.Item) []diff.Note {
	return each(slices.Concat(item.Result.Planned.Problems, item.Result.Notes), func(text string) diff.Note {
		return diff.Note{Object: item.Target.String(), Namespace: item.Target.Namespace, Kind: noteProblem, Message: escape.Line(text)}
	})
}

// unused reports what the user has named for the run, and matched nothing: rules, and the managers of
// --original.
func (t *reporter) unused(p *apply.Planner) {
	for _, r := range p.Rules.Unused() {
		t.hint(diff.Note{Object: "--rules " + p.Rules.File, Kind: noteProblem, Message: escape.Line(r.Where()) + ": matched nothing in this run"})
	}
	if p.Original.Managers != nil {
		p.Original.Managers.Missing(func(name, text string, _ bool) {
			t.hint(diff.Note{Object: "--original=managed-fields=" + escape.Line(name), Kind: noteProblem, Message: escape.Line(text)})
		})
	}
}

// reportOf returns a plan in the form that pkg/diff reports.
func reportOf(p apply.Planned, secrets bool) diff.Report {
	return diff.Report{
		Object:      p.Name,
		Namespace:   p.Namespace(),
		Local:       p.Value,
		Live:        p.LiveSide(),
		Plan:        p.Plan,
		Type:        p.Type,
		Owners:      ownership.Of(p.Live),
		Ignored:     p.Ignored,
		Uncompared:  p.Uncompared,
		Defaulted:   p.Defaulted,
		Adoptable:   p.Adoptable,
		Adoption:    diff.Adoption(p.Adoption),
		ShowSecrets: secrets,
		Sensitive:   p.Sensitive,
		Voice:       diff.Voice{FromOwners: p.FromOwners, ServerSide: p.Applying != nil},
	}
}

// mostStill is the number of objects for which a run repeats its undecided values; a preview
// repeats those of all.
const mostStill = 3

// repeated reports whether later runs print the same note.
func repeated(n diff.Note) bool { return n.Kind == diff.NoteUndecided && n.Path == nil }

// repeats reports whether enough notes have been printed that former runs have printed, too.
func (t *reporter) repeats(n diff.Note) bool {
	if t.json || t.preview || !repeated(n) {
		return false
	}
	t.still++
	if t.still == mostStill+1 {
		fmt.Fprintln(t.ErrOut, "note: more objects have values that are still undecided: kubectl merge diff lists all")
	}
	return t.still > mostStill
}

// hint prints a note that --quiet leaves out.
func (t *reporter) hint(n diff.Note) {
	if !t.quiet {
		t.note("note", n)
	}
}

func (t *reporter) note(word string, n diff.Note) {
	if t.repeats(n) {
		return
	}
	if !t.json {
		fmt.Fprintf(t.ErrOut, "%s: %s\n", word, n.With(t.ways(n)))
		return
	}
	if n.Kind == diff.NoteConflict {
		t.failure(n, mark("conflict", errors.New(word)))
		return
	}
	_ = escape.WriteJSON(t.ErrOut, n, "") // only stdout matters
}

// conflicts reports what is left to the user, and counts the objects concerned: those with
// conflicts, and those that the user has skipped.
func (t *reporter) conflicts(items []*run.Item) (objects int) {
	for _, item := range items {
		if item.Skipped && len(item.Result.Planned.Conflicts) == 0 {
			objects++
			t.note("note", diff.Note{Object: item.Target.String(), Namespace: item.Target.Namespace, Kind: noteKept, Message: item.Reason()})
		}
		notes := diff.Conflicts(reportOf(item.Result.Planned, t.secrets))
		if len(notes) > 0 {
			objects++
		}
		t.print("error", notes) // each of them keeps the object from being written
	}
	return objects
}

// The kinds of notes about the effects of a run on pods in the cluster.
const (
	noteImpact diff.NoteKind = "impact"
	noteStale  diff.NoteKind = "stale" // pods keep old values of a ConfigMap or Secret
)

// impact reports the effects of a preview on an object, unless outcome, its outcome line, has them
// already. A run also reports that an object was deleted and created again.
func (t *reporter) impact(item *run.Item, outcome string) {
	i := item.Impact()
	if !t.preview && i.Word != impact.Recreated || i.Word == impact.None || i.String() == outcome {
		return
	}
	t.hint(diff.Note{Object: item.Target.String(), Namespace: item.Target.Namespace, Kind: noteImpact, Message: escape.Line(i.String())})
}
