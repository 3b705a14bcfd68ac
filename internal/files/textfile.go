package files

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// textNames are the files that are not YAML on one side at least, in order. They are
// taken out of the sets' other files.
func textNames(sets ...*Set) []string {
	var names []string
	for _, s := range sets {
		if s != nil {
			names = append(names, object.Each(s.texts, func(f *File) string { return f.Name })...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// split gives a set without the files that are merged by lines, and those by name.
func (s *Set) split(names []string) (*Set, map[string]*File) {
	if s == nil || len(names) == 0 {
		return s, nil
	}
	texts := map[string]*File{}
	for _, f := range slices.Concat(s.Files, s.texts) {
		if slices.Contains(names, f.Name) {
			texts[f.Name] = f
		}
	}
	out := *s
	out.Files = slices.DeleteFunc(slices.Clone(s.Files), func(f *File) bool { return texts[f.Name] != nil })
	return &out, texts
}

// textFiles are the files that are merged by lines, by name.
type textFiles struct {
	names                   []string
	original, updated, dest map[string]*File
}

// splitTexts takes them out of a job.
func splitTexts(j Job) (Job, textFiles) {
	t := textFiles{names: textNames(j.Original, j.Updated, j.Dest)}
	j.Original, t.original = j.Original.split(t.names)
	j.Updated, t.updated = j.Updated.split(t.names)
	j.Dest, t.dest = j.Dest.split(t.names)
	return j, t
}

// lines merges the files that are not YAML.
func (m *merger) lines(t textFiles) {
	for _, name := range t.names {
		m.textFile(name, t.original[name], t.updated[name], t.dest[name])
	}
}

func (m *merger) textFile(name string, o, u, d *File) {
	base, theirs, ours := o.likewise(d), u.likewise(d), string(d.readText())
	switch {
	case u == nil && (d == nil || o == nil), theirs == ours && u != nil && d != nil, o != nil && u != nil && base == theirs:
	case m.Original == nil && d != nil:
		m.textNote(diff.NoteKept, name, "not YAML, and otherwise in SOURCE: stays as it is; with --original it is merged by lines")
	case m.Policy.Update == merge.TakeLive:
		m.textNote(diff.NoteKept, name, "changed in updated: dest's is kept")
	case d == nil && o == nil:
		m.out.Files = append(m.out.Files, Changed{Name: name, Text: []byte(theirs), mode: u.Mode, lines: true})
	case d == nil && isYAML(name):
		m.textNote(diff.NoteConflict, name, "deleted in dest, changed in updated")
	case d == nil: // many keep only the manifests of what they follow
		m.textNote(diff.NoteKept, name, "changed in updated, deleted in dest: stays deleted")
	case u == nil && base == ours:
		m.out.Files = append(m.out.Files, Changed{Name: name, File: d, lines: true})
	case u == nil:
		m.textNote(diff.NoteConflict, name, "deleted in updated, changed in dest")
	case base != ours && (o.binary() || u.binary() || d.binary()):
		m.binaryFile(d, theirs)
	default:
		m.mergeLines(d, base, theirs)
	}
}

// binaryFile: both sides have changed a file that has no lines.
func (m *merger) binaryFile(d *File, theirs string) {
	if m.Policy.Both != merge.TakeLocal {
		m.textNote(diff.NoteConflict, d.Name, "a binary file that both sides have changed; dest's is kept")
		return
	}
	m.out.Files = append(m.out.Files, Changed{Name: d.Name, File: d, Text: []byte(theirs), lines: true})
	m.textNote(diff.NoteOverwritten, d.Name, "a binary file that both sides have changed: updated wins")
}

// binary: the file is not text, by git's rule.
func (f *File) binary() bool {
	text := f.readText()
	return bytes.IndexByte(text[:min(len(text), gitLooksAt)], 0) >= 0
}

// gitLooksAt is how much of a file git searches for a zero byte (buffer_is_binary in its
// xdiff-interface.c).
const gitLooksAt = 8000

// likewise is the file's text with dest's line endings and byte order mark, so that a
// checkout with other ones is no change.
func (f *File) likewise(dest *File) string {
	text, like := string(f.readText()), string(dest.readText())
	if f == nil || dest == nil || f.binary() || dest.binary() {
		return text
	}
	if text = strings.TrimPrefix(text, mark); strings.HasPrefix(like, mark) {
		text = mark + text
	}
	switch {
	case !strings.Contains(like, "\n"):
	case !strings.Contains(like, "\r\n"):
		return strings.ReplaceAll(text, "\r\n", "\n")
	case !strings.Contains(text, "\r\n"):
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// mark is the byte order mark that some editors put in front of UTF-8.
const mark = "\ufeff"

// mergeLines merges what changed from base to theirs into a file of dest.
func (m *merger) mergeLines(d *File, base, theirs string) {
	marked, conflicts := marks.Marked(linemerge.Merge(base, string(d.readText()), theirs))
	theirsWin, _, _ := linemerge.Sides(base, string(d.readText()), theirs)
	said := fmt.Sprintf("merged by lines: %d places that both sides have changed", conflicts)
	switch {
	case conflicts == 0:
	case m.Policy.Both == merge.TakeLocal:
		marked = theirsWin
		m.textNote(diff.NoteOverwritten, d.Name, said+": updated wins")
	default:
		m.out.Conflicts = append(m.out.Conflicts, diff.Note{Object: d.Name, Kind: diff.NoteConflict, Message: said, Winner: merge.Nobody, Voice: diff.Voice{Merged: d.Where()}})
	}
	if marked != string(d.readText()) {
		m.out.Files = append(m.out.Files, Changed{Name: d.Name, File: d, Text: []byte(marked), lines: true})
	}
}

func (m *merger) textNote(kind diff.NoteKind, name, text string) {
	n := diff.Note{Object: name, Kind: kind, Message: text, Winner: merge.LocalSide}
	if kind == diff.NoteConflict {
		n.Winner = merge.Nobody
		m.out.Conflicts = append(m.out.Conflicts, n)
		return
	}
	m.out.Notes = append(m.out.Notes, n)
}
