package files

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

// reader keeps the last texts that were read, and the last that were merged by lines: most
// texts of a merge are looked at several times, and reading is most of its work.
type reader struct {
	last   [4]parsed
	next   int
	sides  texts
	merged string
	clean  bool
}

// parsed is a text as it was read; its file is nil where it is not YAML.
type parsed struct {
	text string
	file *yamldoc.File
}

// read is the file of a text, nil where it is not YAML.
func (r *reader) read(text string) *yamldoc.File {
	if i := slices.IndexFunc(r.last[:], func(p parsed) bool { return p.file != nil && p.text == text }); i >= 0 {
		return r.last[i].file
	}
	f, err := yamldoc.Parse([]byte(text))
	if err != nil {
		return nil
	}
	r.keep(text, f)
	return f
}

// keep remembers how a text was read.
func (r *reader) keep(text string, f *yamldoc.File) {
	r.last[r.next] = parsed{text, f}
	r.next = (r.next + 1) % len(r.last)
}

// one is the only document of a text, nil for any other text.
func (r *reader) one(text string) *yamldoc.Document {
	if f := r.read(text); f != nil && len(f.Documents()) == 1 {
		return f.Documents()[0]
	}
	return nil
}

// byLine merges texts by lines; clean: without a conflict.
func (r *reader) byLine(sides texts) (merged string, clean bool) {
	if sides != r.sides {
		r.sides = sides
		r.merged, _, r.clean = linemerge.Sides(sides.base, sides.ours, sides.theirs)
	}
	return r.merged, r.clean
}
