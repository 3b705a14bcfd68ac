package diff

import "github.com/kubectl-merge/kubectl-merge/pkg/merge"

// sidesOfFiles spells the values of a note under the names that a merge of files uses.
func (n Note) sidesOfFiles() string {
	v := n.sides().shown()
	if v.long && n.Live.Set && n.Local.Set && n.Local.Value != nil {
		if !n.Original.Set {
			return "dest has another value than updated, which would change it: " + difference(n.Live, n.Local, mostParts)
		}
		return "dest changed " + difference(n.Original, n.Live, mostParts) + ", and updated changed " + difference(n.Original, n.Local, mostParts)
	}
	text := "dest " + state(n.Live, v.texts.live) + ", updated " + state(n.Local, v.texts.local)
	if n.Original.Set {
		text += ", original " + v.texts.original
	}
	return text
}

func state(o merge.Opt, text string) string {
	if !o.Set || o.Value == nil {
		return "has none"
	}
	return "has " + text
}

// ofFiles names the side of a merge of files that won.
func (n Note) ofFiles() string {
	return n.sidesOfFiles() + ": " + map[merge.Side]string{
		merge.LocalSide: "updated wins", merge.LiveSide: "dest wins", merge.OriginalSide: "original wins",
	}[n.Winner]
}
