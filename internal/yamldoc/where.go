package yamldoc

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Node is a value as it stands in a text, for readers whose errors name lines. It is
// read-only; an alias is the value that it stands for.
type Node struct {
	file *File
	n    *node
	e    *entry // that it stands in, nil for a root
}

// Root is the document's value; it IsNull where the document is empty.
func (d *Document) Root() Node { return Node{file: d.file, n: d.root} }

// Line is the number of the line that the value starts on.
func (v Node) Line() int {
	if v.n == nil {
		return v.file.line
	}
	return v.file.lineAt(v.n.start)
}

// Key is the key under which the value stands in its mapping, and the line of the key; ""
// where it stands in none.
func (v Node) Key() (name string, line int) {
	if v.e == nil {
		return "", 0
	}
	return v.e.name, v.file.lineAt(v.e.start)
}

// Comments are the comment behind the value, or behind its key where the value stands
// below, and the one in the line above, without their # and blanks; "" where there is none.
func (v Node) Comments() (behind, above string) {
	if v.e == nil {
		return "", ""
	}
	src := text(v.file.src)
	behind = src.note(v.e)
	if lines := strings.TrimSpace(string(src[src.head(v.e):v.e.start])); lines != "" {
		above = strings.TrimSpace(lines[strings.LastIndexByte(lines, '\n')+1:])
	}
	return strings.TrimLeft(behind, "# "), strings.TrimLeft(above, "# ")
}

// Scalar is the text of a value that has no parts, as it is written but for quotes; ok is
// false for lists, mappings and null.
func (v Node) Scalar() (text string, ok bool) {
	n := v.n.follow()
	if n == nil || n.kind != scalarNode || n.value == nil {
		return "", false
	}
	return n.text, true
}

// IsNull reports whether the value is null, or is not there.
func (v Node) IsNull() bool {
	n := v.n.follow()
	return n == nil || n.kind == scalarNode && n.value == nil
}

// List are the entries of a list, in order; ok is false where the value is none.
func (v Node) List() (entries []Node, ok bool) { return v.parts(seqNode) }

// Mapping are the values of a mapping, in the order of the text; ok is false where the
// value is none.
func (v Node) Mapping() (values []Node, ok bool) { return v.parts(mapNode) }

func (v Node) parts(of kind) ([]Node, bool) {
	n := v.n.follow()
	if n == nil || n.kind != of {
		return nil, false
	}
	parts := make([]Node, len(n.entries))
	for i := range n.entries {
		e := &n.entries[i]
		parts[i] = Node{file: v.file, n: e.value, e: e}
	}
	return parts, true
}

// Gone stands for an entry of a list that is taken out.
type Gone struct{}

// Visit calls do for a value and all below it, with the names on the way, where "-" stands for an entry
// of a list, and with what returns the whole with another value there, or without an entry (Gone).
func Visit(v any, do func(v any, at []string, with func(any) any)) {
	visit(v, nil, func(v any) any { return v }, do)
}

func visit(v any, at []string, with func(any) any, do func(v any, at []string, with func(any) any)) {
	do(v, at, with)
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			visit(e, append(at[:len(at):len(at)], "-"), func(e any) any {
				if _, out := e.(Gone); out {
					return with(slices.Delete(slices.Clone(v), i, i+1))
				}
				return with(slices.Concat(v[:i], []any{e}, v[i+1:]))
			}, do)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			visit(v[name], append(at[:len(at):len(at)], name), func(e any) any { return with(merge.With(v, e, name)) }, do)
		}
	}
}

// Line is the number of the line that the document's content starts on.
func (d *Document) Line() int {
	at := d.from
	if d.root != nil {
		at = d.root.start
	}
	return d.file.lineAt(at)
}

func (f *File) lineAt(at int) int { return f.line + strings.Count(f.src[:at], "\n") }

// EntryLines are the numbers of the lines on which the entries start of the list that
// the document is or, if it is a mapping, has under that name; nil where there is none.
func (d *Document) EntryLines(name string) []int {
	list := d.root
	if e := list.child(name); e != nil {
		list = e.value
	}
	if list = list.follow(); list == nil || list.kind != seqNode {
		return nil
	}
	lines := make([]int, len(list.entries))
	line, at := d.file.line, 0
	for i := range list.entries {
		start := list.entries[i].value.start
		line, at = line+strings.Count(d.file.src[at:start], "\n"), start
		lines[i] = line
	}
	return lines
}

