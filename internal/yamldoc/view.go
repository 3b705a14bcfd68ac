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
