package absorb

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// kustomization writes values into the files that it is built of. Where a value comes from is not
// guessed: a text is edited in memory, all is built again, and it is the source if what is built
// differs in chosen values alone, and nothing that others build of it does.
type kustomization struct {
	*sources
	named       string // the folder, as the user has named it
	other       []*sources
	read, texts map[string][]byte // files, as they are, and as they are edited
	hidden      map[string]bool   // those of which a diff does not recognize that they hold values of a Secret
	now         []object.Object   // what is built of those
	states      map[int]*Object   // objects that differ from live, by their document in now
}

// inKustomization computes the texts of the files that a kustomization is built of. A value that has no place
// of its own is left, and its reason names the places. The error is that of a kustomization that
// cannot be built or read.
func inKustomization(ctx context.Context, folder string, objects []*Object) ([]*files.Edited, error) {
	if !slices.ContainsFunc(objects, func(o *Object) bool { return len(o.Chosen()) > 0 }) {
		return nil, nil
	}
	k := &kustomization{named: folder, read: map[string][]byte{}, hidden: map[string]bool{}, states: map[int]*Object{}}
	if err := k.open(objects); err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	left := map[*Value]string{}
	for again := true; again; { // what one value has no place for may be settled by another
		again = false
		for _, o := range objects {
			for _, v := range o.Values {
				if v.Reason == "" && v.file == "" {
					left[v] = k.put(ctx, o, v)
					again = again || left[v] == ""
				}
			}
		}
	}
	for v, why := range left {
		if v.file == "" {
			v.Reason = why
		}
	}
	var all []*files.Edited
	for _, s := range k.list {
		if now := k.texts[s.file]; !bytes.Equal(now, k.read[s.file]) {
			all = append(all, &files.Edited{Name: k.name(s.file), Old: k.read[s.file], Now: now, Hidden: s.key == "secretGenerator" || k.hidden[s.file]})
		}
	}
	return all, nil
}

// open finds the files, and builds the kustomization as it is.
func (k *kustomization) open(objects []*Object) error {
	at, err := filepath.Abs(k.named)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return err
	}
	k.sources = sourcesOf(at)
	var top string
	top, k.other = k.others()
	for _, s := range k.list {
		if rel, err := filepath.Rel(top, s.file); err != nil || !filepath.IsLocal(rel) {
			k.distant = append(k.distant, k.name(s.file)+", which is in no folder of "+k.name(top))
			continue
		}
		if k.read[s.file], err = source.ReadFile(s.file); err != nil {
			return err
		}
	}
	k.texts = maps.Clone(k.read)
	for _, o := range objects {
		k.states[o.Origin.Document] = o
	}
	k.now, err = k.build(k.texts)
	return err
}

func (k *kustomization) build(texts map[string][]byte) ([]object.Object, error) {
	data, err := source.Build(k.folder, texts)
	if err != nil {
		return nil, err
	}
	return source.Parse(k.named, data)
}

// name is a file or folder as the user would name it.
func (k *kustomization) name(file string) string { return source.Relative(k.named, file) }

// put writes a value where it comes from, and returns the reason if that is impossible. Of places that
// set it equally directly, there must be one alone.
func (k *kustomization) put(ctx context.Context, o *Object, v *Value) string {
	var tried []string
	for all, n := k.places(o, v), 0; n < len(all); {
		var proven []*proof
		for rank := all[n].rank; n < len(all) && all[n].rank == rank; n++ {
			p, why := k.prove(ctx, all[n], v)
			if p != nil {
				proven = append(proven, p)
			} else if why != "" {
				tried = append(tried, all[n].String()+": "+why)
			}
		}
		switch len(proven) {
		case 0:
			continue
		case 1:
			k.accept(proven[0])
			return ""
		}
		return "has several places in " + k.named + ": edit one of them by hand: " + strings.Join(merge.Texts(proven), ", ")
	}
	if len(tried) == 0 {
		tried = append([]string{"none of its files sets it alone: write a patch by hand"}, k.distant...)
	}
	return "has no place in " + k.named + ": " + strings.Join(tried, "; ")
}

// proof is an edit that sets chosen values, and nothing else.
type proof struct {
	place
	texts map[string][]byte
	now   []object.Object
	sets  []*Value
}

func (k *kustomization) accept(p *proof) {
	k.texts, k.now, k.hidden[p.file] = p.texts, p.now, k.hidden[p.file] || p.hidden
	for _, v := range p.sets {
		v.file = k.name(p.file)
	}
}

// prove builds all with an edit. It returns the reason if the edit sets v, but cannot be made; "" if
// it does not set it.
func (k *kustomization) prove(ctx context.Context, at place, v *Value) (*proof, string) {
	p := &proof{place: at, texts: maps.Clone(k.texts)}
	p.texts[at.file] = at.text
	var err error
	if p.now, err = k.build(p.texts); err != nil || len(p.now) != len(k.now) {
		return nil, ""
	}
	why := ""
	for i, b := range k.now {
		a, o := p.now[i], k.states[b.Origin.Document]
		switch {
		case a.ID() != b.ID():
			return nil, "the name has a hash of the content, so that it would be another object"
		case merge.Identical(a.Value, b.Value):
		case o == nil:
			why = "changes " + a.String() + ", too"
		default:
			sets, wrong := o.sets(ctx, b, a)
			p.sets, why = append(p.sets, sets...), cmp.Or(wrong, why)
		}
	}
	if !slices.Contains(p.sets, v) {
		return nil, ""
	}
	if why == "" {
		why = k.used(p)
	}
	if why != "" {
		return nil, why
	}
	return p, ""
}

// sets returns the chosen values that an object has in another build, and the reason if it differs in
// something else.
func (o *Object) sets(ctx context.Context, was, now object.Object) (sets []*Value, why string) {
	has := func(v *Value) bool {
		got, there := merge.Lookup(now.Value, v.Path, o.typ)
		return v.Reason == "" && there == v.live.Set && (!there || merge.Identical(got, v.live.Value))
	}
	for _, v := range o.Values {
		if v.file == "" && has(v) {
			sets = append(sets, v)
		}
	}
	want, err := o.with(was.Value, sets)
	if err != nil {
		return sets, err.Error()
	}
	for _, c := range merge.Diff(want, now.Value, o.typ) {
		if c.Op != merge.OpOrder {
			return sets, "changes " + o.String() + ": " + c.Path.String() + ", too"
		}
	}
	rows, err := o.again(ctx, now.InNamespace(o.Namespace()))
	if err != nil {
		return sets, "cannot be merged then"
	}
	for _, row := range rows {
		if !slices.ContainsFunc(o.Values, func(v *Value) bool { return !has(v) && (v.Path.Leads(row.Path) || row.Path.Leads(v.Path)) }) {
			return sets, "would make a difference in " + row.Path.String()
		}
	}
	return sets, ""
}

// used returns the reason why a file must not be edited: another kustomization builds something else
// of it then.
func (k *kustomization) used(p *proof) string {
	var by []string
	for _, other := range k.other {
		switch name := k.name(other.folder); {
		case !other.seen[p.file]:
		case len(other.distant) > 0:
			by = append(by, name+", which has "+other.distant[0])
		default:
			if other.built == nil {
				other.built, _ = source.Build(other.folder, nil)
			}
			if now, err := source.Build(other.folder, p.texts); err != nil || !bytes.Equal(other.built, now) {
				by = append(by, name)
			}
		}
	}
	if by == nil {
		return ""
	}
	return "is used by " + strings.Join(by, ", ") + ", too"
}
