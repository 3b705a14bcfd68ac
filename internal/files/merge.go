package files

import (
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Job is the input of a merge.
type Job struct {
	Original *Set // nil: a merge of two
	Updated  *Set // what to take from; the source of a merge of two
	Dest     *Set

	// Policy decides which side wins; see TwoWay and merge.PolicyNamed.
	Policy merge.Policy
	Rules  schema.Rules

	// Schema gives the type of a kind, nil where it is not known. Infer has the keys
	// of lists inferred that it does not know.
	Schema func(group, version, kind string) *merge.Type
	Infer  bool
}

// TwoWay is the policy of a merge of two: what the source states wins, and dest
// keeps its order and what the source does not state.
//
// Rules: docs/files.md; kustomize cmd/config/docs/api-conventions/merge2.md.
var TwoWay = merge.Policy{Name: "merge2", Drift: merge.TakeLive, Both: merge.TakeLocal, Dropped: merge.TakeLocal}

// Outcome is the merged dest.
type Outcome struct {
	Files     []Changed   // the files that change, in the order of dest, new ones last
	Notes     []diff.Note // what was decided against dest
	Conflicts []diff.Note // what is left to the user; the files have markers there
	Reversed  bool        // a merge of two single objects in which dest states only a part of what updated does
	Apart     bool        // a merge of two in which no object of updated is in dest, which has others
}

// Changed is a file that is to change.
type Changed struct {
	Name  string      // inside dest's folder
	File  *File       // dest's, nil for a new one
	Text  []byte      // nil: the file is removed
	Plain []byte      // of YAML: Text without conflict markers; what dest has stands in their place
	mode  fs.FileMode // of a new file, 0 for what new files have
	lines bool        // the file is not YAML
}

// Merge merges. No input is modified and nothing is written. The error names every
// document that prevents it, by file and line.
//
// Rules: docs/files.md; kustomize cmd/config/docs/api-conventions/merge2.md and merge3.md.
func Merge(j Job) (*Outcome, error) {
	j, texts := splitTexts(j)
	m, err := newMerger(j)
	if err != nil {
		return nil, err
	}
	if err := m.checkRules(); err != nil {
		return nil, err
	}
	errs := object.Each(m.dest.list, m.inDest)
	shared := func(u *resource) bool { return m.dest.byID[u.id] != nil }
	m.out.Apart = m.Original == nil && !m.Dest.Folder && len(m.dest.list) > 0 && !slices.ContainsFunc(m.updated.list, shared)
	if m.Original == nil && len(m.dest.list) == 1 && len(m.updated.list) == 1 {
		is, of := m.dest.list[0].docValue(), m.updated.list[0].docValue()
		m.out.Reversed = part(is, of) && !part(of, is)
	}
	errs = append(errs, object.Each(slices.DeleteFunc(slices.Clone(m.updated.list), shared), m.notInDest)...)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := m.lists(); err != nil {
		return nil, err
	}
	if err := m.gather(); err != nil {
		return nil, err
	}
	m.locate()
	m.lines(texts)
	return &m.out, nil
}

// part reports whether a value has no field that another one, of what may be the same object, lacks.
func part(v, of any) bool {
	fields, isMap := v.(map[string]any)
	others, also := of.(map[string]any)
	for name, e := range fields {
		if other, has := others[name]; !has || other == nil || !part(e, other) { // null: to be removed
			return false
		}
	}
	return isMap == also
}

// merger carries out one Job.
type merger struct {
	Job
	original, updated, dest resources
	twice                   map[id]bool                // see several
	texts                   map[*yamldoc.Document]text // of dest's documents that change
	added                   map[string][]newcomer      // by the name of their file
	out                     Outcome
}

// text is what a document becomes: with and without conflict markers; nil if it
// is removed.
type text struct {
	marked, plain []byte
}

// newcomer is a document that is added to a file.
type newcomer struct {
	text
	from  *resource         // in updated
	after *yamldoc.Document // in dest's file, nil for its end
}

func newMerger(j Job) (*merger, error) {
	m := &merger{Job: j, texts: map[*yamldoc.Document]text{}, added: map[string][]newcomer{}}
	one := !j.Updated.Folder && !j.Dest.Folder && (j.Original == nil || !j.Original.Folder)
	var errs [3]error
	m.twice = several(j.Original, j.Updated, j.Dest)
	m.dest, errs[2] = index(j.Dest, one, m.twice, nil)
	near := map[string]int{} // a side may have set apart what is above an item of dest
	for _, d := range m.dest.list {
		if d.in != nil {
			maps.Copy(near, comments(string(d.doc.Text())))
		}
	}
	m.original, errs[0] = index(j.Original, one, m.twice, near)
	m.updated, errs[1] = index(j.Updated, one, m.twice, near)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	m.follow(one)
	if j.Original == nil && one && len(m.updated.list) == 1 && len(m.dest.list) == 1 && m.partOf(m.updated.list[0], m.dest.list[0]) {
		m.updated.rename(m.updated.list[0], m.dest.list[0].id)
	}
	const why = "which only SOURCE may hold, in a merge without --original"
	if j.Original != nil {
		errs[0], errs[1] = j.Original.noDirectives(why), j.Updated.noDirectives(why)
	}
	errs[2] = j.Dest.noDirectives(why)
	return m, errors.Join(errs[:]...)
}

// inDest merges into a resource that dest has.
func (m *merger) inDest(d *resource) error {
	o, u := m.original.byID[d.id], m.updated.byID[d.id]
	switch {
	case u != nil && u.deletes():
		m.texts[d.doc] = text{}
	case u != nil:
		t, err := m.merged(o, u, d)
		if err != nil {
			return err
		}
		m.put(o, u, d, t)
	case o != nil:
		m.dropped(o, d)
	}
	return nil
}

// put records a merged document, in its place or, where only upstream has moved it,
// in another file.
func (m *merger) put(o, u, d *resource, t *text) {
	moved := o != nil && m.Dest.Folder && u.file.Name != o.file.Name && d.file.Name == o.file.Name
	switch {
	case moved:
		if t == nil {
			t = &text{marked: d.doc.Text(), plain: d.doc.Text()}
		}
		m.texts[d.doc] = text{}
		m.add(u, *t)
	case t != nil:
		m.texts[d.doc] = *t
	}
}

// merged is the text of a document that both have, nil if it stays as it is.
func (m *merger) merged(o, u, d *resource) (*text, error) {
	w, err := m.three(o, u, d)
	if err != nil {
		return nil, err
	}
	var out woven
	if m.Original == nil {
		out, err = w.two()
	} else {
		w.plan = textsByLine(w.plan)
		out, err = w.mergeText()
	}
	if err != nil {
		return nil, err
	}
	w.plan.Conflicts = out.left
	w.report()
	for _, at := range out.comments {
		m.conflict(d, at, commentsLost)
	}
	if string(out.marked) == string(d.doc.Text()) && len(out.comments)+len(out.left) == 0 {
		return nil, nil
	}
	return &out.text, nil
}

// three merges the values. The error names directives of a patch that make no sense.
func (m *merger) three(o, u, d *resource) (weave, error) {
	w := weave{merger: m, o: o, u: u, d: d}
	triple := merge.Triple{Local: u.docValue(), Original: o.docValue(), Live: d.docValue()}
	patched := false
	if m.Original == nil { // in a merge of three there are none
		patched = directive(triple.Local) != nil
	}
	if patched {
		triple.Local = plain(triple.Local)
	}
	w.t = m.typeOf(true, u, d, o, triple)
	if patched {
		p := patch{resource: u}
		s := p.patchValue(u.docValue(), triple.Live, w.t, nil)
		if err := errors.Join(p.errs...); err != nil {
			return w, err
		}
		triple.Local, triple.Original = s.local, s.original
	}
	w.merge(triple, false)
	if m.Original == nil {
		w.plan.Result = cleared(w.plan.Result, triple.Local, w.t)
	}
	if patched {
		w.plan.Result = ordered(w.plan.Result, u.docValue(), triple.Live, w.t)
	}
	return w, nil
}

// merge merges the values. Entries of lists that both sides have renamed are followed; alone: those
// that one side has renamed too. Otherwise, where no conflict can be left, each name is an entry.
func (w *weave) merge(triple merge.Triple, alone bool) {
	policy := w.Policy
	policy.Literal, policy.ByKey = true, true
	r := renaming{policy: policy, alone: alone, both: !alone && policy.Both == merge.LeaveConflict}
	if w.Original != nil {
		triple = r.follow(triple, w.t)
	}
	if len(w.Rules) > 0 {
		rules := w.Rules.For(w.u.named.ruled(triple))
		policy.Rules = append(policy.Rules[:len(policy.Rules):len(policy.Rules)], rules.Policy()...)
		policy.Texts = rules.Texts()
	}
	w.was, w.plan = triple.Original, merge.Three(triple, w.t, policy, false)
	w.plan.Removed = slices.DeleteFunc(w.plan.Removed, func(gone merge.Removal) bool {
		was, _ := merge.Lookup(triple.Original, gone.Path, w.t)
		moved := func(v any) bool { return merge.Identical(v, was) }
		lost := r.both && isCollection(was) && !moved(gone.Value) && merge.Any(triple.Local, moved)
		if lost { // updated has the entry elsewhere, and what dest has taken out of it too
			r.conflict(gone.Path, [3]any{ofOriginal: was, ofDest: gone.Value})
		}
		return lost
	})
	for _, c := range r.conflicts { // an entry that updated has renamed and dest deleted is not there
		w.plan.Result = with(w.plan.Result, c.Path, c.Live)
		w.plan.Conflicts = slices.DeleteFunc(w.plan.Conflicts, func(in merge.Disagreement) bool { return c.Path.Leads(in.Path) })
	}
	w.plan.Conflicts = append(w.plan.Conflicts, r.conflicts...)
}

// typeOf is the type that a document is merged by; see shape.
func (m *merger) typeOf(named bool, u, d, o *resource, sides merge.Triple) *merge.Type {
	t := m.known(u)
	if t == nil && d != nil && d.version != u.version {
		t = m.known(d)
	}
	if t == nil && u.id.kind != "" {
		t = schema.Resource()
	}
	t = m.shape(named, withComments(t, d, u, o), sides.Local, sides.Original, sides.Live)
	if len(m.Rules) > 0 {
		t = m.Rules.For(u.named.ruled(merge.Triple{Local: u.docValue(), Live: d.docValue()})).Shape(t)
	}
	return t
}

// ruled is the resource as rules see it.
func (i id) ruled(t merge.Triple) schema.Object {
	return schema.Object{Group: i.group, Kind: i.kind, Namespace: i.namespace, Name: i.name, Triple: t}
}

var marks = linemerge.Marks{Ours: "dest", Theirs: "updated"}
