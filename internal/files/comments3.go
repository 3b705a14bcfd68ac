package files

import (
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

// comments are the comments of lines, counted. A # in a text of several lines is read as
// one too: it is to be found again, just the same.
func comments(lines string) map[string]int {
	if !strings.Contains(lines, "#") {
		return nil
	}
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
