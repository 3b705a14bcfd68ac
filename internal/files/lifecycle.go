package files

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// dropped decides about a resource that upstream has deleted.
func (m *merger) dropped(o, d *resource) {
	choice, what := m.Policy.Dropped, "deleted in updated, changed in dest"
	if m.untouched(o, d) {
		choice, what = m.Policy.Update, "deleted in updated"
	}
	switch {
	case choice == merge.TakeLocal && m.untouched(o, d):
		m.texts[d.doc] = text{}
	case choice == merge.TakeLocal:
		m.texts[d.doc] = text{}
		m.note(diff.NoteRemoved, d, what+": deleted", merge.LocalSide)
	case choice == merge.TakeLive, choice == merge.TakeOriginal:
		m.note(diff.NoteKept, d, what+": kept", merge.LiveSide)
	default:
		m.texts[d.doc] = text{plain: d.doc.Text(), marked: m.sections(d.doc.Text(), nil)}
		m.conflict(d, nil, what)
	}
}

// notInDest decides about a resource of updated that dest does not have.
func (m *merger) notInDest(u *resource) error {
	o := m.original.byID[u.id]
	if u.deletes() || o != nil && m.untouched(o, u) { // deleted in dest, and unchanged upstream: stays deleted
		return nil
	}
	lacks := u.lacks(m.Dest.Folder)
	if _, list := u.docValue().([]any); list && m.Original == nil {
		return fmt.Errorf("%s: is a list, as a JSON patch is, and no part of an object: write the part as a manifest has it, or use kubectl patch --local --type=json --patch-file", u.where())
	}
	if m.Original == nil && lacks != "" {
		return fmt.Errorf("%s: has no %s, and DEST has no document without it in its place: it would be added as another document; write it, or give the DEST that it belongs to", u.where(), lacks)
	}
	w, err := m.three(nil, u, nil)
	if err != nil {
		return err
	}
	plain := u.doc.Text()
	if m.Original == nil || !m.alike(w.plan.Result, u.docValue(), nil) {
		if plain, err = u.doc.Edit(yamldoc.Edit{Want: w.plan.Result, Sources: []*yamldoc.Document{u.doc}}); err != nil {
			return fmt.Errorf("%s: %s: %w", u.where(), u.id, err)
		}
	}
	t := text{marked: plain, plain: plain}
	what, choice := "deleted in dest, changed in updated", m.Policy.Both
	if o == nil {
		what, choice = "added in updated", m.Policy.Update
	}
	switch {
	case o == nil && choice == merge.TakeLocal:
		m.add(u, t)
	case o == nil && choice == merge.TakeLive:
		m.note(diff.NoteKept, u, what+": left out", merge.LiveSide)
	case choice == merge.TakeLive:
		m.note(diff.NoteKept, u, what+": stays deleted", merge.LiveSide)
	case m.Policy.Drift == merge.TakeLocal: // local wins in any case
		m.note(diff.NoteOverwritten, u, what+": put back", merge.LocalSide)
		m.add(u, t)
	default:
		t = text{plain: []byte{}, marked: m.sections(nil, plain)}
		m.add(u, t)
		m.conflict(u, nil, what)
	}
	return nil
}

// lacks is the field without which a document is no object, with what was probably meant for it;
// "" where it has them. A kustomization needs no kind where its file is kept, in a folder.
func (r *resource) lacks(inFolder bool) string {
	fields, _ := r.docValue().(map[string]any)
	meta, _ := fields["metadata"].(map[string]any)
	what := "kind"
	switch {
	case r.isKustomization() && (inFolder || r.named.kind != ""),
		r.named.kind != "" && (r.named.name != "" || meta["generateName"] != nil):
		return ""
	case r.named.kind != "":
		what, fields = "metadata.name", meta
	}
	if near := suggest.Name(strings.TrimPrefix(what, "metadata."), slices.Sorted(maps.Keys(fields))); near != "" {
		what += " (but " + escape.Text(near) + ")"
	}
	return what
}

// partOf reports whether u, without kind and name, is a patch of d as kubectl patch takes it: all its fields
// are d's.
func (m *merger) partOf(u, d *resource) bool {
	part, _ := u.docValue().(map[string]any)
	whole, _ := d.docValue().(map[string]any)
	typ := m.known(d)
	for name, v := range part {
		_, has := whole[name]
		_, isMap := v.(map[string]any)
		if name == "apiVersion" || name == "kind" || name == "metadata" && !isMap || !has && (typ == nil || typ.Field(name).Type == nil) {
			return false
		}
	}
	return len(part) > 0 && u.named == (id{nth: u.named.nth}) && d.named.kind != "" && !u.isKustomization()
}

// untouched: a resource has the values that it had in original and, where a change that is
// lost would be a conflict, the comments.
func (m *merger) untouched(o, r *resource) bool {
	return merge.Equal(o.docValue(), r.docValue(), nil) && (m.Policy.Both != merge.LeaveConflict || maps.Equal(comments(string(o.doc.Text())), comments(string(r.doc.Text()))))
}

