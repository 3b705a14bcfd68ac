package diff

import "github.com/kubectl-merge/kubectl-merge/pkg/merge"

// Stored is a change from what a server has made of an object to what was planned, on one
// line, masked as in notes.
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
