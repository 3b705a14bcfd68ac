package absorb

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/internal/drift"
	"github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Edits computes the texts of the files that the objects are from, with the chosen values. A value that
// shares its text with others, which keep theirs, is left, and so is one that has no place of its own
// in a kustomization. Files that stay as they are are not returned. The error joins those of all files
// that cannot be edited, with their names.
func (c Choice) Edits(ctx context.Context, in source.Inputs, objects []*Object) ([]*files.Edited, error) {
	if in.Kustomize != "" {
		return inKustomization(ctx, in.Kustomize, objects)
	}
	taking := slices.DeleteFunc(slices.Clone(objects), func(o *Object) bool { return o.compare == nil || len(o.Chosen()) == 0 })
	stated := object.Each(taking, func(o *Object) object.Object { return o.Object })
	var again []object.Object // a file may repeat an object of another
	if len(taking) > 0 {
		again, _ = source.Read(ctx, source.Inputs{Files: in.Files, Recursive: in.Recursive})
	}
	for _, o := range taking {
		for _, r := range again {
			if r.Name() == o.Name() && r.Origin.File != o.Origin.File && r.InNamespace(o.Namespace()).ID() == o.ID() {
				taking, stated = append(taking, o), append(stated, r)
			}
		}
	}
	all, err := files.Edits{Given: in.Files, Verb: "absorb",
		Edit: func(i int, s files.Stated) (any, *merge.Type, error) {
			want, err := taking[i].with(s.Value, taking[i].Chosen())
			return want, taking[i].typ, err
		},
		Leave: func(found map[int]files.Stated, anchor string) (any bool) {
			for i, s := range found {
				any = taking[i].leave(s, anchor) || any
			}
			return any
		},
	}.Of(stated)
	if err != nil {
		return nil, err
	}
	return c.withNew(all, objects)
}

// leave leaves the chosen values that use an anchor, and reports whether there are any.
func (o *Object) leave(s files.Stated, anchor string) (any bool) {
	for _, v := range o.Chosen() {
		if slices.Contains(s.Doc.Anchors(slices.Concat(s.At, o.at(s.Value, v))), anchor) {
			v.Unplaced, v.Reason = true, fmt.Sprintf("with the anchor &%s, which others use with another value: edit it by hand", anchor)
			any = true
		}
	}
	return any
}

// member returns a member of a set that is in no file, as it was configured: without what the server
// and the control plane have set, and what marks it as a member.
func (c Choice) member(ctx context.Context, p *run.Plan, item *run.Item) (*Object, error) {
	live := item.Planned.Live
	v := &Value{Row: drift.Of(item, c.Applier)[0], file: c.File}
	o := &Object{live: live, Values: []*Value{v}}
	bare := object.Object{Value: map[string]any{"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": map[string]any{"name": item.Target.Name}}}
	again := p.Compare(ctx, run.NewItem(bare.InNamespace(item.Target.Namespace), item.Target), live)
	if again.Err != nil {
		return o, again.Err
	}
	switch v.Reason = ""; {
	case len(c.Fields) > 0 || c.Managers != nil:
		v.Reason = "not named"
	case item.Surplus.File != "":
		v.Reason = item.Reason()
	case redact.IsSecretKind(v.Group, v.Object.Kind) && !c.Secrets:
		v.Reason = "in a Secret: --secrets takes it"
	case len(merge.At[[]any](live, "metadata", "ownerReferences")) > 0:
		v.Reason = "made for another object, which owns it"
	case c.File == "":
		v.Reason = "in no file: --new FILE takes it"
	}
	body, _ := lastapplied.WithoutSet(lastapplied.Without(again.Planned.Former())).(map[string]any)
	o.typ, o.Object = again.Planned.Type, object.Object{Value: body, Origin: object.Origin{File: c.File}}
	return o, nil
}

// withNew adds the new objects to the end of their file, which may be one that is edited already or
// not be there yet.
func (c Choice) withNew(all []*files.Edited, objects []*Object) ([]*files.Edited, error) {
	var add []yamldoc.Addition
	for _, o := range objects {
		if len(o.Chosen()) > 0 && o.compare == nil {
			empty, _ := yamldoc.Parse(nil)
			text, err := empty.Documents()[0].Edit(yamldoc.Edit{Want: o.Value, Type: o.typ})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", o, err)
			}
			add = append(add, yamldoc.Addition{Text: text})
		}
	}
	if add == nil {
		return all, nil
	}
	at := slices.IndexFunc(all, func(e *files.Edited) bool { return filepath.Clean(e.Name) == filepath.Clean(c.File) })
	if at < 0 {
		text, err := source.ReadFile(c.File)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		at, all = len(all), append(all, &files.Edited{Name: c.File, Old: text, Now: text})
	}
	f, err := yamldoc.Parse(all[at].Now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	all[at].Now = f.Assemble(nil, add)
	return all, nil
}

