package diff

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
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
	NoteDefaulted   NoteKind = "defaulted"   // null in local, and the default on the server
	NoteConflict    NoteKind = "conflict"    // left to the user
	NoteMore        NoteKind = "more"        // how many were left out
)

// Note is one thing that is told beside the outcome. Its values are masked.
type Note struct {
	Object string
	Path   merge.Path // nil where the note is about several, or about none
	Paths  []merge.Path
	Kind   NoteKind
	Text   string   // one line that begins with the path, without the object
	Ways   []string // what the user can do, one line each

	Original, Local, Live merge.Opt

	Owner  *merge.Owner // of live's value, nil if unknown
	Winner merge.Side
	Rule   string // the user's rule that decided, "" if the policy did

	// Own: the applier alone had set what is removed, and its own file gives it up.
	Own bool

	// Restored: the server, or a webhook that it asks, has put live's value back.
	Restored bool
}

// Lost: the note is about a value that live has no more, or would not have.
func (n Note) Lost() bool {
	if n.Restored {
		return false
	}
	return n.Kind == NoteOverwritten || n.Kind == NoteRemoved || n.Kind == NoteReset
}

// String is the note as it is told: object, path, what happened, and below that,
// indented, what can be done.
func (n Note) String() string {
	return strings.Join(append([]string{escape.Line(n.Object) + ": " + n.Text}, n.Ways...), "\n  ")
}

