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
// differs in chosen values alone, and no other kustomization has the text.
type kustomization struct {
	*source.Sources
	named  string // the folder, as the user has named it
	others []*source.Sources
	files  map[string]*files.Edited // by their names in Sources
	texts  map[string][]byte        // of those, as they are edited
	now    []object.Object          // what is built of these
	states map[int]*Object          // objects that differ from live, by their document in now
}

// inKustomization computes the texts of the files that a kustomization is built of. A value that has no place
// of its own is left, and its reason names the places. The error is that of a kustomization that
// cannot be built or read.
func inKustomization(ctx context.Context, folder string, objects []*Object) ([]*files.Edited, error) {
	var all []*Value
	k := &kustomization{named: folder, states: map[int]*Object{}}
	for _, o := range objects {
		all, k.states[o.Origin.Document] = append(all, o.Chosen()...), o
	}
	if len(all) == 0 {
		return nil, nil
	}
	if err := k.open(); err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	for again := true; again; { // what one value has no place for may be settled by another
		again = false
		for _, v := range all {
			if v.file == "" {
				v.why = k.put(ctx, v)
				again = again || v.why == ""
			}
		}
	}
	for _, v := range all {
		v.Unplaced, v.Reason = v.why != "", v.why
	}
	var edited []*files.Edited
	for _, s := range k.Files {
		if e := k.files[s.Name]; e != nil && !bytes.Equal(e.Old, e.Now) {
			edited = append(edited, e)
		}
	}
	return edited, nil
}

// open finds the files, and builds the kustomization as it is.
func (k *kustomization) open() error {
	at, err := filepath.Abs(k.named)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return err
	}
	k.Sources = source.SourcesOf(at)
	repository, others := k.Others()
	k.others, k.files, k.texts = others, map[string]*files.Edited{}, map[string][]byte{}
	for _, s := range k.Files {
		if rel, err := filepath.Rel(repository, s.Name); err != nil || !filepath.IsLocal(rel) {
			k.Distant = append(k.Distant, k.name(s.Name)+", which is in no folder of "+k.name(repository))
			continue
		}
		if k.texts[s.Name], err = source.ReadFile(s.Name); err != nil {
			return err
		}
		k.files[s.Name] = &files.Edited{Name: k.name(s.Name), Old: k.texts[s.Name], Now: k.texts[s.Name], Hidden: s.Key == "secretGenerator"}
	}
	k.now, err = k.build(k.texts)
	return err
}

func (k *kustomization) build(texts map[string][]byte) ([]object.Object, error) {
	data, err := source.Build(k.Folder, texts)
	if err != nil {
		return nil, err
	}
	return source.Parse(k.named, data)
}

// name is a file or folder as the user would name it.
func (k *kustomization) name(file string) string { return source.Relative(k.named, file) }

// put writes a value where it comes from, and returns the reason if that is impossible. Of places that
// set it equally directly, there must be one alone.
func (k *kustomization) put(ctx context.Context, v *Value) string {
	var tried []string
	for all, n := k.places(v), 0; n < len(all); {
		var found *place
		var names []string
		for rank := all[n].rank; n < len(all) && all[n].rank == rank; n++ {
			p := &all[n]
			if why := k.prove(ctx, p, v); why != "" {
				tried = append(tried, p.title+": "+why)
			} else if slices.Contains(p.sets, v) {
				found, names = p, append(names, p.title)
			}
		}
		if len(names) > 1 {
			return "with several places in " + k.named + ": edit one of them by hand: " + strings.Join(names, ", ")
		}
		if found != nil {
			e := k.files[found.file]
			e.Now, e.Hidden, k.texts[found.file], k.now = found.text, e.Hidden || found.hidden, found.text, found.now
			for _, v := range found.sets {
				v.file, v.why = e.Name, ""
			}
			return ""
		}
	}
	if len(tried) == 0 {
		tried = append([]string{"none of its files sets it alone"}, k.Distant...)
	}
	way := ": write a patch of it into the overlay that is to have it, and absorb with -k of that"
	if v.Path[0].Name != "spec" || !k.overlays() { // kustomize sets labels, annotations, and what it generates, after patches
		way = ": edit it by hand"
	}
	return "without a place in " + k.named + ": " + strings.Join(slices.Compact(tried), "; ") + way
}

// prove builds all with a place's text, and finds the values that are set then. It returns the reason if
// v is set, but the edit cannot be made.
func (k *kustomization) prove(ctx context.Context, p *place, v *Value) (why string) {
	texts := maps.Clone(k.texts)
	texts[p.file] = p.text
	var err error
	if p.now, err = k.build(texts); err != nil || len(p.now) != len(k.now) {
		return ""
	}
	for i, b := range k.now {
		a, o := p.now[i], k.states[b.Origin.Document]
		switch {
		case a.ID() != b.ID():
			return "the name has a hash of the content, so that it would be another object"
		case merge.Identical(a.Value, b.Value):
		case o == nil:
			why = "changes " + a.String() + ", too"
		default:
			sets, wrong := o.sets(ctx, b, a)
			p.sets, why = append(p.sets, sets...), cmp.Or(wrong, why)
		}
	}
	switch {
	case !slices.Contains(p.sets, v):
		return ""
	case why == "":
		return k.used(p.file)
	}
	return why
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
		left, isMap := c.Old.Value.(map[string]any) // a removal leaves it in want, and kustomize takes it out
		emptied := isMap && len(left) == 0 && slices.ContainsFunc(sets, func(v *Value) bool { return c.Path.Leads(v.Path) })
		if c.Op != merge.OpOrder && !emptied {
			return sets, "changes " + o.String() + ": " + c.Path.String() + ", too"
		}
	}
	rows, err := o.compare(ctx, now.InNamespace(o.Namespace()))
	if err != nil {
		return sets, "cannot be merged then"
	}
	for _, row := range rows {
		if !slices.ContainsFunc(o.Values, func(v *Value) bool {
			return !has(v) && !v.along && (v.Path.Leads(row.Path) || row.Order == nil && row.Path.Leads(v.Path))
		}) {
			return sets, "would make a difference in " + row.Path.String()
		}
	}
	return sets, ""
}

// overlays reports whether the kustomization has values of others, or others have its own.
func (k *kustomization) overlays() bool {
	return len(k.Distant) > 0 || slices.ContainsFunc(k.Files, func(f source.SourceFile) bool { return f.Depth > 0 || k.used(f.Name) != "" })
}

// used returns the reason why a file must not be edited: other kustomizations build something of it, too, even
// if they override the value today.
func (k *kustomization) used(file string) string {
	users := slices.DeleteFunc(slices.Clone(k.others), func(other *source.Sources) bool { return !other.Has(file) })
	if len(users) == 0 {
		return ""
	}
	return "is used by " + strings.Join(object.Each(users, func(other *source.Sources) string { return k.name(other.Folder) }), ", ") + ", too"
}
