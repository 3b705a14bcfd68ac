package yamldoc

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/linemerge"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// write puts a unit's markers into the text, or what its lines are merged to.
func (k *marker) write(u unit) (resolved bool) {
	eol := k.ed.look.eol
	ours := withEnd(string(k.ed.src[u.from:u.to]), eol)
	base := withEnd(k.side(u, k.Base, func(c Conflict) merge.Opt { return c.Base }), eol)
	theirs := withEnd(k.side(u, k.TheirSide, func(c Conflict) merge.Opt { return c.Theirs }), eol)
	chunks := []linemerge.Chunk{{Conflict: true, Base: base, Ours: ours, Theirs: theirs}}
	if u.byLines() {
		merged := linemerge.Merge(base, ours, theirs)
		clean := !slices.ContainsFunc(merged, func(c linemerge.Chunk) bool { return c.Conflict })
		if resolved = clean && k.holds(u, merged); resolved || !clean {
			chunks = merged
		}
	}
	k.ed.replace(u.from, u.to, k.fitted(u, k.text(chunks)))
	return resolved
}

// byLines: all that is in conflict in the unit may be merged by lines.
func (u unit) byLines() bool {
	return u.e != nil && !slices.ContainsFunc(u.conflicts, func(c Conflict) bool { return !c.ByLines })
}

// text is chunks with markers around those that are in conflict.
func (k *marker) text(chunks []linemerge.Chunk) string {
	var b strings.Builder
	line := func(char, name string) {
		size := k.Size
		if size == 0 {
			size = 7
		}
		b.WriteString(strings.TrimRight(strings.Repeat(char, size)+" "+name, " ") + k.ed.look.eol)
	}
	for _, c := range chunks {
		if !c.Conflict {
			b.WriteString(c.Ours)
			continue
		}
		line("<", k.Ours)
		b.WriteString(c.Ours)
		if k.BaseName != "" {
			line("|", k.BaseName)
			b.WriteString(c.Base)
		}
		line("=", "")
		b.WriteString(c.Theirs)
		line(">", k.Theirs)
	}
	return b.String()
}

// fitted is the text of a unit with the line ends that its place in the document needs.
func (k *marker) fitted(u unit, out string) string {
	eol := k.ed.look.eol
	if u.from == u.to { // behind the end of a line
		return eol + strings.TrimSuffix(out, eol)
	} else if u.to < len(k.ed.src) && isBreak(k.ed.src[u.to]) {
		return strings.TrimSuffix(out, eol)
	}
	return out
}

// holds: the document with the merged lines of a unit is YAML, and differs in nothing
// but that unit.
func (k *marker) holds(u unit, merged []linemerge.Chunk) bool {
	text := k.ed.apply(k.ed.doc.from, k.ed.doc.to, []change{{u.from, u.to, k.fitted(u, k.text(merged))}})
	f, err := Parse([]byte(text))
	if err != nil || len(f.Documents()) != 1 {
		return false
	}
	got := f.Documents()[0].Value()
	now, ok := merge.Lookup(got, u.path, k.Type)
	if !ok {
		return false
	}
	want, err := merge.Replay(k.ed.doc.value, []merge.Change{{Op: merge.OpSet, Path: u.path, New: merge.Some(now)}})
	return err == nil && exact(want, got)
}

func withEnd(s, eol string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + eol
}

// side is the text of a unit as another side has it, "" if that has none.
func (k *marker) side(u unit, d *Document, value func(Conflict) merge.Opt) string {
	v, present := k.ed.doc.root.value, true
	switch {
	case u.e != nil:
		v = u.e.value.value
	case len(u.path) > 0:
		v, present = nil, false
	}
	for _, c := range u.conflicts {
		rest := c.Path[len(u.path):]
		o := value(c)
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
	return k.print(u, d, v)
}

// print writes a unit with another value.
func (k *marker) print(u unit, d *Document, v any) string {
	p := printer{look: k.ed.look}
	t := k.Type.At(u.path)
	var there origin
	if d != nil && d.root != nil {
		there = locate(d, u.path, k.Type)
	}
	if len(u.path) == 0 {
		p.value(v, originsOf(origin{s: k.ed.src, n: k.ed.doc.root}, there), t, place{col: -1})
		return strings.TrimPrefix(p.String(), " ")
	}
	if raw, ok := k.asWritten(u, there, v); ok {
		return raw
	}
	own := origin{s: k.ed.src}
	if u.e != nil {
		own.n, own.e = u.e.value, u.e
	}
	all := originsOf(there, own)
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
