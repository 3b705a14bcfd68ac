package absorb

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/drift"
	"github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Kustomization writes values into the files that a kustomization is built of. Where a value comes
// from is not guessed: a text is edited in memory, all is built again, and it is the source if what
// is built differs in chosen values alone, and nothing that others build of it does.
type Kustomization struct {
	Folder string // as the user has named it

	*sources
	top    string
	other  []*sources
	built  map[*sources][]byte // of others, as the files are
	read   map[string][]byte   // files, as they are
	texts  map[string][]byte   // of the edited ones
	secret map[string]bool     // those that hold values of a Secret
	now    []object.Object     // what is built of those
	states map[int]*Object     // objects that differ from live, by their place in now
}

// proof is an edit that sets chosen values, and nothing else.
type proof struct {
	place
	texts map[string][]byte
	now   []object.Object
	sets  []*Value
}

// Edits computes the texts of the files, with the chosen values of the objects, which were built of
// the kustomization; see the function Edits. A value that has no place of its own is left, and its
// reason names the places. The error is that of a kustomization that cannot be built or read.
func (k *Kustomization) Edits(ctx context.Context, objects []*Object) ([]*files.Edited, error) {
	if !slices.ContainsFunc(objects, func(o *Object) bool { return o.Chosen() > 0 }) {
		return nil, nil
	}
	if err := k.open(objects); err != nil {
		return nil, fmt.Errorf("%s: %w", k.Folder, err)
	}
	for again := true; again; { // what one value has no place for may be settled by another
		again = false
		left := map[*Value]string{}
		for _, o := range objects {
			for i := range o.Values {
				if v := &o.Values[i]; v.Left == "" && v.file == "" {
					left[v] = k.put(ctx, o, v)
					again = again || left[v] == ""
				}
			}
		}
		for v, why := range left {
			if !again {
				v.Left = why
			}
		}
	}
	var all []*files.Edited
	for _, s := range k.list {
		if text := k.texts[s.file]; text != nil {
			e := files.Rewritten(k.name(s.file), k.read[s.file], text)
			e.Hidden = s.key == "secretGenerator" || k.secret[s.file]
			all = append(all, e)
		}
	}
	return all, nil
}

// open finds the files, and builds the kustomization as it is.
func (k *Kustomization) open(objects []*Object) error {
	at, err := filepath.Abs(k.Folder)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return err
	}
	k.sources = sourcesOf(at)
	k.top, k.other = k.others()
	k.secret = map[string]bool{}
	k.built, k.read, k.texts, k.states = map[*sources][]byte{}, map[string][]byte{}, map[string][]byte{}, map[int]*Object{}
	for _, s := range k.list {
		if rel, err := filepath.Rel(k.top, s.file); err != nil || !filepath.IsLocal(rel) {
			k.distant = append(k.distant, k.name(s.file)+", which is in no folder of "+k.name(k.top))
			continue
		}
		if k.read[s.file], err = source.ReadFile(s.file); err != nil {
			return err
		}
	}
	if k.now, err = k.build(nil); err != nil {
		return err
	}
	for _, o := range objects {
		k.states[slices.IndexFunc(k.now, func(b object.Object) bool { return b.Origin.Document == o.Origin.Document })] = o
	}
	return nil
}

func (k *Kustomization) build(texts map[string][]byte) ([]object.Object, error) {
	data, err := source.Build(k.folder, texts)
	if err != nil {
		return nil, err
	}
	return source.Parse(k.Folder, data)
}

// text is what a file holds now.
func (k *Kustomization) text(file string) []byte {
	if text := k.texts[file]; text != nil {
		return text
	}
	return k.read[file]
}

// name is a file or folder as the user would name it.
func (k *Kustomization) name(file string) string {
	here, err := os.Getwd()
	if at, linkErr := filepath.EvalSymlinks(here); linkErr == nil {
		here = at
	}
	if rel, relErr := filepath.Rel(here, file); err == nil && relErr == nil && !filepath.IsAbs(k.Folder) {
		return rel
	}
	return file
}

