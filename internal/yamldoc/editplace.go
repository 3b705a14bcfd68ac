package yamldoc

import (
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

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

// sourceNote is the comment that the source has on the line of a changed value.
func (ed *editor) sourceNote(all origins) string {
	if !ed.comments || len(all) < 2 || all[1].e == nil {
		return ""
	}
	return all[1].s.note(all[1].e)
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
