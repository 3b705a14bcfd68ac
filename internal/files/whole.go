package files

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// file is the file of that name, or the only one; nil where there is none.
func (s *Set) file(name string) *File {
	for _, f := range s.Files {
		if f.Name == name || !s.Folder {
			return f
		}
	}
	return nil
}

// whole is a file of dest as it will be, what stands between its documents included: where
// the lines of the three files merge cleanly to the documents that it is to have, that is
// its text. What would be lost of the comments between documents is a conflict.
func (m *merger) whole(f *File, c Changed, changed bool) (Changed, bool) {
	o, u := m.Original.file(f.Name), m.Updated.file(f.Name)
	if o == nil || u == nil {
		return c, changed
	}
	raw := texts{base: o.likewise(f), ours: string(f.readText()), theirs: u.likewise(f)}
	now := raw.ours
	if changed {
		now = string(c.Text)
	}
	conflicts := changed && string(c.Text) != string(c.Plain)
	merged, clean := "", false
	if !conflicts || m.untaken(raw) {
		merged, clean = m.byLine(raw)
	}
	switch {
	case m.untaken(raw), clean && (merged == now || m.sameDocuments(merged, now)):
		now = merged
	case m.Policy.Both != merge.LeaveConflict || m.Dest.Folder || len(lostComments(raw, now)) == 0:
		return c, changed
	default:
		m.unsettled(f.Where(), f.Name, nil, commentsLost)
		text := m.marked(raw, func(marked string) bool {
			return len(lostComments(raw, marked)) > 0 || m.losesValues(docValues(o.YAML), docValues(f.YAML), docValues(u.YAML), marked)
		})
		return Changed{Name: f.Name, File: f, Text: text, Plain: []byte(raw.ours)}, true
	}
	if now == raw.ours {
		return Changed{}, false
	}
	return Changed{Name: f.Name, File: f, Text: []byte(now), Plain: []byte(now)}, true
}

// untaken: one side has changed nothing, so that the file is the other one's. Under a policy
// that clears nulls, or reports what dest alone has changed, there is more to do.
func (m *merger) untaken(raw texts) bool {
	return m.Policy.Update == merge.TakeLocal && m.Policy.Drift == merge.TakeLive && !m.Policy.ClearNulls && !m.Dest.Folder && (raw.base == raw.ours || raw.base == raw.theirs)
}

const commentsLost = "comments that both sides have changed, or of what the other side has removed"

// sameDocuments: two texts hold the same documents and items of Lists, in any order.
func (r *reader) sameDocuments(a, b string) bool {
	x, y := r.read(a), r.read(b)
	if x == nil || y == nil {
		return false
	}
	left := valuesIn(y)
	for _, v := range valuesIn(x) {
		i := slices.IndexFunc(left, func(w any) bool { return merge.Identical(v, w) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return len(left) == 0
}

func valuesIn(f *yamldoc.File) (out []any) {
	for _, d := range f.Documents() {
		if d.Empty() {
			continue
		}
		if !isList(d) {
			out = append(out, d.Value())
			continue
		}
		out = append(append(out, withoutItems(d)), d.Value().(map[string]any)[itemsField].([]any)...)
	}
	return out
}
