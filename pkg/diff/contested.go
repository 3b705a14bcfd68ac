package diff

import (
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/linediff"
	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Contested returns a merge's result as if local had won every conflict, for Doc.Contested,
// with what the server fills in (see Expected). It is nil where there are no conflicts.
// local is the file's object, typ its type; nil knows no defaults. A conflict in a place
// that the result does not have is left out.
func Contested(result any, conflicts []merge.Disagreement, local any, typ *merge.Type) any {
	if len(conflicts) == 0 {
		return nil
	}
	out := result
	var changes []merge.Change
	set := func(p merge.Path, was, now merge.Opt) {
		c := merge.Change{Op: merge.OpSet, Path: p, Old: was, New: now}
		if !stated(now) {
			c.Op, c.New = merge.OpRemove, merge.Opt{}
		}
		if v, err := merge.Replay(out, []merge.Change{c}); err == nil {
			out, changes = v, append(changes, c)
		}
	}
	for _, d := range conflicts {
		set(d.Path, d.Live, d.Local)
		if v, ok := merge.Lookup(local, d.By, nil); ok && len(d.By) > 0 {
			set(d.By, merge.Opt{}, merge.Some(v))
		}
	}
	return Expected(out, changes, typ)
}

// sideMarks are the labels of what live and local have.
var sideMarks = linemerge.Marks{Ours: "live", Theirs: "local"}

// marked returns live's text. Where local differs, it has the lines of both between the markers
// that git uses, so that a diff shows what either side asks for.
func marked(live, local string) string {
	old, now := linediff.Lines(live), linediff.Lines(local)
	var b strings.Builder
	at := 0
	for _, c := range linediff.Between(old, now) {
		b.WriteString(strings.Join(old[at:c.Old], ""))
		b.WriteString(sideMarks.Conflict(strings.Join(old[c.Old:c.OldEnd], ""), strings.Join(now[c.New:c.NewEnd], "")))
		at = c.OldEnd
	}
	b.WriteString(strings.Join(old[at:], ""))
	return b.String()
}

// Expected returns what the server is expected to store for a result of a merge's changes.
// A value that is merged as one and that live also had gets what the server fills into it,
// since a default that live states is not a difference. Elsewhere the result is as sent.
// typ is the object's type; nil knows no defaults.
func Expected(result any, changes []merge.Change, typ *merge.Type) any {
	in := merge.NewFinder(result, typ)
	var filled []merge.Change
	for _, c := range changes {
		if c.Op != merge.OpSet || merge.IsScalar(c.Old.Value) || merge.IsScalar(c.New.Value) {
			continue
		}
		if made := in.CompleteAt(c.Path, c.New.Value); !merge.Identical(made, c.New.Value) {
			filled = append(filled, merge.Change{Op: merge.OpSet, Path: c.Path, Old: c.New, New: merge.Some(made)})
		}
	}
	if with, err := merge.Replay(result, filled); err == nil {
		return with
	}
	return result
}

// Stored names a change from what a server has stored to what was planned, on one line,
// masked as in notes.
func (r Report) Stored(c merge.Change) string {
	s := r.mask(c.Path, sides{live: c.Old, local: c.New})
	planned, has := "nothing", "nothing"
	if s.local.Set {
		planned = content(s.local, mostParts)
	}
	if s.live.Set {
		has = content(s.live, mostParts)
	}
	return c.Path.String() + ": planned is " + planned + ", the server has " + has
}