// add puts a document into the file that it has upstream, after the document that
// it follows there.
func (m *merger) add(u *resource, t text) {
	name := u.file.Name
	if !m.Dest.Folder {
		name = m.Dest.Files[0].Name
	}
	var after *yamldoc.Document
	for _, p := range m.updated.list {
		if p == u {
			break
		}
		d := m.dest.byID[p.id]
		if p.file == u.file && d != nil && d.file.Name == name {
			after = d.doc
		}
	}
	m.added[name] = append(m.added[name], newcomer{text: t, from: u, after: after})
}

// sections are two texts with conflict markers around them.
func (m *merger) sections(ours, theirs []byte) []byte {
	return []byte(marks.Conflict(string(ours), string(theirs)))
}

// gather assembles each file from its documents.
func (m *merger) gather() error {
	for _, f := range m.Dest.Files {
		c, ok := m.file(f)
		if m.Original != nil {
			c, ok = m.whole(f, c, ok)
		}
		if ok {
			m.out.Files = append(m.out.Files, c)
		}
	}
	for _, u := range m.Updated.Files {
		if m.Dest.Folder && len(m.added[u.Name]) > 0 && m.Dest.file(u.Name) == nil {
			c, err := m.newFile(u)
			if err != nil {
				return fmt.Errorf("%s: %w", u.Where(), err)
			}
			m.out.Files = append(m.out.Files, c)
		}
	}
	return nil
}

// file is a file of dest as it will be; ok is false if it does not change.
func (m *merger) file(f *File) (c Changed, ok bool) {
	c = Changed{Name: f.Name, File: f}
	marked, plain := map[*yamldoc.Document][]byte{}, map[*yamldoc.Document][]byte{}
	left := false
	for _, d := range f.YAML.Documents() {
		t, changed := m.texts[d]
		left = left || !d.Empty() && (!changed || t.marked != nil)
		if changed {
			marked[d], plain[d] = t.marked, t.plain
		}
	}
	var addMarked, addPlain []yamldoc.Addition
	for _, n := range m.added[f.Name] {
		left = true
		addMarked = append(addMarked, yamldoc.Addition{After: n.after, Text: n.marked})
		if len(n.plain) > 0 {
			addPlain = append(addPlain, yamldoc.Addition{After: n.after, Text: n.plain})
		}
	}
	if len(marked)+len(addMarked) == 0 {
		return c, false
	}
	if left || !m.Dest.Folder {
		c.Text, c.Plain = f.YAML.Assemble(marked, addMarked), f.YAML.Assemble(plain, addPlain)
	}
	return c, true
}

// newFile is a file that only upstream has: upstream's, without what dest has
// elsewhere or does not want.
func (m *merger) newFile(u *File) (Changed, error) {
	c := Changed{Name: u.Name}
	marked, plain := map[*yamldoc.Document][]byte{}, map[*yamldoc.Document][]byte{}
	for _, d := range u.YAML.Documents() {
		if d.Empty() {
			continue
		}
		marked[d], plain[d] = nil, nil
		if t, ok, err := m.newList(d, m.added[u.Name]); err != nil {
			return c, err
		} else if ok {
			marked[d], plain[d] = t.marked, t.plain
		}
	}
	for _, n := range m.added[u.Name] {
		if n.from.in != nil {
			continue
		}
		marked[n.from.doc] = n.marked
		if len(n.plain) > 0 {
			plain[n.from.doc] = n.plain
		}
	}
	c.Text, c.Plain = u.YAML.Assemble(marked, nil), u.YAML.Assemble(plain, nil)
	return c, nil
}

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
// its text; not if a comment came to another document and none is lost otherwise. What would be lost of the comments between documents is a conflict.
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
		merged, _, clean = linemerge.Sides(raw.base, raw.ours, raw.theirs)
	}
	switch {
	case m.untaken(raw), clean && (merged == now || sameDocuments(merged, now, len(lostComments(raw, now)) > 0)):
		now = merged
	case m.Policy.Both != merge.LeaveConflict || m.Dest.Folder || len(lostComments(raw, now)) == 0:
		return c, changed
	default:
		m.unsettled(f.Where(), f.Name, nil, commentsLost)
		text := m.marked(raw, func(marked string) bool {
			return len(lostComments(raw, marked)) > 0 || losesValues(docValues(o.YAML), docValues(f.YAML), docValues(u.YAML), marked)
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

// sameDocuments: two texts hold the same documents and items of Lists, in any order, and, unless bare, the same
// comments in each document.
func sameDocuments(a, b string, bare bool) bool {
	x, y := read(a), read(b)
	if x == nil || y == nil {
		return false
	}
	left := valuesIn(y.Documents(), bare)
	for _, v := range valuesIn(x.Documents(), bare) {
		i := slices.IndexFunc(left, func(w any) bool { return merge.Identical(v, w) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return len(left) == 0
}

func valuesIn(docs []*yamldoc.Document, bare bool) (out []any) {
	for _, d := range docs {
		if d.Empty() {
			continue
		}
		if items, err := d.Items(itemsField, nil); isList(d) && err == nil {
			out = append(append(out, withoutItems(d)), valuesIn(items, bare)...)
			continue
		}
		with := ""
		if !bare {
			with = fmt.Sprint(comments(string(d.Text())))
		}
		out = append(out, []any{d.Value(), with})
	}
	return out
}