// LineOf is the number of the line that the value at a path stands on, or what there is of
// the way to it: of a field, its key's.
func (d *Document) LineOf(p merge.Path) int { return d.lineOf(d.root, p) }

// LineBelow is LineOf for an object that is a part of the document: the outermost mapping
// that begins on that line. It is 0 where there is none.
func (d *Document) LineBelow(line int, p merge.Path) int {
	src, from := text(d.file.src), 0
	for line -= d.file.line; line > 0 && from < len(src); line-- {
		from = src.lineNext(from)
	}
	if n := beginning(d.root, from, src.lineNext(from)); n != nil {
		return d.lineOf(n, p)
	}
	return 0
}

func (d *Document) lineOf(n *node, p merge.Path) int {
	if n == nil {
		return d.Line()
	}
	at := n.start
	for i, e := range along(n, p, nil) {
		if at = e.value.start; p[i].Kind == merge.FieldStep {
			at = e.start
		}
	}
	return d.file.lineAt(at)
}

// beginning looks for a mapping that begins in a range of the text.
func beginning(n *node, from, to int) *node {
	if n == nil || n.kind == mapNode && from <= n.start && n.start < to {
		return n
	}
	for i := range n.entries {
		if v := n.entries[i].value; v.start < to && from <= v.end {
			if found := beginning(v, from, to); found != nil {
				return found
			}
		}
	}
	return nil
}

// Span are the lines of a value and of the entry that it stands in, as offsets in the
// document's text; ok is false where there is none.
func (d *Document) Span(p merge.Path, t *merge.Type) (from, to int, ok bool) {
	way := along(d.root, p, t)
	switch {
	case d.root == nil || len(way) < len(p):
		return 0, 0, false
	case len(way) == 0:
		return 0, len(d.Text()), true
	}
	s, at := text(d.file.src), way[len(way)-1]
	return max(s.lineStart(at.start)-d.from, 0), s.lineNext(s.end(at)) - d.from, true
}

// PathAt leads to what stands at an offset of the document's text: the innermost entry that has it
// and begins before it, else the next one that begins. t states the keys of lists.
func (d *Document) PathAt(at int, t *merge.Type) (p merge.Path) {
	s := text(d.file.src)
	for n := d.root; n != nil && len(n.entries) > 0; {
		i := 0
		for i < len(n.entries)-1 && s.end(&n.entries[i]) < at+d.from {
			i++
		}
		e, step, inner := &n.entries[i], merge.Step{Kind: merge.IndexStep, Index: i}, t.EntryType()
		switch {
		case n.kind == mapNode:
			step, inner = merge.Named(e.name), t.Field(e.name).Type
		case t != nil && (t.Kind == merge.Keyed || t.Kind == merge.Set):
			step = merge.StepOf(t, e.value.value, 0)
		}
		if p = p.Child(step); at+d.from <= e.start {
			break
		}
		n, t = e.value, inner
	}
	return p
}

// along are the entries on the way to a path, as far as there are any.
func along(n *node, p merge.Path, t *merge.Type) (way []*entry) {
	for _, s := range p {
		var e *entry
		switch n = n.follow(); {
		case n == nil:
		case n.kind == mapNode && s.Kind == merge.FieldStep:
			e, t = n.child(s.Name), t.Field(s.Name).Type
		case n.kind == seqNode:
			list := merge.At[[]any](n.value)
			i := merge.EntryAt(list, s, t)
			if i < 0 && t == nil {
				i = withoutKeys(list, s)
			}
			if i >= 0 {
				e, t = &n.entries[i], t.EntryType()
			}
		}
		if e == nil {
			break
		}
		way, n = append(way, e), e.value
	}
	return way
}

// withoutKeys returns the place of the entry that has those keys of the step that it states: a default
// stands for the others. Of several such it is the one of the step's number. -1: there is none.
func withoutKeys(list []any, s merge.Step) int {
	nth := max(s.Nth, 1)
	return slices.IndexFunc(list, func(e any) bool {
		stated := 0
		for _, k := range s.Keys {
			v := merge.At[any](e, k.Name)
			if v != nil && !merge.Equal(v, k.Value, nil) {
				return false
			}
			if v != nil {
				stated++
			}
		}
		if stated > 0 {
			nth--
		}
		return stated > 0 && nth == 0
	})
}
