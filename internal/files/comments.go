package files

import (
	"bytes"
	"maps"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// commented are the types that comments in a document state, by the fields that lead to
// them.
//
// Rules: kustomize's kyaml/fieldmeta, and kyaml/yaml/walk for which side's is taken.
type commented struct {
	own    *merge.Type // nil: no comment is about the value itself
	fields map[string]*commented
	elem   *commented // what any entry of the list states
}

// inComments returns the rules that the comments of several documents state; the first that states a type
// wins. It is nil where none does.
func inComments(rs ...*resource) *commented {
	var out *commented
	for _, r := range rs {
		if r != nil && bytes.Contains(r.doc.Text(), []byte("{\"")) {
			out = out.with(commentsOf(r.doc.Root()))
		}
	}
	return out
}

func commentsOf(n yamldoc.Node) *commented {
	c := &commented{fields: map[string]*commented{}}
	behind, above := n.Comments()
	for _, text := range []string{behind, above} {
		if t, ok := schema.FromComment(text); ok && c.own == nil {
			c.own = t
		}
	}
	values, _ := n.Mapping()
	for _, v := range values {
		name, _ := v.Key()
		if inner := commentsOf(v); inner != nil {
			c.fields[name] = inner
		}
	}
	entries, _ := n.List()
	for _, e := range entries {
		c.elem = c.elem.with(commentsOf(e))
	}
	if c.own == nil && len(c.fields) == 0 && c.elem == nil {
		return nil
	}
	return c
}

// with is c, and what o states where c states nothing.
func (c *commented) with(o *commented) *commented {
	switch {
	case c == nil:
		return o
	case o == nil:
		return c
	}
	out := &commented{own: c.own, fields: maps.Clone(c.fields), elem: c.elem.with(o.elem)}
	if out.own == nil {
		out.own = o.own
	}
	for name, inner := range o.fields {
		out.fields[name] = out.fields[name].with(inner)
	}
	return out
}

// on lays what comments state over a type; t may be nil.
func (c *commented) on(t *merge.Type) *merge.Type {
	if c == nil {
		return t
	}
	if c.own != nil {
		own := *c.own
		if own.Elem == nil {
			own.Elem = t.EntryType()
		}
		t = &own
	}
	if len(c.fields) == 0 && c.elem == nil || t != nil && t.Atomic {
		return t
	}
	out := &merge.Type{Kind: merge.Object, Open: true}
	if c.elem != nil {
		out = &merge.Type{Kind: merge.List}
	}
	if t != nil && t.Kind != merge.Unknown {
		*out = *t
	}
	switch {
	case out.Kind == merge.Object:
		out.Fields = maps.Clone(out.Fields)
		for name, inner := range c.fields {
			if out.Fields == nil {
				out.Fields = map[string]merge.Field{}
			}
			f := out.Fields[name]
			f.Type = inner.on(f.Type)
			out.Fields[name] = f
		}
	case c.elem != nil:
		out.Elem = c.elem.on(out.Elem)
	}
	return out
}

// mergeComment is how kpt writes down under which name upstream knows an object.
const mergeComment = "kpt-merge:"

// upstream is the namespace and name of the object upstream, as a comment of kpt has them
// behind metadata; ok is false where there is none.
//
// Rules: kpt's guide to updating packages ("kpt-merge: namespace/name").
func upstream(d *yamldoc.Document) (namespace, name string, ok bool) {
	if !bytes.Contains(d.Text(), []byte(mergeComment)) {
		return "", "", false
	}
	values, _ := d.Root().Mapping()
	for _, v := range values {
		if key, _ := v.Key(); key != "metadata" {
			continue
		}
		behind, _ := v.Comments()
		if rest, found := strings.CutPrefix(behind, mergeComment); found {
			namespace, name, ok = strings.Cut(strings.TrimSpace(rest), "/")
			return namespace, name, ok && name != ""
		}
	}
	return "", "", false
}

// comments are the comments of lines, counted. A # in a text of several lines is read as
// one too: it is to be found again, just the same.
func comments(lines string) map[string]int {
	if !strings.Contains(lines, "#") {
		return nil
	}
	out := map[string]int{}
	for line := range strings.Lines(lines) {
		if !strings.Contains(line, "#") { // most
			continue
		}
		if _, c, ok := strings.Cut(" "+strings.TrimSpace(line), " #"); ok && strings.TrimSpace(c) != "" {
			out[c]++
		}
	}
	return out
}

// lostComments are those which one side alone has added or taken out, and which the merged
// text, or that side of its conflicts, does not have so.
func lostComments(raw texts, marked string) []string {
	base, ours, theirs := comments(raw.base), comments(raw.ours), comments(raw.theirs)
	left, right := bothViews(marked)
	return append(lost(base, ours, theirs, comments(left.text)), lost(base, theirs, ours, comments(right.text))...)
}

// lost returns the comments that a side has another number of times than base and the other side have it, and
// than a view of the merged text has it.
func lost(base, side, other, view map[string]int) (out []string) {
	for _, all := range []map[string]int{base, side} {
		for c := range all {
			if side[c] != base[c] && other[c] == base[c] && view[c] != side[c] {
				out = append(out, c)
			}
		}
	}
	return out
}

// losesValues: a value that dest or updated alone has changed in documents of original is neither in a
// text nor on that side of its conflicts; or a side of the text is not YAML.
func (r *reader) losesValues(original, dest, updated []any, marked string) bool {
	left, right := bothViews(marked)
	ours, theirs := r.read(left.text), r.read(right.text)
	if ours == nil || theirs == nil {
		return true
	}
	base, d, u := factsOf(original), factsOf(dest), factsOf(updated)
	return len(lost(base, d, u, factsOf(docValues(ours))))+len(lost(base, u, d, factsOf(docValues(theirs)))) > 0
}

// docValues are the documents of a file, in order; nil for one that is empty.
func docValues(f *yamldoc.File) (out []any) {
	for _, d := range f.Documents() {
		out = append(out, d.Value())
	}
	return out
}

// marked merges texts by lines, with markers. Where the lines merge cleanly, or that loses something,
// the markers are around all.
func (m *merger) marked(raw texts, loses func(marked string) bool) []byte {
	out, conflicts := m.marks().Marked(linemerge.Merge(raw.base, raw.ours, raw.theirs))
	if conflicts > 0 && !loses(out) {
		return []byte(out)
	}
	return m.sections([]byte(raw.ours), []byte(raw.theirs))
}
