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
	i, indent := staying(stay, a.behind), strings.Repeat(" ", n.indent)
	if i >= 0 {
		at := ed.src.end(&n.entries[i])
		gap := ""
		if n.kind == seqNode && len(n.entries) > 1 && ed.src.emptyAbove(ed.src.head(&n.entries[1])) { // empty lines between entries
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
		if next := slices.Index(stay[i+1:], true); next >= 0 {
			to = ed.src.head(&n.entries[i+1+next])
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

// staying is the last entry up to i that stays; -1 if there is none.
func staying(stay []bool, i int) int {
	for i >= 0 && !stay[i] {
		i--
	}
	return i
}

// arrangeFlow does the same inside [ ] or { }.
func (ed *editor) arrangeFlow(n *node, stay []bool, add []added) {
	first, last, news := slices.Index(stay, true), staying(stay, len(stay)-1), make([]string, len(stay))
	for _, a := range add {
		i := staying(stay, a.behind)
		if i < 0 {
			at := ed.src.head(&n.entries[first])
			ed.replace(at, at, a.text+","+ed.flowGap(n, first))
			continue
		}
		news[i] += "," + ed.flowGap(n, i) + a.text
	}
	trailing := ed.behind(n, len(stay)-1) > n.entries[len(stay)-1].end()
	for i := range stay {
		if !stay[i] {
			ed.removeFlow(n, i, stay)
			continue
		}
		list, end, at := news[i], n.entries[i].end(), ed.behind(n, i)
		if i < last || trailing {
			list += ","
		}
		if at == end {
			ed.replace(end, end, list[:min(len(list), 1)])
		} else if list == "" {
			ed.replace(at-1, at, "")
		}
		if len(list) > 1 {
			at = ed.past(n, i)
			ed.replace(at, at, list[1:])
		}
	}
}

// removeFlow takes an entry out. The comment behind it goes too, unless one before it on that line stays.
func (ed *editor) removeFlow(n *node, i int, stay []bool) {
	e, to := &n.entries[i], ed.past(n, i)
	from, before, open := e.start, staying(stay, i), !ed.src.blank(to, ed.src.lineEnd(to))
	switch {
	case !open && ed.src.indent(from) >= 0:
		ed.remove(n, i, stay)
		return
	case i < len(stay)-1 && (open || before < 0 && ed.src.head(&n.entries[i+1]) == n.entries[i+1].start):
		to = n.entries[i+1].start
	case before >= 0:
		if from = ed.past(n, before); !strings.Contains(string(ed.src[n.entries[before].end():e.start]), "\n") {
			to = ed.behind(n, i)
		}
		if from > ed.behind(n, before) {
			from = ed.src.head(e)
		}
	}
	ed.replace(from, to, "")
}

// behind is where an entry of [ ] or { } and its comma end.
func (ed *editor) behind(n *node, i int) int {
	end := n.entries[i].end()
	for at := end; at < n.end; at++ {
		switch {
		case ed.src[at] == ',':
			return at + 1
		case ed.src[at] == '#':
			at = ed.src.lineEnd(at)
		case !isBlank(ed.src[at]) && !isBreak(ed.src[at]):
			return end
		}
	}
	return end
}

// past is where the comment behind that ends.
func (ed *editor) past(n *node, i int) int {
	at := ed.behind(n, i)
	if ed.src.comment(at) == "" {
		return at
	}
	return max(ed.src.lineEnd(at), ed.src.end(&n.entries[i]))
}

// flowGap returns the text between two entries: a line break where the neighbour starts its line, or has a comment.
func (ed *editor) flowGap(n *node, i int) string {
	at := n.entries[i].start
	switch line := ed.src.indent(at); {
	case line > n.start:
		return ed.look.eol + string(ed.src[line:at])
	case ed.past(n, i) > ed.behind(n, i):
		return ed.look.eol + strings.Repeat(" ", at-ed.src.lineStart(at))
	}
	return " "
}
