package yamldoc

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// slot is a value and the entry it stands in; entry is nil for the root.
type slot struct {
	n     *node
	e     *entry
	place place
	anew  bool // if it changes at all it is written anew
}

// run makes the edits that lead to want.
func (ed *editor) run(want any, t *merge.Type, from origins) {
	if ed.doc.root == nil {
		ed.fill(want, t, from)
		return
	}
	ed.holds = map[*node]any{}
	ed.editValue(slot{n: ed.doc.root, place: place{col: -1}}, want, t, from)
}

// fill writes the whole value into an empty document, behind its comments.
func (ed *editor) fill(want any, t *merge.Type, from origins) {
	p := printer{look: ed.look}
	p.printValue(want, model{from, t}, place{col: -1})
	s := strings.TrimPrefix(p.String(), " ") + ed.look.eol
	if at := ed.doc.to; at > ed.doc.from && ed.src[at-1] != '\n' {
		s = ed.look.eol + s
	}
	ed.replace(ed.doc.to, ed.doc.to, s)
}

// editValue makes one value what is wanted; from is where the source has it.
func (ed *editor) editValue(s slot, want any, t *merge.Type, from origins) {
	n := s.n
	if n.anchor != "" {
		ed.holds[n] = want
	}
	if !ed.doc.root.refs && same(n.value, want) {
		return
	}
	if ed.force[n] == whole || s.anew && !exact(n.value, want) {
		ed.rewrite(s, want, t, from)
		return
	}
	switch n.kind {
	case aliasNode:
		ed.alias(s, want, t, from)
		return
	case mapNode:
		if m, ok := want.(map[string]any); ok && len(m) > 0 && len(n.entries) > 0 {
			ed.mapping(s, m, t, from)
			return
		}
	case seqNode:
		if l, ok := want.([]any); ok && len(l) > 0 && len(n.entries) > 0 {
			ed.list(s, l, t, from)
			return
		}
	}
	if !same(n.value, want) {
		ed.rewrite(s, want, t, from)
	}
}

// alias keeps an alias if what it refers to will be what is wanted here.
func (ed *editor) alias(s slot, want any, t *merge.Type, from origins) {
	target := s.n.target
	holds, known := ed.holds[target]
	if target.key {
		holds, known = target.value, true
	}
	if known && exact(holds, want) {
		return
	}
	ed.rewrite(s, want, t, from)
}

// rewrite replaces a value, however it is written, by another.
func (ed *editor) rewrite(s slot, want any, t *merge.Type, from origins) {
	ed.unshare(s.n)
	all := append(origins{{s: ed.src, n: s.n, e: s.e}}, from...)
	switch {
	case s.e == nil:
		ed.rewriteRoot(s, want, t, all)
	case s.place.flow:
		ed.rewriteFlow(s, model{all, t}.inline(want, s.place, ed.look))
	default:
		ed.rewriteBlock(s, want, t, all)
	}
}

func (ed *editor) rewriteRoot(s slot, want any, t *merge.Type, all origins) {
	p := printer{look: ed.look}
	p.printValue(want, model{all, t}, s.place)
	out := strings.TrimPrefix(p.String(), " ")
	from, to := s.n.start, s.n.end
	if ed.src.indent(from) >= 0 {
		from = max(ed.src.lineStart(from), ed.doc.from)
	} else if strings.Contains(out, "\n") {
		out = ed.look.eol + out
	}
	note := ed.src.comment(to)
	if note != "" || ed.src.blank(to, ed.src.lineEnd(to)) {
		to = ed.src.lineEnd(to)
	}
	switch {
	case note == "" || s.n.block(): // in a block it is the last entry's, which takes it along
	case strings.Contains(out, "\n"):
		out = note + ed.look.eol + out
	default:
		out += " " + note
	}
	ed.replace(from, to, out)
}

// lookAt is the layout of a value that is written at an entry: if an empty line follows,
// a literal block must not keep trailing line breaks, since the line would become part of
// it.
func (ed *editor) lookAt(e *entry) look {
	l := ed.look
	next := ed.src.lineNext(ed.src.end(e))
	l.careful = l.careful || next < len(ed.src) && ed.src.blank(next, ed.src.lineNext(next))
	return l
}

// apart is the space that a comment needs in front of it.
func (ed *editor) apart(at int) string {
	if at < len(ed.src) && ed.src[at] == '#' {
		return " "
	}
	return ""
}

func (ed *editor) rewriteFlow(s slot, text string) {
	n, lead := s.n, ""
	if n.missing() {
		switch ed.src[s.e.mark-1] {
		case ' ', '\t':
		case ':':
			lead = " "
		default: // a key without a colon
			lead = ": "
		}
	}
	ed.replace(ed.keptFrom(n), n.end, lead+text+ed.apart(n.end))
}

// keptFrom is where the new text of a value starts: behind its anchor, which stays
// for those who refer to it. A tag is removed, with the anchor.
func (ed *editor) keptFrom(n *node) int {
	if n.tag != "" {
		return n.start
	}
	return n.body
}