// with returns an object of a file with some values of live. It does not modify obj. The error names
// the field.
func (o *Object) with(obj map[string]any, some []*Value) (out map[string]any, err error) {
	paths := object.Each(some, func(v *Value) merge.Path { return o.at(obj, v) })
	for _, edited := range []bool{true, false} { // of entries with another key first: they are found by their places
		for i, v := range some {
			if (v.Stated != nil) != edited {
				continue
			}
			if p, live := spelled(obj, paths[i], v.live); v.Order != nil {
				obj, err = replay(obj, merge.Change{Op: merge.OpOrder, Path: p, NewOrder: v.Order})
			} else {
				obj, err = o.set(obj, p, live)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v.Path, err)
			}
		}
	}
	return obj, nil
}

// at returns the path of a value in obj: with the place of an entry that has another key in live.
func (o *Object) at(obj map[string]any, v *Value) merge.Path {
	p := slices.Clone(v.Path)
	for n, step := range v.Stated {
		list, _ := merge.Lookup(obj, p[:n], o.typ)
		if i := merge.EntriesOf(merge.At[[]any](list), o.typ.At(p[:n])).At(step); i >= 0 && step.String() != p[n].String() {
			p[n] = merge.Step{Kind: merge.IndexStep, Index: i}
		}
	}
	return p
}

// set returns obj with a value of live, or without it.
func (o *Object) set(obj map[string]any, p merge.Path, live merge.Opt) (map[string]any, error) {
	if live.Set {
		return o.put(obj, p, live.Value)
	}
	return o.remove(obj, p)
}

func replay(obj map[string]any, c merge.Change) (map[string]any, error) {
	out, err := merge.Replay(obj, []merge.Change{c})
	obj, _ = out.(map[string]any)
	return obj, err
}

// remove returns obj without a value, and what is empty then where live has nothing either, or what the server
// fills in.
func (o *Object) remove(obj map[string]any, p merge.Path) (map[string]any, error) {
	obj, err := replay(obj, merge.Change{Op: merge.OpRemove, Path: p})
	if p = p[:len(p)-1]; err != nil || len(p) == 0 || p[len(p)-1].Kind != merge.FieldStep {
		return obj, err
	}
	left, _ := merge.Lookup(obj, p, o.typ)
	fields, _ := left.(map[string]any)
	live := merge.NewFinder(o.live, o.typ)
	if is, _ := live.Lookup(p); is != nil && !live.Refilled(p) || len(fields)+len(merge.At[[]any](left)) > 0 {
		return obj, nil
	}
	return o.remove(obj, p)
}

// put returns obj with a value of live. A new entry of a list stands behind the one that precedes it
// in live, otherwise before the one that follows.
func (o *Object) put(obj map[string]any, p merge.Path, value any) (map[string]any, error) {
	_, had := merge.Lookup(obj, p, o.typ)
	obj, err := merge.Put(obj, p, value)
	last, list := p[len(p)-1], p[:len(p)-1]
	if err != nil || had || last.Kind == merge.FieldStep {
		return obj, err
	}
	now, _ := merge.Lookup(obj, list, o.typ)
	is, _ := merge.Lookup(o.live, list, o.typ)
	entries, _ := now.([]any)
	typ, end := o.typ.At(list), len(entries)-1
	live := merge.EntriesOf(merge.At[[]any](is), typ)
	to, near, n := end, -1, live.At(last)
	for i, e := range entries[:end] {
		if at := live.At(merge.StepOf(typ, e, 0)); near < at && at < n {
			to, near = i+1, at
		} else if at > n && near < 0 {
			to = min(to, i)
		}
	}
	return merge.Put(obj, list, slices.Insert(slices.Clone(entries[:end]), to, entries[end]))
}

// spelled returns a value of a Secret where the file states it: as text in stringData, or in data.
func spelled(obj map[string]any, p merge.Path, live merge.Opt) (merge.Path, merge.Opt) {
	at := lastapplied.StatedAt(obj, p)
	plain, err := base64.StdEncoding.DecodeString(merge.At[string](live.Value))
	if p[0].Name != "data" || at[0].Name == "data" || err != nil || !utf8.Valid(plain) {
		return p, live
	}
	return at, merge.Opt{Value: string(plain), Set: live.Set}
}
