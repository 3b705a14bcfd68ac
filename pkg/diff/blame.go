package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// BlameOptions of Blame.
type BlameOptions struct {
	Paths   []merge.Path // print these fields, and all below them; none: the whole object
	Changed bool         // print only what the merge would change, and what the sides disagree about
	File    bool         // local is a file's; false: it is what was applied last
	Color   bool
}

// Blame formats the live object as YAML, Secrets masked, without managedFields and the
// last-applied annotation. Before each value are all its owners, the newest first, since when the
// newest has it, and whether the file and what was applied last have it: "=" the same, "≠" another
// one, "-" none. What they have and live has not is a comment at the end. A list or mapping that
// is one value has its owners at each line. The error is that of a value that is not JSON.
//
// Rules: https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management.
func Blame(r Report, o BlameOptions) (string, error) {
	b := blame{Report: r.Looked(), BlameOptions: o, because: map[string]merge.Because{}, changed: map[string]bool{}}
	for _, why := range r.Plan.Because {
		b.because[why.Path.String()] = why
	}
	for _, row := range Explain(b.Report, o.Paths...).Changed().Fields {
		b.changed[row.Path.String()] = true
	}
	rows, err := b.rows()
	if err != nil {
		return "", err
	}
	text := Paint(escape.Line(r.Object), Bold, o.Color) + "\n"
	widths := Columns(rows)
	for _, row := range rows {
		color := ""
		if slices.Contains(row[:len(row)-1], otherValue) {
			color = Yellow
		}
		text += Paint(line(row, widths)[0], color, o.Color) + "\n"
	}
	return text, nil
}

const (
	sameValue  = "="
	otherValue = "≠"
)

// blame holds the values of one object, from which its lines are made.
type blame struct {
	Report
	BlameOptions
	because map[string]merge.Because
	changed map[string]bool
}

// rows are the heading and a row for each line, whose last cell is the line.
func (b blame) rows() ([][]string, error) {
	rows := [][]string{{"OWNERS", "SINCE", "APPLIED", "LIVE"}}
	if b.File {
		rows[0] = []string{"OWNERS", "SINCE", "FILE", "APPLIED", "LIVE"}
	}
	live, _ := b.Live.(map[string]any)
	if live == nil {
		return append(rows, append(make([]string, len(rows[0])-1), "# does not exist")), nil
	}
	if !b.ShowSecrets {
		masked, _ := redact.Mask(live, b.Local, b.Sensitive)
		live = masked.(map[string]any)
	}
	text, err := yamldoc.Encode(lastapplied.Without(merge.Without(live, "metadata", "managedFields")))
	if err != nil {
		return nil, err
	}
	f, err := yamldoc.Parse(text)
	if err != nil {
		return nil, err
	}
	d, at, last := f.Documents()[0], 0, ""
	for l := range strings.Lines(string(text)) {
		p := d.PathAt(at+len(l)-len(strings.TrimLeft(l, " -")), b.Type)
		at += len(l)
		value, _ := merge.Lookup(live, p, b.Type)
		cells := make([]string, len(rows[0])-1)
		if first := p.String() != last; first && !merge.HasEntries(value) {
			cells = b.cells(b.owned(p))
		}
		last = p.String()
		if b.asked(p) {
			rows = append(rows, append(cells, escape.Line(strings.TrimSuffix(l, "\n"))))
		}
	}
	return append(rows, b.missing(len(rows[0])-1)...), nil
}

// owned is the path of the value with owners that one at p is, or is a part of: owners have a list
// or mapping that is one value as a whole.
func (b blame) owned(p merge.Path) merge.Path {
	t := b.Type
	for i, s := range p {
		whole := s.Kind == merge.IndexStep || t != nil && t.Atomic
		if t != nil && t.Kind == merge.List || whole {
			return p[:i]
		}
		t = t.At(merge.Path{s})
	}
	return p
}

// cells are the columns before a value.
func (b blame) cells(p merge.Path) []string {
	var names []string
	since := ""
	if b.Owners != nil {
		for _, o := range b.Owners.At(p) {
			names = append(names, OwnerName(&o))
			since = cmp.Or(since, When(&o))
		}
	}
	file, applied := "", ""
	for n := len(p); n > 0 && !isBookkeeping(p); n-- {
		if why, ok := b.because[p[:n].String()]; ok {
			if file, applied = b.mark(why, why.Local, p, n), absent; !unknown(why.Original) {
				applied = b.mark(why, why.Original, p, n)
			}
			break
		}
	}
	if b.File {
		return []string{strings.Join(names, ", "), since, file, applied}
	}
	return []string{strings.Join(names, ", "), since, applied}
}

// mark compares what a side and live have at p, n steps of which lead to what was explained.
func (b blame) mark(why merge.Because, side merge.Opt, p merge.Path, n int) string {
	side = b.filled(why.Path, side)
	is, isThere := merge.Lookup(why.Live.Value, p[n:], b.Type.At(p[:n]))
	has, hasIt := merge.Lookup(side.Value, p[n:], b.Type.At(p[:n]))
	switch {
	case !side.Set || !hasIt:
		return absent
	case isThere && merge.Equal(has, is, b.Type.At(p)):
		return sameValue
	}
	return otherValue
}

// asked: a line is to be printed.
func (b blame) asked(p merge.Path) bool {
	if len(b.Paths) > 0 && !slices.ContainsFunc(b.Paths, func(q merge.Path) bool { return Within(p, q) }) {
		return false
	}
	for n := len(p); n > 0 && b.Changed; n-- {
		if b.changed[p[:n].String()] {
			return true
		}
	}
	return !b.Changed
}

// missing has a row for each value that live does not have, behind n empty cells.
func (b blame) missing(n int) (rows [][]string) {
	for _, why := range b.Plan.Because {
		if why.Live.Set || !why.Local.Set && !why.Original.Set || len(b.Paths) == 0 && isBookkeeping(why.Path) {
			continue
		}
		s := b.mask(why.Path, sides{why.Original, why.Local, why.Live})
		value, said := s.local, "the file has "
		if !b.File || !value.Set {
			value, said = s.original, "applied was "
		}
		if said += short(value.Value, longest); unknown(s.original) && !(b.File && s.local.Set) {
			said = "it was applied, its value is not recorded"
		}
		if value.Set && b.asked(why.Path) {
			rows = append(rows, append(make([]string, n), escape.Line("# "+why.Path.String()+" is not there: "+said)))
		}
	}
	return rows
}
