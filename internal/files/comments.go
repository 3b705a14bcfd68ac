package files

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// commented is a type that a comment in a document states, and the path to the value that it is
// about. An index stands for any entry of a list.
//
// Rules: kustomize's kyaml/fieldmeta, and kyaml/yaml/walk for which side's is taken.
type commented struct {
	at  merge.Path
	own *merge.Type
}

// withComments lays the types over t that the comments of several documents state; of two about one
// value the first. t may be nil.
func withComments(t *merge.Type, rs ...*resource) *merge.Type {
	var all []commented
	for _, r := range rs {
		if r != nil && bytes.Contains(r.doc.Text(), []byte("{\"")) {
			all = commentsOf(r.doc.Root(), nil, all)
		}
	}
	slices.SortStableFunc(all, func(a, b commented) int { return len(a.at) - len(b.at) }) // a type has none of those below it
	for _, c := range all {
		t = c.on(t, c.at)
	}
	return t
}

// commentsOf adds what the comments of a value and of all below it state.
func commentsOf(n yamldoc.Node, at merge.Path, all []commented) []commented {
	known := func(c commented) bool { return c.at.String() == at.String() }
	behind, above := n.Comments()
	for _, text := range []string{behind, above} {
		if t, ok := schema.FromComment(text); ok && !slices.ContainsFunc(all, known) {
			all = append(all, commented{at, t})
		}
	}
	values, _ := n.Mapping()
	for _, v := range values {
		name, _ := v.Key()
		all = commentsOf(v, at.Child(merge.Named(name)), all)
	}
	entries, _ := n.List()
	for _, e := range entries {
		all = commentsOf(e, at.Child(merge.Step{Kind: merge.IndexStep}), all)
	}
	return all
}

// on lays the stated type over t, from which the path leads to its place.
func (c commented) on(t *merge.Type, path merge.Path) *merge.Type {
	if len(path) == 0 {
		own := *c.own
		own.Elem = cmp.Or(own.Elem, t.EntryType())
		return &own
	}
	if t != nil && t.Atomic {
		return t
	}
	inList := path[0].Kind == merge.IndexStep
	out := &merge.Type{Kind: merge.Object, Open: true}
	if inList {
		out = &merge.Type{Kind: merge.List}
	}
	if t != nil && t.Kind != merge.Unknown {
		*out = *t
	}
	switch name := path[0].Name; {
	case out.Kind == merge.Object && !inList:
		fields := map[string]merge.Field{}
		maps.Copy(fields, out.Fields)
		f := fields[name]
		f.Type = c.on(f.Type, path[1:])
		fields[name], out.Fields = f, fields
	case out.Kind != merge.Object && inList:
		out.Elem = c.on(out.Elem, path[1:])
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
	out := map[string]int{}
	for line := range strings.Lines(lines) {
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
func losesValues(original, dest, updated []any, marked string) bool {
	left, right := bothViews(marked)
	ours, theirs := read(left.text), read(right.text)
	if ours == nil || theirs == nil {
		return true
	}
	base, d, u := yamldoc.Facts(original), yamldoc.Facts(dest), yamldoc.Facts(updated)
	return len(lost(base, d, u, yamldoc.Facts(docValues(ours))))+len(lost(base, u, d, yamldoc.Facts(docValues(theirs)))) > 0
}

// docValues are the documents of a file, in order; nil for one that is empty.
func docValues(f *yamldoc.File) []any { return object.Each(f.Documents(), (*yamldoc.Document).Value) }

// marked merges texts by lines, with markers. Where the lines merge cleanly, or that loses something,
// the markers are around all.
func (m *merger) marked(raw texts, loses func(marked string) bool) []byte {
	out, conflicts := marks.Marked(linemerge.Merge(raw.base, raw.ours, raw.theirs))
	if conflicts > 0 && !loses(out) {
		return []byte(out)
	}
	return m.sections([]byte(raw.ours), []byte(raw.theirs))
}
