package diff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// NoteKind is the subject of a note. The words are part of the JSON form.
type NoteKind string

// The kinds of Note.
const (
	NoteOverwritten NoteKind = "overwritten" // live's value is replaced by local's
	NoteRemoved     NoteKind = "removed"     // live's value is removed
	NoteKept        NoteKind = "kept"        // live's value stays though local has another
	NoteReset       NoteKind = "reset"       // the value applied last is back
	NoteUndecided   NoteKind = "undecided"   // it stays, since whether it was applied is unknown
	NoteIgnored     NoteKind = "ignored"     // local states what the server owns
	NoteUncompared  NoteKind = "uncompared"  // of an original in another version
	NoteDefaulted   NoteKind = "defaulted"   // null in local, and the default on the server
	NoteConflict    NoteKind = "conflict"    // left to the user
	NoteMore        NoteKind = "more"        // how many were left out
)

// Note is one report besides the outcome. It is data, which Text and Ways put into words.
// Its values are masked.
type Note struct {
	Object    string
	Namespace string // of the object, also for the commands that are suggested; "" for none
	Kind      NoteKind
	Path      merge.Path   // nil where the note is about several, or about none
	Paths     []merge.Path // of a note about several

	// Message describes what happened, of a kind that this package does not know or about
	// an object as a whole; "" where the other fields say it.
	Message string

	Original, Local, Live merge.Opt
	Masked                bool   // live's value differs from the one in Live
	stored                *sides // the three sides with what the server fills in; nil: unknown

	Owner  *merge.Owner // of live's value, nil if unknown
	Winner merge.Side
	Rule   string                 // the user's rule that decided, "" if the policy did
	Moved  merge.DisagreementKind // which sides changed it; 0 where the sides do not disagree
	Cause  merge.Cause            // of a removal
	By     merge.Path             // what local states of a one-of, which excludes live's value; nil for all else
	by     string                 // By in words

	// ByLines: the value is a text that was merged by its lines. Local and Live differ only
	// in those that both sides have changed.
	ByLines bool

	// Own: the applier alone had set the removed value, and its own file no longer states it.
	Own bool

	// Restored: the server, or a webhook that it asks, has put live's value back.
	Restored bool

	Decide Decide // what can be done, for the last note about what is undecided
	Left   []Note // of NoteMore: those that are left out

	// Conflicts is the object's number of conflicts, in the last of them: local's value can
	// be chosen for all of them, not for one. It is -1 in those before it.
	Conflicts int

	Voice
}

// Decide lists the means by which a user can have undecided values removed.
type Decide struct {
	Fields bool // some are fields, and not entries of lists
	Adoption
}

// Adoption lists the owners of undecided values, by whose managedFields they can be adopted
// (strategy.Adoption).
type Adoption struct {
	Owners []string
	Named  []string // those that --original=managed-fields has to name
	Rest   bool     // some values have no owner that could be named
}

// Voice says how notes are put into words. It is the same for all notes of a merge.
type Voice struct {
	// Preview: nothing is written, so notes are in the conditional.
	Preview bool

	// FromOwners: original was read from managedFields, so it is not known what was
	// applied.
	FromOwners bool

	// ServerSide: the merge is written by server-side apply, which has no last-applied
	// configuration.
	ServerSide bool

	// Merged is the place in the merged file, where files are merged: the sides are then
	// called dest, updated and original. "" for a cluster.
	Merged string
	Policy string // by which files are merged
}

// Lost reports whether live no longer has the note's value, or would not have it after a write.
func (n Note) Lost() bool {
	return !n.Restored && (n.Kind == NoteOverwritten || n.Kind == NoteRemoved || n.Kind == NoteReset)
}

// String returns the note for people: object, path, what happened, broken into short lines.
// Below that, indented, it lists what can be done.
func (n Note) String() string { return n.With(n.Ways()) }

// With is String with ways in place of the note's own.
func (n Note) With(ways []string) string {
	lines := breakLines(escape.Line(n.Object)+": "+n.Text(), longestLine-len("warning: "))
	for _, hunk := range n.Hunks() {
		lines = append(lines, cut(hunk, longestLine-2))
	}
	return strings.Join(append(lines, ways...), "\n  ")
}

