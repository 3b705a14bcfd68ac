package yamldoc

import (
	"slices"
	"strings"
)

// arrange takes the entries out that do not stay, and puts new ones in. At least
// one entry stays, or is a <<.
func (ed *editor) arrange(s slot, stay []bool, add []added) {
	if len(add) == 0 && !slices.Contains(stay, false) {
		return
	}
	if s.n.style == flowStyle {
		ed.arrangeFlow(s.n, stay, add)
		return
	}
	for _, a := range add {
		ed.insert(s.n, stay, a)
	}
	for i := range stay {
		if !stay[i] {
			ed.remove(s.n, i, stay)
		}
	}
}

// insert puts an entry behind the one it follows, if that stays; behind the last
// before it that does otherwise, or at the front.
func (ed *editor) insert(n *node, stay []bool, a added) {
	i := a.behind
	for i >= 0 && !stay[i] {
		i--
	}
	indent := strings.Repeat(" ", n.indent)
	if i >= 0 {
		at := ed.src.end(&n.entries[i])
		gap := ""
		if ed.airy(n) {
			gap = ed.look.eol
		}
		ed.replace(at, at, gap+ed.look.eol+indent+a.text)
		return
	}
	at := ed.head(n, 0)
	if line := ed.src.lineStart(at); ed.src.blank(line, at) && line >= ed.doc.from {
		ed.replace(line, line, indent+a.text+ed.look.eol)
		return
	}
	ed.replace(at, at, a.text+ed.look.eol+indent)
}

// head is where an entry starts with the comments above it. Those at the top of a
// document are the document's, not its first field's, and those right below a null are about
// what could stand there.
func (ed *editor) head(n *node, i int) int {
	e := &n.entries[i]
	if i == 0 && n == ed.doc.root {
		return e.start
	}
	head := ed.src.head(e)
	if i > 0 && n.entries[i-1].value.value == nil && ed.src.lineStart(head) == ed.src.lineNext(ed.src.end(&n.entries[i-1])) {
		return e.start
	}
	return head
}

// airy: the entries of a list have empty lines between them.
func (ed *editor) airy(n *node) bool {
	return n.kind == seqNode && len(n.entries) > 1 && ed.src.emptyAbove(ed.src.head(&n.entries[1]))
}

// remove takes an entry out with its comments and its lines. Comments below a null
// are not its own: they state what could stand there, and stay.
func (ed *editor) remove(n *node, i int, stay []bool) {
	e := &n.entries[i]
	from, to := ed.head(n, i), ed.src.end(e)
	documented := e.value.value == nil && to > ed.src.lineEnd(e.end())
	if documented {
		to = ed.src.lineEnd(e.end())
	}
	line := ed.src.lineStart(from)
	switch behindDash := !ed.src.blank(line, from) || line < ed.doc.from; {
	case behindDash && documented:
		from = len(strings.TrimRight(string(ed.src[:from]), " "))
	case behindDash:
		// It starts behind the dash of the entry around it: the next one moves up.
		for i++; i < len(stay); i++ {
			if stay[i] {
				to = ed.src.head(&n.entries[i])
				break
			}
		}
	case !slices.Contains(stay[:i], true): // no line before it stays, of which the break would be taken
		if i > 0 {
			line = ed.gapAbove(n, i, line)
		}
		from, to = line, ed.src.lineNext(to)
	default: // with the line break before it, since what is added comes before the one behind
		from = ed.src.lineEnd(ed.withGap(n, i, line) - 1)
		if ed.src[from-1] == '\r' {
			from--
		}
	}
	ed.replace(from, to, "")
}

// withGap takes empty lines above an entry along, if there are some below it too
// or nothing comes below.
func (ed *editor) withGap(n *node, i, line int) int {
	if !ed.src.emptyAbove(line) {
		return line
	}
	next := ed.src.lineNext(ed.src.end(&n.entries[i]))
	if i < len(n.entries)-1 && !ed.src.blank(next, ed.src.lineNext(next)) {
		return line
	}
	return ed.gapAbove(n, i, line)
}

// gapAbove is where the empty lines above an entry begin.
func (ed *editor) gapAbove(n *node, i, line int) int {
	for ed.src.emptyAbove(line) {
		above := ed.src.lineStart(line - 1)
		if above <= n.entries[i].bound { // it is the end of a literal
			break
		}
		line = above
	}
	return line
}

// arrangeFlow does the same inside [ ] or { }.
func (ed *editor) arrangeFlow(n *node, stay []bool, add []added) {
	first := 0
	for !stay[first] {
		first++
	}
	if first > 0 {
		ed.replace(n.entries[0].start, n.entries[first].start, "")
	}
	for i := first + 1; i < len(stay); i++ {
		if !stay[i] {
			ed.replace(n.entries[i-1].end(), n.entries[i].end(), "")
		}
	}
	for _, a := range add {
		i := a.behind
		for i >= 0 && !stay[i] {
			i--
		}
		if i < 0 {
			at := n.entries[first].start
			ed.replace(at, at, a.text+ed.flowGap(n, first, ","))
			continue
		}
		at := n.entries[i].end()
		ed.replace(at, at, ed.flowGap(n, i, ",")+a.text)
	}
}

// flowGap returns the text between two entries: a line break where the neighbour
// starts its line.
func (ed *editor) flowGap(n *node, i int, comma string) string {
	at := n.entries[i].start
	if line := ed.src.indent(at); line > n.start {
		return comma + ed.look.eol + string(ed.src[line:at])
	}
	return comma + " "
}
