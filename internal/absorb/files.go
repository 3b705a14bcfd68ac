package absorb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

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
