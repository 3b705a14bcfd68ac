package files

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// entry is the place of a resource that is an item of a List.
type entry struct {
	list *yamldoc.Document
	nth  int // from 0
}

// itemsField is where a List has its items.
const itemsField = "items"

// documents are the resources of a file's document: itself or, of a List, as kubectl get
// prints it, its items; see yamldoc's Items for near. The error is an item that cannot be read without its List.
func (f *File) documents(d *yamldoc.Document, near map[string]int) ([]*resource, error) {
	id, version := identify(d.Value())
	if !isList(d) || id.name != "" {
		return []*resource{f.resource(d, id, version)}, nil
	}
	items, err := d.Items(itemsField, near)
	if err != nil {
		return nil, err
	}
	rs := make([]*resource, len(items))
	for i, item := range items {
		own, ownVersion := identify(item.Value())
		if own.kind == "" { // the items of a PodList do not state that they are Pods
			own.kind, own.group, ownVersion = strings.TrimSuffix(id.kind, "List"), id.group, version
		}
		rs[i] = f.resource(item, own, ownVersion)
		rs[i].in = &entry{list: d, nth: i}
	}
	return rs, nil
}

func isList(d *yamldoc.Document) bool {
	_, is := object.Object{Value: merge.At[map[string]any](d.Value())}.Items()
	return is
}

// listText is the text of a List with all items that it had, and new ones; ok is false where nothing
// changes. anew: the List has changed beside its items.
func (m *merger) listText(list *yamldoc.Document, anew bool, had []*resource, added []newcomer) (t text, ok bool, err error) {
	var all []yamldoc.Item
	put := func(was int, t text) {
		item := yamldoc.Item{Was: was, Doc: t.plain}
		if string(t.marked) != string(t.plain) {
			item.Mark = t.marked
		}
		all = append(all, item)
	}
	after := func(d *yamldoc.Document) {
		for _, n := range added {
			if n.after == d {
				put(-1, n.text)
			}
		}
	}
	for i, r := range had {
		t, changed := m.texts[r.doc]
		switch {
		case !changed:
			all = append(all, yamldoc.Item{Was: i})
		case t.marked != nil:
			put(i, t)
		}
		ok = ok || changed
		after(r.doc)
	}
	after(nil)
	if ok = ok || anew || len(added) > 0; !ok {
		return text{}, false, nil
	}
	t, err = withItems(list, all)
	return t, true, err
}

// withItems is the text of a List with other items. In flow style, the markers stand around the lines in which dest's
// side of all conflicts and updated's differ.
func withItems(list *yamldoc.Document, all []yamldoc.Item) (t text, err error) {
	if t.marked, t.plain, err = list.WithItems(itemsField, all); err != nil || t.marked != nil {
		return t, err
	}
	var theirs []yamldoc.Item
	for _, item := range all {
		if item.Mark != nil {
			_, side := bothViews(string(item.Mark))
			item.Doc, item.Mark = []byte(side.text), nil
		}
		if item.Doc == nil || len(item.Doc) > 0 {
			theirs = append(theirs, item)
		}
	}
	_, side, err := list.WithItems(itemsField, theirs)
	marked, _ := marks.Marked(linemerge.Hunk{Ours: string(t.plain), Theirs: string(side)}.Chunks())
	t.marked = []byte(marked)
	return t, err
}

// lists puts the items of dest's Lists together, so that a List is a document like others.
func (m *merger) lists() error {
	for _, f := range m.Dest.Files {
		for _, d := range f.YAML.Documents() {
			had := m.dest.itemsOf(d)
			shell, err := m.shell(f, d)
			if err != nil {
				return err
			}
			var added []newcomer
			added, m.added[f.Name] = m.toList(d, had, f, m.added[f.Name])
			if len(had)+len(added) == 0 {
				continue
			}
			t, ok, err := m.listText(shell, shell != d, had, added)
			if err != nil {
				return err
			}
			if ok {
				m.texts[d] = t
			}
		}
	}
	return nil
}

// shell is a List of dest with what updated has changed in it beside its items. The Lists of
// a file are paired in their order. The error is that of a field that both have changed.
func (m *merger) shell(f *File, d *yamldoc.Document) (*yamldoc.Document, error) {
	if m.Original == nil || !m.dest.isList[d] {
		return d, nil
	}
	nth := slices.Index(m.dest.lists(f), d)
	o, u := m.original.lists(m.Original.file(f.Name)), m.updated.lists(m.Updated.file(f.Name))
	if nth >= min(len(o), len(u)) {
		return d, nil
	}
	policy := m.Policy
	policy.Literal, policy.ByKey = true, true
	triple := merge.Triple{Local: withoutItems(u[nth]), Original: withoutItems(o[nth]), Live: withoutItems(d)}
	plan := merge.Three(triple, nil, policy, false)
	if len(plan.Conflicts) > 0 {
		return nil, fmt.Errorf("%s: line %d: %s of the List is changed on both sides; change it on one of them, or merge the file by lines",
			f.Where(), d.Line(), plan.Conflicts[0].Path)
	}
	if m.alike(plan.Result, triple.Live, nil) {
		return d, nil
	}
	want := merge.With(plan.Result.(map[string]any), d.Value().(map[string]any)[itemsField], itemsField)
	edited, err := d.Edited(yamldoc.Edit{Want: want, Sources: []*yamldoc.Document{u[nth]}})
	if err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", f.Where(), d.Line(), err)
	}
	return edited.Documents()[0], nil
}

// lists are the Lists of a file, in order.
func (rs resources) lists(f *File) []*yamldoc.Document {
	if f == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.YAML.Documents()), func(d *yamldoc.Document) bool { return !rs.isList[d] })
}

