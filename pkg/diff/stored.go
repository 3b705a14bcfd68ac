package diff

import "github.com/kubectl-merge/kubectl-merge/pkg/merge"

// Expected returns what the server is expected to store for a result of a merge's changes.
// A value that is merged as one and that live also had gets what the server fills into it,
// since a default that live states is not a difference. Elsewhere the result is as sent.
// typ is the object's type; nil knows no defaults.
func Expected(result any, changes []merge.Change, typ *merge.Type) any {
	in := merge.NewFinder(result, typ)
	var filled []merge.Change
	for _, c := range changes {
		if c.Op != merge.OpSet || isScalar(c.Old.Value) || isScalar(c.New.Value) {
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
