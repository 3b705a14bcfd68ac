package yamldoc

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// mark puts markers around a unit.
func (k *marker) mark(u unit, theirs string) {
	eol := k.ed.look.eol
	out := "<<<<<<< " + k.Ours + eol + withEnd(string(k.ed.src[u.from:u.to]), eol) +
		"=======" + eol + withEnd(theirs, eol) + ">>>>>>> " + k.Theirs
	if u.from == u.to && u.from > k.ed.doc.from && k.ed.src[u.from-1] != '\n' { // behind the end of a line
		out = eol + out
	} else if u.to >= len(k.ed.src) || !isBreak(k.ed.src[u.to]) || u.to > u.from && k.ed.src[u.to-1] == '\n' || u.from == u.to {
		out += eol
	}
	k.ed.replace(u.from, u.to, out)
}

func withEnd(s, eol string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + eol
}

// theirs is the text of a unit as the other side has it, "" if that has none.
func (k *marker) theirs(u unit) string {
	v, present := k.ed.doc.root.value, true
	switch {
	case u.e != nil:
		v = u.e.value.value
	case len(u.path) > 0:
		v, present = nil, false
	}
	for _, c := range u.conflicts {
		rest := c.Path[len(u.path):]
		o := c.Theirs
		if len(rest) == 0 {
			v, present = o.Value, o.Set
			continue
		}
		change := merge.Change{Op: merge.OpRemove, Path: rest}
		if o.Set {
			change.Op, change.New = merge.OpSet, o
		}
		if changed, err := merge.Replay(v, []merge.Change{change}); err == nil {
			v = changed
		}
	}
	if !present {
		return ""
	}
	return k.print(u, v)
}

// print writes a unit with another value.
func (k *marker) print(u unit, v any) string {
	p := printer{look: k.ed.look}
	t := k.Type.At(u.path)
	var there origin
	if d := k.TheirSide; d != nil && d.root != nil {
		there = locate(d, u.path, k.Type)
	}
	if len(u.path) == 0 {
		p.value(v, k.origins(origin{s: k.ed.src, n: k.ed.doc.root}, there), t, place{col: -1})
		return strings.TrimPrefix(p.String(), " ")
	}
	if raw, ok := k.asWritten(u, there, v); ok {
		return raw
	}
	own := origin{s: k.ed.src}
	if u.e != nil {
		own.n, own.e = u.e.value, u.e
	}
	all := k.origins(there, own)
	at := entryAt{in: own, e: own.e}
	if there.e != nil {
		at = entryAt{in: there, e: there.e}
	}
	pl := place{col: u.parent.indent, list: u.parent.kind == seqNode}
	p.WriteString(strings.Repeat(" ", u.parent.indent))
	if pl.list {
		p.item(v, model{all, t}, at, pl)
	} else {
		at.name = u.path[len(u.path)-1].Name
		p.entry(v, model{all, t}, at, pl)
	}
	return p.String()
}

// origins are those that there are.
func (k *marker) origins(all ...origin) origins {
	return slices.DeleteFunc(all, func(o origin) bool { return o.n == nil })
}

// asWritten is a unit as another side has it, line by line, where its value is v there; ok is
// false where it has to be written anew. What nobody has changed must not differ in its
// line breaks.
func (k *marker) asWritten(u unit, there origin, v any) (raw string, ok bool) {
	e := there.e
	if u.e == nil || e == nil || e.refers() || !there.s.ownLine(e.start) || !exact(e.value.value, v) {
		return "", false
	}
	from := there.s.lineStart(e.start)
	raw = string(there.s[from:there.s.end(e)])
	shift := u.parent.indent - (e.start - from)
	if shift == 0 {
		return raw, true
	}
	var b strings.Builder
	for line := range strings.Lines(raw) {
		blank := strings.TrimSpace(line) == ""
		switch {
		case blank:
		case shift > 0:
			b.WriteString(strings.Repeat(" ", shift))
		case strings.HasPrefix(line, strings.Repeat(" ", -shift)):
			line = line[-shift:]
		default:
			return "", false
		}
		b.WriteString(line)
	}
	return b.String(), true
}

// locate finds where a document has a value.
func locate(d *Document, path merge.Path, t *merge.Type) origin {
	o := origin{s: text(d.file.src), n: d.root}
	for _, step := range path {
		n := o.n.follow()
		e, inner := find(n, step, t)
		if e == nil {
			return origin{}
		}
		o.n, o.e, t = e.value, e, inner
	}
	return o
}