// withoutItems is the value of a List beside its items.
func withoutItems(d *yamldoc.Document) any {
	return merge.Without(d.Value().(map[string]any), itemsField)
}

// toList divides what is added to a file into what is added to one of its Lists, behind one
// of the List's items or, where the file has nothing but the List, to its end, and the
// rest.
func (m *merger) toList(d *yamldoc.Document, had []*resource, f *File, added []newcomer) (in, out []newcomer) {
	only := len(f.YAML.Documents()) == 1 && m.dest.isList[d]
	for _, n := range added {
		behind := slices.ContainsFunc(had, func(r *resource) bool { return r.doc == n.after })
		if behind || n.after == nil && only {
			in = append(in, n)
		} else {
			out = append(out, n)
		}
	}
	return in, out
}

// itemsOf are the items of a List, in order.
func (rs resources) itemsOf(d *yamldoc.Document) []*resource {
	if !rs.isList[d] {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(rs.list), func(r *resource) bool { return r.in == nil || r.in.list != d })
}

// newList is a List of updated as a new file has it: without the items that dest has
// elsewhere or does not want.
func (m *merger) newList(d *yamldoc.Document, added []newcomer) (t text, ok bool, err error) {
	var all []yamldoc.Item
	for _, r := range m.updated.itemsOf(d) {
		for _, n := range added {
			if n.from == r {
				all = append(all, yamldoc.Item{Was: r.in.nth, Doc: n.plain, Mark: n.marked})
			}
		}
	}
	if len(all) == 0 {
		return text{}, false, nil
	}
	t, err = withItems(d, all)
	return t, true, err
}

// ordered is the result of a patch with its lists in the order that the patch's
// $setElementOrder directives give them. Entries that they do not name stay behind what
// they followed in dest.
//
// Rules: the Kubernetes community's strategic-merge-patch.md ("setElementOrder").
func ordered(result, source, dest any, t *merge.Type) any {
	switch s := source.(type) {
	case map[string]any:
		return orderedFields(result, s, dest, t)
	case []any:
		was, _ := dest.([]any)
		return entrywise(result, s, t, func(r, e any) any {
			m, _ := e.(map[string]any)
			return ordered(r, e, merge.At[any](matching(was, m, t), "0"), t.EntryType())
		})
	}
	return result
}

func orderedFields(result any, source map[string]any, dest any, t *merge.Type) any {
	m, ok := result.(map[string]any)
	if !ok {
		return result
	}
	was, _ := dest.(map[string]any)
	out := m
	put := func(k string, now any) {
		if !merge.Identical(now, m[k]) {
			out = merge.With(out, now, k)
		}
	}
	for k, v := range source {
		if !schema.IsDirective(k) {
			put(k, ordered(m[k], v, was[k], t.Field(k).Type))
		}
	}
	for k, v := range source {
		name, isOrder := strings.CutPrefix(k, schema.OrderDirective)
		list, _ := out[name].([]any)
		if order, _ := v.([]any); isOrder && list != nil {
			put(name, arranged(list, order, merge.At[[]any](was[name]), t.Field(name).Type))
		}
	}
	return out
}

// arranged sorts a list. before is dest's order.
func arranged(list, order, before []any, t *merge.Type) []any {
	in := func(entries []any, e any) int {
		return slices.IndexFunc(entries, func(o any) bool { return sameEntry(o, e, t) })
	}
	named := slices.DeleteFunc(slices.Clone(list), func(e any) bool { return in(order, e) < 0 })
	slices.SortStableFunc(named, func(a, b any) int { return in(order, a) - in(order, b) })
	rest := slices.DeleteFunc(slices.Clone(list), func(e any) bool { return in(order, e) >= 0 })
	out := make([]any, 0, len(list))
	for _, e := range named {
		at := in(before, e)
		for len(rest) > 0 && at >= 0 && in(before, rest[0]) >= 0 && in(before, rest[0]) < at {
			out, rest = append(out, rest[0]), rest[1:]
		}
		out = append(out, e)
	}
	return append(out, rest...)
}

// sameEntry: a has the keys that b has too, or is the same scalar.
func sameEntry(a, b any, t *merge.Type) bool {
	x, ok := a.(map[string]any)
	if !ok {
		return merge.Equal(a, b, nil)
	}
	return len(matching([]any{b}, x, t)) > 0
}

// cleared is the result of a merge of two without the nulls that dest has where the
// source has null, too: null in the source clears the field, and for the engine a field
// that is null is absent already.
//
// Rules: kustomize cmd/config/docs/api-conventions/merge2.md ("if null, clear it").
func cleared(result, source any, t *merge.Type) any {
	switch s := source.(type) {
	case map[string]any:
		m, ok := result.(map[string]any)
		if !ok {
			return result
		}
		out := m
		for k, v := range s {
			was, there := m[k]
			if !there || was == nil && v != nil {
				continue
			}
			if now := cleared(was, v, t.Field(k).Type); now == nil {
				out = merge.Without(out, k)
			} else if !merge.Identical(now, was) {
				out = merge.With(out, now, k)
			}
		}
		return out
	case []any:
		return entrywise(result, s, t, func(r, e any) any { return cleared(r, e, t.EntryType()) })
	}
	return result
}

// entrywise is the result with what becomes of the entries of a keyed list that the source has, too.
func entrywise(result any, source []any, t *merge.Type, becomes func(r, e any) any) any {
	list, ok := result.([]any)
	if !ok || t == nil || t.Kind != merge.Keyed {
		return result
	}
	return merge.Rebuilt(list, func(r any) any {
		for _, e := range source {
			if len(matching([]any{r}, merge.At[map[string]any](e), t)) > 0 {
				r = becomes(r, e)
			}
		}
		return r
	})
}
