package diff

import (
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// NoteKind says what a note is about. The words are part of the JSON form.
type NoteKind string

// The kinds of Note.
const (
	NoteOverwritten NoteKind = "overwritten" // live's value went, local's came
	NoteRemoved     NoteKind = "removed"     // live's value went
	NoteKept        NoteKind = "kept"        // live's value stays though local says otherwise
	NoteReset       NoteKind = "reset"       // the value applied last came back
	NoteUndecided   NoteKind = "undecided"   // it stays, since nobody knows whether it was applied
	NoteIgnored     NoteKind = "ignored"     // local states what is the server's
	NoteUncompared  NoteKind = "uncompared"  // of an original in another version
	NoteConflict    NoteKind = "conflict"    // left to the user
	NoteMore        NoteKind = "more"        // how many were left out
)

// Note is one thing that is told beside the outcome. Its values are masked.
type Note struct {
	Object string
	Path   merge.Path // nil where Text names several
	Kind   NoteKind
	Text   string   // one line that begins with the path, without the object
	Ways   []string // what the user can do, one line each

	Original, Local, Live merge.Opt

	Owner  *merge.Owner // of live's value, nil if unknown
	Winner merge.Side
	Rule   string // the user's rule that decided, "" if the policy did
}

// String is the note as it is told: object, path, what happened, and below that,
// indented, what can be done.
func (n Note) String() string {
	return strings.Join(append([]string{inLine(n.Object) + ": " + n.Text}, n.Ways...), "\n  ")
}

// MarshalJSON is the form for programs (--notes=json). An absent value is left
// out; null is null.
func (n Note) MarshalJSON() ([]byte, error) {
	m := map[string]any{"object": n.Object, "kind": n.Kind, "text": n.Text}
	if n.Path != nil {
		m["path"] = n.Path.String()
	}
	if len(n.Ways) > 0 {
		m["ways"] = n.Ways
	}
	if n.Rule != "" {
		m["rule"] = n.Rule
	}
	if name := sideName(n.Winner); name != "" {
		m["winner"] = name
	}
	addSides(m, sides{n.Original, n.Local, n.Live}, n.Owner)
	return marshal(m)
}

func addSides(m map[string]any, s sides, owner *merge.Owner) {
	for name, o := range map[string]merge.Opt{"original": s.original, "local": s.local, "live": s.live} {
		if o.Set {
			m[name] = o.Value
		}
	}
	if owner == nil {
		return
	}
	o := map[string]any{"manager": owner.Manager, "operation": owner.Operation}
	if owner.Subresource != "" {
		o["subresource"] = owner.Subresource
	}
	if !owner.Time.IsZero() {
		o["time"] = owner.Time.UTC().Format("2006-01-02T15:04:05Z")
	}
	m["owner"] = o
}

func sideName(s merge.Side) string {
	switch s {
	case merge.OriginalSide:
		return "original"
	case merge.LocalSide:
		return "local"
	case merge.LiveSide:
		return "live"
	}
	return ""
}

// Notes tells what a merge overwrote, removed, kept and could not decide, in path
// order by kind; conflicts are told by Conflicts. Nothing happened: nil.
func Notes(t Told) []Note {
	var out []Note
	for _, d := range t.Plan.Settled {
		out = append(out, t.settled(d))
	}
	for _, r := range t.Plan.Removed {
		out = append(out, t.removal(r, NoteRemoved, " removed: "+causeText(r.Cause)))
	}
	for _, r := range t.Plan.Undecided {
		out = append(out, t.removal(r, NoteUndecided, " stays: not in local, and nobody knows what was applied before"))
	}
	if n := len(t.Plan.Undecided); n > 0 {
		out[len(out)-1].Ways = []string{wayOf(t.Plan.Undecided)}
	}
	if len(t.Ignored) > 0 {
		out = append(out, Note{Object: t.Object, Kind: NoteIgnored, Text: pathList(t.Ignored) + " in local ignored: the server's own"})
	}
	if len(t.Uncompared) > 0 {
		out = append(out, Note{Object: t.Object, Kind: NoteUncompared, Text: pathList(t.Uncompared) +
			" not compared: last-applied has another apiVersion, and this one does not have these fields; whether live still has them cannot be told"})
	}
	return out
}

// wayOf says how to be rid of what is undecided: an entry of a list cannot be written
// as null.
func wayOf(undecided []merge.Removal) string {
	all := "to have all removed that its creator set, merge once with --original=managed-fields"
	for _, r := range undecided {
		if r.Path[len(r.Path)-1].Kind == merge.FieldStep {
			return "to remove such a field write it as null; " + all
		}
	}
	return all
}

// Capped leaves at most n notes of each object and says how many more there are;
// n below 1 leaves all.
func Capped(notes []Note, n int) []Note {
	if n < 1 {
		return notes
	}
	var out []Note
	left := map[string]int{}
	for i, note := range notes {
		left[note.Object]++
		if left[note.Object] <= n {
			out = append(out, note)
		}
		last := i+1 == len(notes) || notes[i+1].Object != note.Object
		if over := left[note.Object] - n; last && over > 0 {
			out = append(out, Note{Object: note.Object, Kind: NoteMore,
				Text: fmt.Sprintf("and %d more: kubectl merge explain shows every field", over), Ways: note.Ways})
		}
	}
	return out
}

func (t Told) settled(d merge.Disagreement) Note {
	s := t.mask(d.Path, sides{d.Original, d.Local, d.Live})
	n := Note{Object: t.Object, Path: d.Path, Original: s.original, Local: s.local, Live: s.live, Owner: d.Owner, Winner: d.Winner, Rule: d.Rule}
	live := t.text(s.live) + by(d.Owner)
	if !d.Live.Set {
		live = "removed from live" + by(d.Owner)
	}
	switch {
	case d.Winner == merge.LiveSide:
		n.Kind, n.Text = NoteKept, live+" kept, "+t.localSays(s)
		if !d.Live.Set {
			n.Text = live + ", and stays so: " + t.localSays(s)
		}
	case d.Winner == merge.OriginalSide:
		n.Kind, n.Text = NoteReset, live+" set back to "+t.text(s.original)+", as last applied"
	case !d.Local.Set || d.Local.Value == nil:
		n.Kind, n.Text = NoteRemoved, live+" removed: "+t.localSays(s)
	case !d.Live.Set:
		n.Kind, n.Text = NoteOverwritten, live+", put back as local has it: "+t.text(s.local)
	default:
		n.Kind, n.Text = NoteOverwritten, live+" overwritten with "+t.text(s.local)
		if d.Kind == merge.Both && d.Original.Set {
			n.Text += ", last applied " + t.text(s.original)
		}
	}
	if d.Rule != "" {
		n.Text += " (rule " + inLine(d.Rule) + ")"
	}
	n.Text = d.Path.String() + ": " + n.Text
	return n
}

// localSays: what local has, or how it came to have nothing.
func (t Told) localSays(s sides) string {
	last := ""
	if s.original.Set {
		last = ", last applied " + t.text(s.original)
	}
	switch {
	case s.local.Set && s.local.Value == nil:
		return "local says null" + last
	case s.local.Set:
		return "local has " + t.text(s.local) + last
	}
	return "not in local" + last
}

func (t Told) removal(r merge.Removal, kind NoteKind, what string) Note {
	s := t.mask(r.Path, sides{live: merge.Some(r.Value)})
	return Note{Object: t.Object, Path: r.Path, Kind: kind, Live: s.live, Owner: r.Owner,
		Text: r.Path.String() + ": " + t.text(s.live) + by(r.Owner) + what}
}

// causeText says why a value goes.
func causeText(c merge.Cause) string {
	switch c {
	case merge.CauseNull:
		return "local says null"
	case merge.CauseDisplaced:
		return "local states another variant"
	case merge.CauseInside:
		return "inside what local dropped"
	}
	return "in last-applied, not in local"
}

func pathList(paths []merge.Path) string {
	const most = 8
	names := make([]string, 0, most+1)
	for i, p := range paths {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(paths)-most))
			break
		}
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}