// rewriteBlock replaces the value of an entry of a block collection. The new text
// has a first line, which stands behind the colon or dash, and may have more,
// which stand below it; so had the old.
func (ed *editor) rewriteBlock(s slot, want any, t *merge.Type, all origins) {
	e, pl := s.e, s.place
	note := ed.src.note(e)
	extra := ""
	if note == "" && ed.comments && len(all) > 1 && all[1].e != nil {
		extra = all[1].s.note(all[1].e) // what the source has on the line
	}
	colon := ""
	if e.asked && ed.src[e.mark-1] != ':' {
		colon = ed.look.eol + strings.Repeat(" ", pl.col) + ":"
	}
	if colon == "" && ed.inPlace(s) && !isBlock(want, all) {
		if out := (model{all, t}).inline(want, pl, ed.lookAt(e)); !strings.Contains(out, "\n") {
			ed.rewriteInPlace(s, out, extra)
			return
		}
	}
	pl.note, pl.deep = note+extra, ed.src.deep(s.n)
	p := printer{look: ed.lookAt(e)}
	p.printValue(want, model{all, t}, pl)
	out := p.String()
	if a := s.n.anchor; a != "" {
		out = ed.withAnchor(a, out, pl, isBlock(want, all))
	}
	ed.replace(e.mark, ed.src.end(e), colon+out+ed.leftover(s, want))
}

// leftover are the comment lines that stay of a collection that becomes an empty one
// since there were only nulls in it: all but those above its entries.
func (ed *editor) leftover(s slot, want any) string {
	if !s.n.block() || !hollow(want) || !hollow(s.n.value) {
		return ""
	}
	var own []change
	ed.heads(s.n, &own)
	var b strings.Builder
	for at, end := ed.src.lineNext(s.e.mark), ed.src.end(s.e); at < end; at = ed.src.lineNext(at) {
		line := string(ed.src[at:ed.src.lineEnd(at)])
		if strings.HasPrefix(strings.TrimLeft(line, " "), "#") && !slices.ContainsFunc(own, func(c change) bool { return c.from <= at && at < c.to }) {
			b.WriteString(ed.look.eol + line)
		}
	}
	return b.String()
}

// heads adds where the comments above the entries of a collection stand.
func (ed *editor) heads(n *node, out *[]change) {
	for i := range n.entries {
		e := &n.entries[i]
		*out = append(*out, change{from: ed.src.lineStart(ed.head(n, i)), to: e.start})
		ed.heads(e.value, out)
	}
}

// hollow: a value in which there is nothing but nulls.
func hollow(v any) bool { return !merge.Any(v, isStated) }

func isStated(v any) bool { return v != nil && merge.IsScalar(v) }

// unshare records that a value, which may use anchors, is written out.
func (ed *editor) unshare(n *node) {
	if ed.unshared != nil || !n.refs {
		return
	}
	if n.kind == aliasNode {
		ed.unshared = &AliasError{Anchor: n.target.anchor, Line: ed.doc.file.lineAt(n.start)}
		return
	}
	for i := range n.entries {
		ed.unshare(n.entries[i].value)
	}
}

// Anchors are the names of the anchors at and around the value at a path, and of those whose
// value it is through an alias: a change of the value concerns all who use them.
func (d *Document) Anchors(p merge.Path) []string {
	var names []string
	nodes := []*node{d.root}
	for _, e := range along(d.root, p, nil) {
		nodes = append(nodes, e.value)
	}
	for i, n := range nodes {
		for n != nil {
			if name := n.anchor; name != "" {
				names = append(names, name)
			}
			if n.kind != aliasNode {
				break
			}
			n = n.target
		}
		for k := 0; n != nil && i < len(p) && n.child(p[i].Name) == nil && k < len(n.entries); k++ {
			if e := &n.entries[k]; e.merge && e.value.kind == aliasNode {
				names = append(names, e.value.target.anchor)
			}
		}
	}
	return names
}

// inPlace: the old value stands behind its colon or dash, or is missing there.
func (ed *editor) inPlace(s slot) bool {
	n := s.n
	return !n.block() && n.style != literalStyle && n.style != foldedStyle &&
		!strings.Contains(string(ed.src[s.e.mark:n.start]), "\n")
}

// isBlock: the value will be written over several lines.
func isBlock(v any, all origins) bool {
	k := seqNode
	if _, isMap := v.(map[string]any); isMap {
		k = mapNode
	}
	n := all.node(k)
	return merge.HasEntries(v) && (n == nil || n.block())
}

// rewriteInPlace leaves white space and comment around the value as they are.
func (ed *editor) rewriteInPlace(s slot, out, note string) {
	from := ed.keptFrom(s.n)
	if s.n.missing() || from == s.n.end {
		out = " " + out
	}
	ed.replace(from, s.n.end, out+ed.apart(s.n.end))
	if note != "" {
		end := ed.src.lineEnd(s.e.end())
		ed.replace(end, end, " "+note)
	}
}

// withAnchor puts an anchor in front of a value. In a list it needs a line of its
// own above a mapping, or it would be the first key's.
func (ed *editor) withAnchor(name, out string, pl place, block bool) string {
	if block && pl.list && !strings.HasPrefix(out, ed.look.eol) && pl.note == "" {
		out = ed.look.eol + strings.Repeat(" ", pl.col+len("- ")) + strings.TrimLeft(out, " ")
	}
	return " &" + name + out
}

// noteAround takes over the source's comment on a field in which something has
// changed: on a flow collection's line as on a scalar's, on a block's behind its key.
func (ed *editor) noteAround(e *entry, all origins, pl place) {
	from := all.first()
	if pl.flow || !ed.comments || from.e == nil || ed.src.note(e) != "" {
		return
	}
	at := ed.src.lineEnd(e.end())
	switch {
	case e.value.style == flowStyle:
	case !e.value.block() || !strings.Contains(string(ed.src[e.mark:e.value.body]), "\n"):
		return
	default:
		at = ed.src.propsEnd(e)
	}
	if note := from.s.note(from.e); note != "" {
		ed.replace(at, at, " "+note)
	}
}
