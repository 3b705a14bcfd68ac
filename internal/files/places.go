package files

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
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
// on one side, that stands in it, or directly above, else of the next one.
func (v view) marker(sides []reading, n diff.Note) int {
	var found [4]int
	for i, side := range sides {
		from, to := side.span(n)
		for _, m := range v.markers {
			rank := 3
			switch {
			case m[0] <= from && from <= m[1]:
				rank = 0
			case from < m[0] && m[0] <= to:
				rank = 1
			case from == m[1]+1:
				rank = 2
			case i > 0 || m[0] < from:
				continue
			}
			found[rank] = cmp.Or(found[rank], m[0])
		}
	}
	return cmp.Or(found[:]...)
}

// reading is a view whose resources can be found.
type reading struct {
	view
	by map[string]*resource
}

func (m *merger) reading(name string, v view) reading {
	out := reading{view: v, by: map[string]*resource{}}
	f := &File{Name: name, Label: m.where(name)}
	if f.YAML = read(v.text); f.YAML == nil {
		return out
	}
	all, _ := index(&Set{Files: []*File{f}}, !m.Dest.Folder, m.twice, nil)
	for _, r := range all.list {
		out.by[r.called()] = r
	}
	return out
}

// span is where a conflict stands, from its first line to its last; 0 where its object is not in the view.
func (v reading) span(n diff.Note) (from, to int) {
	r := v.by[n.Object]
	if r == nil || len(v.lines) == 0 { // a text without markers has no conflict to be found
		return 0, 0
	}
	first := r.doc.LineOf(n.Path)
	at := func(line int) int { return v.lines[min(line, len(v.lines))-1] }
	a, b, _ := r.doc.Span(n.Path, nil)
	return at(first), at(first + max(bytes.Count(r.doc.Text()[a:b], []byte("\n")), 1) - 1)
}

// bothViews are a text with dest's and with updated's side of each conflict.
func bothViews(marked string) (ours, theirs view) {
	if !strings.Contains(marked, "<<<<<<< ") {
		return view{text: marked}, view{text: marked}
	}
	var a, b strings.Builder
	a.Grow(len(marked))
	b.Grow(len(marked))
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
func pathsAt(text string, at []int, t *merge.Type) (out []merge.Path) {
	if len(at) == 0 {
		return nil
	}
	d := one(text)
	for _, offset := range at {
		var p merge.Path
		if d != nil && offset > 0 {
			p = d.PathAt(offset, t)
		}
		out = append(out, p)
	}
	return slices.CompactFunc(out, func(a, b merge.Path) bool { return a.String() == b.String() })
}

// report records what a merge decided against dest, and its conflicts. That the
// source wins a two-way merge, and that dest keeps its own changes in a three-way
// merge, is expected and not reported.
func (w weave) report() {
	d, plan := w.d, w.plan
	triple := merge.Triple{Local: plan.Result, Original: w.was, Live: d.docValue()}
	found := diff.Report{
		Object: d.called(), Live: d.docValue(), Local: plan.Result, Voice: diff.Voice{Merged: d.file.Where(), Policy: w.Policy.Name},
		Sensitive: w.Rules.Sensitive(d.named.ruled(triple)),
		Plan:      merge.Plan{Result: plan.Result, Conflicts: plan.Conflicts, Reordered: plan.Reordered},
	}
	w.out.Conflicts = append(w.out.Conflicts, diff.Conflicts(found)...)
	if w.Original == nil {
		return
	}
	found.Plan.Settled = slices.DeleteFunc(slices.Clone(plan.Settled), func(s merge.Disagreement) bool { return s.Kind == merge.Drift })
	for _, r := range plan.Removed {
		was, ok := merge.Lookup(w.was, r.Path, w.t)
		if ok && was == nil && r.Cause == merge.CauseNull {
			r.Cause = merge.CauseStillNull
		}
		if !ok || !merge.Equal(was, r.Value, nil) {
			found.Plan.Removed = append(found.Plan.Removed, r)
		}
	}
	w.out.Notes = append(w.out.Notes, diff.Notes(found)...)
}

// note records the decision about a whole resource.
func (m *merger) note(kind diff.NoteKind, r *resource, what string, winner merge.Side) {
	m.out.Notes = append(m.out.Notes, diff.Note{Object: r.called(), Kind: kind, Message: what, Winner: winner})
}

// read is the file of a text, nil where it is not YAML.
func read(text string) *yamldoc.File {
	f, err := yamldoc.Parse([]byte(text))
	if err != nil {
		return nil
	}
	return f
}

// one is the only document of a text, nil for any other text.
func one(text string) *yamldoc.Document {
	if f := read(text); f != nil && len(f.Documents()) == 1 {
		return f.Documents()[0]
	}
	return nil
}
