package files

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// conflict is one about a resource as a whole, or about what is no value at a path.
func (m *merger) conflict(r *resource, at merge.Path, what string) {
	m.unsettled(r.called(), r.file.Name, at, what)
}

func (m *merger) unsettled(object, file string, at merge.Path, what string) {
	if !m.Dest.Folder {
		file = m.Dest.Files[0].Name
	}
	m.out.Conflicts = append(m.out.Conflicts, diff.Note{
		Object: object, Path: at, Kind: diff.NoteConflict, Message: what, Voice: diff.Voice{Merged: m.where(file)},
	})
}

// where is a file of dest as messages show it.
func (m *merger) where(name string) string {
	if f := m.Dest.file(name); f != nil {
		return f.Where()
	}
	return filepath.Join(m.Dest.Name, filepath.FromSlash(name))
}

// locate adds to each conflict the line on which its markers begin.
func (m *merger) locate() {
	in := map[string][]*diff.Note{}
	for i := range m.out.Conflicts {
		n := &m.out.Conflicts[i]
		in[n.Merged] = append(in[n.Merged], n)
	}
	for _, c := range m.out.Files {
		where := m.where(c.Name)
		if c.lines || len(in[where]) == 0 {
			continue
		}
		ours, theirs := bothViews(string(c.Text))
		views := []reading{m.reading(c.Name, ours), m.reading(c.Name, theirs)}
		for _, n := range in[where] {
			if line := ours.marker(views, *n); line > 0 {
				n.Merged = fmt.Sprintf("%s, line %d", where, line)
			}
		}
	}
}

// view is a text with one side of each conflict.
type view struct {
	text    string
	lines   []int    // for each of its lines, the number in the text with markers
	markers [][2]int // the lines of the first and the last marker of each conflict
	at      []int    // where in it each conflict begins
}

// marker is the line of the marker before what a conflict is about: of the conflict that it stands in
// on one side, or directly below, else of the next one.
func (v view) marker(sides []reading, n diff.Note) int {
	next := 0
	for i, side := range sides {
		line := side.line(n)
		for _, m := range v.markers {
			switch {
			case m[0] <= line && line <= m[1]+1:
				return m[0]
			case i == 0 && m[0] >= line && next == 0:
				next = m[0]
			}
		}
	}
	return next
}

// reading is a view whose resources can be found.
type reading struct {
	view
	by map[string]*resource
}

func (m *merger) reading(name string, v view) reading {
	out := reading{view: v, by: map[string]*resource{}}
	f := &File{Name: name, Label: m.where(name)}
	if f.YAML = m.read(v.text); f.YAML == nil {
		return out
	}
	all, _ := index(&Set{Files: []*File{f}}, !m.Dest.Folder, m.twice)
	for _, r := range all.list {
		out.by[r.called()] = r
	}
	return out
}

// line is where a conflict stands, 0 where its object is not in the view.
func (v reading) line(n diff.Note) int {
	if r := v.by[n.Object]; r != nil {
		return v.lines[min(r.doc.LineOf(n.Path), len(v.lines))-1]
	}
	return 0
}

// bothViews are a text with dest's and with updated's side of each conflict.
func bothViews(marked string) (ours, theirs view) {
	if !strings.Contains(marked, "<<<<<<< ") {
		return view{text: marked}, view{text: marked}
	}
	var a, b strings.Builder
	left, right := true, true
	at := 0
	for line := range strings.Lines(marked) {
		at++
		switch {
		case strings.HasPrefix(line, "<<<<<<< "):
			right = false
			ours.markers, ours.at = append(ours.markers, [2]int{at, at}), append(ours.at, a.Len())
			continue
		case !right && strings.TrimRight(line, "\r\n") == "=======":
			left, right = false, true
			continue
		case !left && strings.HasPrefix(line, ">>>>>>> "):
			left = true
			ours.markers[len(ours.markers)-1][1] = at
			continue
		}
		if left {
			a.WriteString(line)
			ours.lines = append(ours.lines, at)
		}
		if right {
			b.WriteString(line)
			theirs.lines = append(theirs.lines, at)
		}
	}
	ours.text, theirs.text = a.String(), b.String()
	return ours, theirs
}

// pathsAt are the fields that stand at offsets of a document; nil at its beginning.
func (r *reader) pathsAt(text string, at []int, t *merge.Type) (out []merge.Path) {
	if len(at) == 0 {
		return nil
	}
	d := r.one(text)
	for _, offset := range at {
		var p merge.Path
		if d != nil && offset > 0 {
			p = d.PathAt(offset, t)
		}
		out = append(out, p)
	}
	return slices.CompactFunc(out, func(a, b merge.Path) bool { return a.String() == b.String() })
}