// MarshalJSON returns the form for programs (--notes=json). An absent value is left out;
// null is null. The error is that of a value that is not JSON.
func (n Note) MarshalJSON() ([]byte, error) {
	n.Conflicts = 0 // each is read separately
	return marshal(Fields(map[string]any{
		"object": merge.Some(n.Object), "namespace": n.Namespace, "kind": n.Kind, "text": merge.Some(n.Text()), "path": n.Path, "paths": merge.Texts(n.Paths),
		"ways": n.Ways(), "hunks": n.Hunks(), "rule": n.Rule, "own": n.Own, "restored": n.Restored, "winner": sideName(n.Winner),
		"original": recorded(n.Original), "local": n.Local, "live": n.Live, "owner": n.Owner,
	}, nil))
}

func (n Note) sides() sides { return sides{n.Original, n.Local, n.Live} }

// shown returns the note's values. Where there is no room for them, and their differences
// are named instead, it returns them as the server stores them.
func (n Note) shown() shown {
	v := n.sides().shown()
	if v.long && v.live.Set && n.stored != nil {
		v.sides = *n.stored
	}
	return v
}

// recorded is the value applied last, absent where it was not kept.
func recorded(o merge.Opt) merge.Opt { return merge.Opt{Value: o.Value, Set: stated(o)} }

// Fields returns a row for JSON: its fields without those that are empty, as an absent value and no
// path, with what is known of an owner; of nil, nothing.
func Fields(m map[string]any, o *merge.Owner) map[string]any {
	if o != nil {
		m["manager"], m["operation"], m["subresource"] = merge.Some(o.Manager), merge.Some(o.Operation), o.Subresource
		if !o.Time.IsZero() {
			m["time"] = o.Time.UTC().Format(time.RFC3339)
		}
	}
	for name, v := range m {
		empty := false
		switch v := v.(type) {
		case string:
			empty = v == ""
		case bool:
			empty = !v
		case []string:
			empty = len(v) == 0
		case merge.Path:
			empty, m[name] = v == nil, v.String()
		case merge.Opt:
			empty, m[name] = !v.Set, v.Value
		case *merge.Owner:
			empty, m[name] = v == nil, Fields(map[string]any{}, v)
		}
		if empty {
			delete(m, name)
		}
	}
	return m
}

func sideName(s merge.Side) string {
	if s == merge.Nobody {
		return ""
	}
	return s.String()
}

// marshal is json.Marshal whose text is safe on a terminal.
func marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, yamldoc.ErrNotJSON
	}
	return escape.JSON(data), nil
}

// Sides spells the three values of a conflict, and who set live's, in lines that begin with
// the side's name. A line longer than width (0: no limit) continues in the next. There are
// always three sides, an absent one as "-".
func (n Note) Sides(width int) []string {
	var lines []string
	const label, endless = len("original  "), 1 << 20
	room := endless
	if width > 0 {
		room = max(width-label, 2*label)
	}
	texts := n.sides().apart(room, n.stored)
	texts.original = orAbsent(n.Original, texts.original, "- (not applied before)")
	texts.live = orAbsent(n.Live, texts.live, "- (removed)")
	texts.local = orAbsent(n.Local, texts.local, "- (taken out)")
	if by := who(n.Owner); by != "" {
		texts.live += " " + by
	}
	for _, side := range [][2]string{{"original", texts.original}, {"live", texts.live}, {"local", texts.local}} {
		for _, l := range breakLines(side[1], room) {
			lines = append(lines, fmt.Sprintf("%-*s%s", label, side[0], l))
			side[0] = ""
		}
	}
	for _, l := range n.Hunks() {
		lines = append(lines, "  "+l)
	}
	return lines
}

func orAbsent(o merge.Opt, text, absent string) string {
	if !o.Set {
		return absent
	}
	return text
}

// Compare writes the difference of live's value and what the server makes of local's, as a
// unified diff of their YAML. The error is w's, or that of a value that is not JSON.
func (n Note) Compare(w io.Writer, color bool) error {
	now := n.sides()
	if n.stored != nil {
		now = *n.stored
	}
	live, err := yamlText(now.live.Value)
	local, bad := yamlText(now.local.Value)
	if err = cmp.Or(err, bad); err != nil {
		return fmt.Errorf("%s: %w", n.Path, err)
	}
	d := Text(Pair{From: "live", To: "local", Old: live, Now: local}, 3)
	if color {
		d = Colored(d)
	}
	_, err = io.WriteString(w, d)
	return err
}
