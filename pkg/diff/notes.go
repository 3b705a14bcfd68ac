package diff

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Notes reports what a merge overwrote, removed, kept and could not decide, in path order
// by kind. Conflicts reports the conflicts. nil where there is nothing to report.
func Notes(r Report) []Note {
	var out []Note
	r = r.Looked()
	for _, d := range r.Plan.Settled {
		empty := d.Local.Value == nil || !merge.IsScalar(d.Local.Value) && !merge.HasEntries(d.Local.Value)
		if d.Rule != "" && d.Winner == merge.LiveSide && empty { // live's value cannot differ from a part of it
			continue // rules: [] of a ClusterRole that is aggregated
		}
		n := r.disagreement(d)
		n.Kind = settledKind(d)
		out = append(out, n)
	}
	for _, o := range r.Plan.Reordered {
		n := r.note(NoteOverwritten)
		n.Path = o.Path
		live, local := suggest.AtMost(merge.Texts(o.Live), mostParts), suggest.AtMost(merge.Texts(o.Local), mostParts)
		n.Message = "the order " + strings.Join(live, " ") + " " + n.verb("overwritten") + " with " + strings.Join(local, " ")
		out = append(out, n)
	}
	for _, removed := range r.Plan.Removed {
		out = append(out, r.removal(removed, NoteRemoved))
	}
	out = append(out, r.undecided()...)
	for _, several := range []struct {
		kind  NoteKind
		paths []merge.Path
	}{{NoteIgnored, r.Ignored}, {NoteDefaulted, r.Defaulted}, {NoteUncompared, r.Uncompared}} {
		if len(several.paths) > 0 {
			n := r.note(several.kind)
			n.Paths = several.paths
			out = append(out, n)
		}
	}
	return out
}

// Conflicts reports the conflicts that the policy left to the user; nil where there are none.
func Conflicts(r Report) []Note {
	var out []Note
	r = r.Looked()
	for _, d := range r.Plan.Conflicts {
		n := r.disagreement(d)
		n.Kind, n.Conflicts = NoteConflict, -1
		out = append(out, n)
	}
	if len(out) > 0 {
		out[len(out)-1].Conflicts = len(out)
	}
	return out
}

func (r Report) note(kind NoteKind) Note {
	return Note{Object: r.Object, Namespace: r.Namespace, Kind: kind, Voice: r.Voice}
}

func (r Report) disagreement(d merge.Disagreement) Note {
	if r.FromOwners && d.Winner != merge.OriginalSide {
		d.Original = merge.Opt{} // no record says that it was applied
	}
	s := r.mask(d.Path, sides{d.Original, d.Local, d.Live})
	n := r.note("")
	n.Path, n.Owner, n.Winner, n.Rule, n.Moved, n.By = d.Path, d.Owner, d.Winner, d.Rule, d.Kind, d.By
	n.by = r.excluding(d.By)
	n.Original, n.Local, n.Live, n.Masked = s.original, s.local, s.live, !alike(s.live, d.Live)
	n.ByLines = d.Text != "" && !n.Masked
	n.Restored = r.looked.restored[d.Path.String()]
	stored := r.stored(d.Path, sides{d.Original, d.Local, d.Live})
	n.stored = &stored
	return n
}

func (r Report) removal(removed merge.Removal, kind NoteKind) Note {
	s := r.mask(removed.Path, sides{live: merge.Some(removed.Value)})
	n := r.note(kind)
	n.Path, n.Owner, n.Cause, n.By, n.Own, n.Live = removed.Path, removed.Owner, removed.Cause, removed.By, removed.Own, s.live
	n.by = r.excluding(removed.By)
	n.Restored = r.looked.restored[removed.Path.String()]
	return n
}

func settledKind(d merge.Disagreement) NoteKind {
	switch {
	case d.Winner == merge.LiveSide:
		return NoteKept
	case d.Winner == merge.OriginalSide:
		return NoteReset
	case !stated(d.Local):
		return NoteRemoved
	}
	return NoteOverwritten
}

// undecided reports what stays though it is not in local, because it is unknown whether it
// was applied. Without an original it reports each value. Where the original never had the
// values, it makes one note for the object.
func (r Report) undecided() (out []Note) {
	for _, u := range r.Plan.Undecided {
		n := r.removal(u, NoteUndecided)
		n.Own = false
		out = append(out, n)
	}
	switch {
	case len(out) > 0:
		out[len(out)-1].Decide = r.decide(r.Plan.Undecided)
	case len(r.Adoptable) > 0:
		n := r.note(NoteUndecided)
		for _, a := range r.Adoptable {
			n.Paths = append(n.Paths, a.Path)
		}
		n.Owner, n.Decide = r.Adoptable[0].Owner, r.decide(r.Adoptable)
		out = append(out, n)
	}
	return out
}

// decide finds the means to remove what is undecided.
func (r Report) decide(undecided []merge.Removal) Decide {
	return Decide{
		Fields:   slices.ContainsFunc(undecided, func(u merge.Removal) bool { return u.Path[len(u.Path)-1].Kind == merge.FieldStep }),
		Adoption: r.Adoption,
	}
}

// Brief returns those of one run's notes that are printed. Values that only the applier had
// set, and that its own file no longer states, are left out: they are in diff and explain.
// What the file still states, and the strategy removes, is not.
// So are those that the server had made, and has put back.
//
// In a preview at most n notes of each object are kept, and the rest is counted: a preview
// can be repeated in full. After a write it cannot. So every loss is then kept, and of the
// rest the paths are named. n below 1 keeps all.
func Brief(notes []Note, n int, preview bool) []Note {
	var out, over []Note
	seen := 0
	for i, note := range notes {
		switch {
		case note.Own && note.Cause != merge.CauseStrategy, note.Restored && note.Kind == NoteRemoved && note.Owner == nil:
		case n < 1 || seen < n || note.Lost() && !preview:
			seen++
			out = append(out, note)
		default:
			over = append(over, note)
		}
		if i+1 == len(notes) || notes[i+1].Object != note.Object {
			if len(over) > 0 {
				last := over[len(over)-1]
				more := Note{Object: last.Object, Namespace: last.Namespace, Kind: NoteMore, Decide: last.Decide, Left: over, Voice: last.Voice}
				more.Preview = preview
				out = append(out, more)
			}
			seen, over = 0, nil
		}
	}
	return out
}