// put writes a value where it comes from, and returns the reason if that is impossible. Of places that
// set it equally directly, there must be one alone.
func (k *Kustomization) put(ctx context.Context, o *Object, v *Value) string {
	var tried []string
	for all := k.places(o, v); len(all) > 0; {
		n := 1
		for n < len(all) && all[n].rank == all[0].rank {
			n++
		}
		var proven []*proof
		var names []string
		for _, at := range all[:n] {
			p, why := k.prove(ctx, at, v)
			switch {
			case p != nil:
				proven, names = append(proven, p), append(names, k.name(at.file)+at.part)
			case why != "":
				tried = append(tried, k.name(at.file)+at.part+": "+why)
			}
		}
		switch {
		case len(proven) > 1:
			return "has several places in " + k.Folder + ": edit one of them by hand: " + strings.Join(names, ", ")
		case len(proven) == 1:
			k.texts, k.now, k.secret[proven[0].file] = proven[0].texts, proven[0].now, proven[0].secret
			for _, set := range proven[0].sets {
				set.file = k.name(proven[0].file)
			}
			return ""
		}
		all = all[n:]
	}
	if len(tried) == 0 {
		tried = append([]string{"none of its files sets it alone: write a patch by hand"}, k.distant...)
	}
	return "has no place in " + k.Folder + ": " + strings.Join(tried, "; ")
}

// prove builds all with an edit. It returns the reason if the edit sets v, but cannot be made; "" if
// it does not set it.
func (k *Kustomization) prove(ctx context.Context, at place, v *Value) (*proof, string) {
	p := &proof{place: at, texts: maps.Clone(k.texts)}
	p.texts[at.file] = at.text
	var err error
	if p.now, err = k.build(p.texts); err != nil || len(p.now) != len(k.now) {
		return nil, ""
	}
	why := ""
	for i, b := range k.now {
		a, o := p.now[i], k.states[i]
		switch {
		case a.ID() != b.ID():
			return nil, at.hashed
		case merge.Identical(a.Value, b.Value):
		case o == nil:
			why = "changes " + a.String() + ", too"
		default:
			sets, wrong := o.sets(ctx, b, a)
			p.sets = append(p.sets, sets...)
			if wrong != "" {
				why = wrong
			}
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
		return v.Left == "" && there == v.live.Set && (!there || merge.Identical(got, v.live.Value))
	}
	for i := range o.Values {
		if v := &o.Values[i]; v.file == "" && has(v) {
			sets = append(sets, v)
		}
	}
	want, err := o.with(was.Value, func(v *Value) bool { return v.file == "" && has(v) })
	if err != nil {
		return sets, err.Error()
	}
	for _, c := range merge.Diff(want, now.Value, o.typ) {
		if c.Op != merge.OpOrder {
			return sets, "changes " + o.String() + ": " + c.Path.String() + ", too"
		}
	}
	o.item.Object = now.InNamespace(o.Namespace())
	if o.plan.Replan(ctx, o.item); o.item.Err != nil {
		return sets, "cannot be merged then"
	}
	for _, row := range drift.Of(o.item, o.applier) {
		if !slices.ContainsFunc(o.Values, func(v Value) bool {
			return !has(&v) && (v.Path.Leads(row.Path) || row.Path.Leads(v.Path))
		}) {
			return sets, "would make a difference in " + row.Path.String()
		}
	}
	return sets, ""
}

// used returns the reason why a file must not be edited: another kustomization builds something else
// of it then.
func (k *Kustomization) used(p *proof) string {
	var by []string
	for _, other := range k.other {
		if !other.seen[p.file] {
			continue
		}
		name := k.name(other.folder)
		if len(other.distant) > 0 {
			by = append(by, name+", which has "+other.distant[0])
			continue
		}
		was, have := k.built[other]
		if !have {
			was, _ = source.Build(other.folder, nil)
			k.built[other] = was
		}
		if now, err := source.Build(other.folder, p.texts); err != nil || !bytes.Equal(was, now) {
			by = append(by, name)
		}
	}
	if by == nil {
		return ""
	}
	return "is used by " + strings.Join(by, ", ") + ", too"
}