// MarshalJSON is the form for programs (--notes=json). An absent value is left
// out; null is null.
func (n Note) MarshalJSON() ([]byte, error) {
	m := map[string]any{"object": n.Object, "kind": n.Kind, "text": n.Text}
	if n.Path != nil {
		m["path"] = n.Path.String()
	}
	if len(n.Paths) > 0 {
		m["paths"] = spelledPaths(n.Paths)
	}
	if len(n.Ways) > 0 {
		m["ways"] = n.Ways
	}
	if n.Rule != "" {
		m["rule"] = n.Rule
	}
	if n.Own {
		m["own"] = true
	}
	if n.Restored {
		m["restored"] = true
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

// Notes reports what a merge overwrote, removed, kept and could not decide, in path
// order by kind; conflicts are reported by Conflicts. Nothing happened: nil.
func Notes(t Told) []Note {
	t = t.looked()
	var out []Note
	for _, d := range t.Plan.Settled {
		if d.Rule != "" && d.Winner == merge.LiveSide && saysNothing(d.Local) {
			continue // rules: [] of a ClusterRole that others are put together to
		}
		out = append(out, t.restored(t.settled(t.applied(d))))
	}
	for _, r := range t.Plan.Removed {
		n := t.removal(r, NoteRemoved, " "+t.verb("removed")+": "+t.cause(r))
		n.Own = r.Own
		out = append(out, t.restored(n))
	}
	out = append(out, t.undecided()...)
	for _, several := range []struct {
		kind  NoteKind
		paths []merge.Path
		what  string
	}{
		{NoteIgnored, t.Ignored, " in local ignored: the server's own"},
		{NoteDefaulted, t.Defaulted, ": null in local, stored as its default: a merge cannot write null where the schema has a default"},
		{NoteUncompared, t.Uncompared, " not compared: last-applied has another apiVersion, and this one does not have these fields; whether live still has them cannot be told"},
	} {
		if len(several.paths) > 0 {
			out = append(out, Note{Object: t.Object, Kind: several.kind, Paths: several.paths, Text: pathList(several.paths) + several.what})
		}
	}
	return out
}

// restored reports whether what the note is about is back.
func (t Told) restored(n Note) Note {
	at := n.Path.String()
	n.Restored = slices.ContainsFunc(t.Restored, func(p merge.Path) bool { return p.String() == at })
	if n.Restored {
		n.Text += "; the server put it back"
	}
	return n
}

// saysNothing: local has nothing that live's value could differ from.
func saysNothing(o merge.Opt) bool {
	switch v := o.Value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return o.Value == nil
}

// verb is what became of a value or, in a preview, would become of it.
func (t Told) verb(participle string) string {
	if t.Preview {
		return "would be " + participle
	}
	return participle
}

// most is how many differences inside one value are named.
func (t Told) most() int {
	if t.Preview {
		return mostParts
	}
	return mostWritten
}

// Brief is what of one run's notes people get to read. Values that the applier alone
// had set, and that its own file gives up, are left out: they are in diff and explain. So
// are those that the server had made, and has put back.
//
// In a preview at most n notes of each object are left, and the rest is counted: it
// can be had again, in full. After a write it cannot, so nothing that is lost is left
// out then, and of what is not the paths are named. n below 1 leaves all.
func Brief(notes []Note, n int, preview bool) []Note {
	var out, over []Note
	seen := 0
	for i, note := range notes {
		switch {
		case note.Own, note.Restored && note.Kind == NoteRemoved && note.Owner == nil:
		case n < 1 || seen < n || note.Lost() && !preview:
			seen++
			out = append(out, note)
		default:
			over = append(over, note)
		}
		if i+1 == len(notes) || notes[i+1].Object != note.Object {
			if len(over) > 0 {
				out = append(out, rest(over, preview))
			}
			seen, over = 0, nil
		}
	}
	return out
}

// rest is one note for many.
func rest(over []Note, preview bool) Note {
	last := over[len(over)-1]
	more := Note{Object: last.Object, Kind: NoteMore, Ways: last.Ways}
	if preview {
		more.Text = fmt.Sprintf("and %d more: --notes=json prints all", len(over))
		return more
	}
	names := make([]string, len(over))
	for i, n := range over {
		if names[i] = n.Path.String(); n.Path == nil {
			names[i] = n.Text
		}
	}
	what := "are left as they are"
	if last.Kind == NoteConflict {
		what = "conflicts"
	}
	more.Text = fmt.Sprintf("and %d more %s: %s", len(over), what, strings.Join(names, ", "))
	return more
}

func (t Told) settled(d merge.Disagreement) Note {
	s := t.mask(d.Path, sides{d.Original, d.Local, d.Live})
	n := Note{Object: t.Object, Path: d.Path, Original: s.original, Local: s.local, Live: s.live, Owner: d.Owner, Winner: d.Winner, Rule: d.Rule}
	n.Kind = settledKind(d)
	switch v := s.shown(); {
	case t.Merged != "":
		n.Text = t.ofFiles(n)
	case n.Kind == NoteRemoved && len(d.By) > 0:
		n.Text = content(s.live, t.most()) + by(d.Owner) + " " + t.verb("removed") + ": " + excluded(d.By)
	case v.long:
		n.Text = t.settledLong(n, v)
	default:
		n.Text = t.settledShort(d, v)
	}
	if d.Rule != "" {
		n.Text += " (rule " + escape.Line(d.Rule) + ")"
	}
	n.Text = d.Path.String() + ": " + n.Text
	return n
}

func settledKind(d merge.Disagreement) NoteKind {
	switch {
	case d.Winner == merge.LiveSide:
		return NoteKept
	case d.Winner == merge.OriginalSide:
		return NoteReset
	case !d.Local.Set || d.Local.Value == nil:
		return NoteRemoved
	}
	return NoteOverwritten
}

// settledShort is for values that have room in the line.
func (t Told) settledShort(d merge.Disagreement, v shown) string {
	live := v.texts.live + by(d.Owner)
	switch kind := settledKind(d); {
	case kind == NoteKept && !v.live.Set:
		return "removed from live" + by(d.Owner) + ", and stays so: " + v.localSays()
	case kind == NoteKept:
		return live + " " + t.verb("kept") + ", " + v.localSays()
	case kind == NoteReset && !v.live.Set:
		return "removed from live" + by(d.Owner) + ", " + t.verb("set back") + " to " + v.texts.original + ", as last applied"
	case kind == NoteReset:
		return live + " " + t.verb("set back") + " to " + v.texts.original + ", as last applied"
	case kind == NoteRemoved:
		return live + " " + t.verb("removed") + ": " + v.localSays()
	case !v.live.Set:
		return "removed from live" + by(d.Owner) + ", " + t.verb("put back") + " as local has it: " + v.texts.local
	}
	text := live + " " + t.verb("overwritten") + " with " + v.texts.local
	if d.Kind == merge.Both && v.original.Set {
		text += ", last applied " + v.texts.original
	}
	return text
}

// settledLong names what differs, where the values have no room in the line.
func (t Told) settledLong(n Note, v shown) string {
	live := noun(v.live.Value) + by(n.Owner)
	switch {
	case !v.live.Set && n.Kind == NoteKept:
		return "removed from live" + by(n.Owner) + ", and stays so; local has a " + noun(v.local.Value)
	case !v.live.Set && n.Kind == NoteReset:
		return "removed from live" + by(n.Owner) + ", " + t.verb("set back") + " to what was applied last: a " + noun(v.original.Value)
	case !v.live.Set:
		return "removed from live" + by(n.Owner) + ", " + t.verb("put back") + " as local has it: a " + noun(v.local.Value)
	case n.Kind == NoteKept && (!v.local.Set || v.local.Value == nil):
		return live + " " + t.verb("kept") + "; it is not in local"
	case n.Kind == NoteKept:
		return live + " " + t.verb("kept") + "; local would change it: " + difference(v.live, v.local, t.most())
	case n.Kind == NoteReset:
		return live + " " + t.verb("set back") + " to what was applied last: " + difference(v.live, v.original, t.most())
	case n.Kind == NoteRemoved:
		return content(v.live, t.most()) + by(n.Owner) + " " + t.verb("removed") + ": not in local"
	}
	return live + " " + t.verb("overwritten") + ": " + difference(v.live, v.local, t.most())
}

// localSays: what local has, or how it came to have nothing.
func (v shown) localSays() string {
	last := ""
	if v.original.Set {
		last = ", last applied " + v.texts.original
	}
	switch {
	case v.local.Set && v.local.Value == nil:
		return "local says null" + last
	case v.local.Set:
		return "local has " + v.texts.local + last
	}
	return "not in local" + last
}

func (t Told) removal(r merge.Removal, kind NoteKind, what string) Note {
	s := t.mask(r.Path, sides{live: merge.Some(r.Value)})
	text := content(s.live, t.most()) + by(r.Owner) + what
	n := Note{Object: t.Object, Path: r.Path, Kind: kind, Live: s.live, Owner: r.Owner, Text: r.Path.String() + ": " + text}
	if t.Merged != "" {
		n.Text = r.Path.String() + ": dest has " + content(s.live, t.most()) + ": removed, as updated says" + t.stillNull(r)
	}
	return n
}

// stillNull adds why a null in which nothing changed removes a value.
func (t Told) stillNull(r merge.Removal) string {
	if r.Cause != merge.CauseStillNull {
		return ""
	}
	return " null and so did original (" + t.Policy + " clears nulls; --policy=diff3 leaves what only dest changed)"
}

// cause says why a value is removed.
func (t Told) cause(r merge.Removal) string {
	if len(r.By) > 0 {
		return excluded(r.By)
	}
	return t.causeText(r.Cause)
}

// excluded is why there is no room for live's variant of a one-of.
func excluded(by merge.Path) string { return "local has " + by.String() + ", which excludes it" }

// causeText says why a value is removed.
func (t Told) causeText(c merge.Cause) string {
	switch c {
	case merge.CauseNull, merge.CauseStillNull:
		return "local says null"
	case merge.CauseDisplaced:
		return "local states another variant"
	case merge.CauseInside:
		return "inside what local dropped"
	case merge.CauseReplaced:
		return "only live has it, and this strategy replaces what holds it"
	case merge.CauseStrategy:
		return "by this strategy's own rules"
	}
	if t.FromOwners {
		return "applied last according to managedFields, not in local"
	}
	return "in last-applied, not in local"
}

func spelledPaths(paths []merge.Path) []string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = p.String()
	}
	return names
}

// pathList names paths in a line; Note.Paths has all.
func pathList(paths []merge.Path) string {
	return strings.Join(atMost(spelledPaths(paths), mostParts), ", ")
}

// errNotJSON quotes no value.
var errNotJSON = errors.New("not a JSON value: it cannot be printed; read it with merge.ReadJSON")

// marshal is json.Marshal whose text is safe on a terminal.
func marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, errNotJSON
	}
	return escape.JSON(data), nil
}
