package yamldoc

import (
	"slices"
	"sort"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Conflict is a value that is left to the user. Our side's is in the document.
type Conflict struct {
	Path   merge.Path
	Theirs merge.Opt
}

// Lines are whole lines of a document's text, from one offset to another, that are left to
// the user, and what the other side has in their place.
type Lines struct {
	From, To int
	Theirs   string
}

// Marks defines how conflicts are shown.
type Marks struct {
	Type *merge.Type // pairs the entries of lists

	// TheirSide is where the other side's values come from, for their comments and
	// spelling; nil where there is none.
	TheirSide *Document

	Ours, Theirs string // stand behind the markers
}

// Mark gives the document's text with conflict markers around the lines of each
// value in conflict, ours first, and around each of lines that is not part of one already.
// Where a value does not have lines of its own, the smallest block around it that has is
// marked. Unless there are no conflicts, the text is not YAML.
func (d *Document) Mark(conflicts []Conflict, lines []Lines, m Marks) []byte {
	if len(conflicts)+len(lines) == 0 || d.root == nil {
		return d.Text()
	}
	k := marker{Marks: m, ed: &editor{src: text(d.file.src), doc: d, look: d.look([]*Document{m.TheirSide})}}
	k.ed.look.careful = true
	for _, c := range conflicts {
		k.place(c)
	}
	k.join()
	for _, u := range k.units {
		k.mark(u, k.theirs(u))
	}
	for _, l := range lines {
		u := unit{from: d.from + l.From, to: d.from + l.To}
		if !slices.ContainsFunc(k.units, func(o unit) bool { return o.from <= u.to && u.from <= o.to }) {
			k.mark(u, l.Theirs)
		}
	}
	out := k.ed.apply(d.from, d.to, k.ed.edits)
	if !strings.HasSuffix(out, "\n") {
		out += k.ed.look.eol
	}
	return []byte(out)
}

// Span are the lines of a value and of the entry that it stands in, as offsets in the
// document's text; ok is false where there is none.
func (d *Document) Span(p merge.Path, t *merge.Type) (from, to int, ok bool) {
	if d.root == nil {
		return 0, 0, false
	}
	o := locate(d, p, t)
	if o.e == nil {
		return 0, 0, false
	}
	return max(o.s.lineStart(o.e.start)-d.from, 0), o.s.lineNext(o.s.end(o.e)) - d.from, true
}

// unit is what one group of markers stands around: an entry with lines of its own,
// a place for one that our side does not have, or the whole document.
type unit struct {
	path      merge.Path
	parent    *node
	e         *entry // nil: not on our side, or the whole document
	from, to  int
	conflicts []Conflict
}

type marker struct {
	Marks
	ed    *editor
	units []unit
}

// place finds the unit of a conflict.
func (k *marker) place(c Conflict) {
	u := unit{from: k.ed.doc.from, to: k.ed.doc.to, conflicts: []Conflict{c}}
	n, t := k.ed.doc.root, k.Type
	for i, step := range c.Path {
		e, inner := find(n, step, t)
		switch {
		case e == nil && n.kind != scalarNode && n.block() && len(n.entries) > 0 && i == len(c.Path)-1:
			end := k.ed.src.end(&n.entries[len(n.entries)-1])
			if k.ed.ownLines(n) {
				u.path, u.parent, u.e, u.from, u.to = c.Path, n, nil, end, end
			}
		case e != nil && n.block() && k.ed.src.ownLine(e.start):
			u.path, u.parent, u.e = c.Path[:i+1], n, e
			u.from, u.to = k.ed.src.lineStart(e.start), k.ed.src.end(e)
		}
		if e == nil {
			break
		}
		n, t = e.value, inner
		if n.kind == aliasNode {
			break
		}
	}
	k.units = append(k.units, u)
}

// ownLines: an entry can be put behind the collection's last.
func (ed *editor) ownLines(n *node) bool {
	return ed.src.ownLine(n.entries[len(n.entries)-1].start) || len(n.entries) == 1
}

// find takes one step down.
func find(n *node, s merge.Step, t *merge.Type) (*entry, *merge.Type) {
	switch {
	case n.kind == mapNode && s.Kind == merge.FieldStep:
		return n.child(s.Name), t.Field(s.Name).Type
	case n.kind == seqNode && s.Kind == merge.IndexStep && s.Index < len(n.entries):
		return &n.entries[s.Index], t.EntryType()
	case n.kind == seqNode && (s.Kind == merge.KeyStep || s.Kind == merge.ValueStep):
		nth := max(s.Nth, 1)
		for i := range n.entries {
			if stepFits(s, n.entries[i].value.value) {
				if nth--; nth == 0 {
					return &n.entries[i], t.EntryType()
				}
			}
		}
	}
	return nil, nil
}

// stepFits reports whether a step leads to an entry of a list.
func stepFits(s merge.Step, v any) bool {
	if s.Kind == merge.ValueStep {
		return exact(s.Value, v)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for _, part := range s.Keys {
		kv := m[part.Name]
		if kv == nil && part.Default {
			continue
		}
		if !same(kv, part.Value) {
			return false
		}
	}
	return true
}

// join puts units together that lie in one another.
func (k *marker) join() {
	sort.SliceStable(k.units, func(i, j int) bool {
		a, b := k.units[i], k.units[j]
		return a.from < b.from || a.from == b.from && len(a.path) < len(b.path)
	})
	out := k.units[:0]
	for _, u := range k.units {
		if n := len(out); n > 0 && leads(out[n-1].path, u.path) {
			out[n-1].conflicts = append(out[n-1].conflicts, u.conflicts...)
			continue
		}
		out = append(out, u)
	}
	k.units = out
}

// leads reports whether one path is the other, or leads to it.
func leads(outer, inner merge.Path) bool {
	return len(outer) <= len(inner) && outer.String() == inner[:len(outer)].String()
}
