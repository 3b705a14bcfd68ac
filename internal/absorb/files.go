package absorb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Edits computes the texts of the files that the objects are from, with the chosen values. A value that
// shares its text with others, which keep theirs, is left, and so is one that has no place of its own
// in a kustomization. Files that stay as they are are not returned. The error joins those of all files
// that cannot be edited, with their names.
func (c Choice) Edits(ctx context.Context, in source.Inputs, objects []*Object) (all []*files.Edited, err error) {
	if in.Kustomize != "" {
		return inKustomization(ctx, in.Kustomize, objects)
	}
	seen := map[string]bool{}
	for _, o := range objects {
		name := o.Origin.File
		if seen[name] || !o.edits(name) {
			continue
		}
		seen[name] = true
		edited, bad := edit(name, objects, in.Files)
		if bad != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", name, bad))
		} else if string(edited.Old) != string(edited.Now) {
			all = append(all, edited)
		}
	}
	if err != nil {
		return nil, err
	}
	return c.withNew(all, objects)
}

// edits reports whether the object takes values where a file states it; a new one is appended.
func (o *Object) edits(file string) bool {
	return o.item != nil && o.Origin.File == file && len(o.Chosen()) > 0
}

// edit computes the text of a file, without the values that share a text which others need as it is.
func edit(name string, objects []*Object, given []string) (*files.Edited, error) {
	for {
		found := map[*Object]files.Stated{}
		edited, err := files.Edit(name, given, true, func(s files.Stated) (any, *merge.Type, error) {
			i := slices.IndexFunc(objects, func(o *Object) bool { return o.edits(name) && s.Is(o.Object) })
			if i < 0 {
				return nil, nil, nil
			}
			found[objects[i]] = s
			want, err := objects[i].with(s.Value, objects[i].Chosen())
			return want, objects[i].typ, err
		})
		var shared *yamldoc.AliasError
		if errors.As(err, &shared) && leave(found, shared.Anchor) {
			continue
		}
		for _, o := range objects {
			if _, there := found[o]; err == nil && !there && o.edits(name) {
				err = errors.New("has changed since it was read: nothing was written; absorb again")
			}
		}
		return edited, err
	}
}

// leave leaves the chosen values that use an anchor, and reports whether there are any.
func leave(found map[*Object]files.Stated, anchor string) (any bool) {
	for o, s := range found {
		for _, v := range o.Chosen() {
			if slices.Contains(s.Doc.Anchors(slices.Concat(s.At, v.Path)), anchor) {
				v.Reason = fmt.Sprintf("written with the anchor &%s, which others use with another value: edit it by hand", anchor)
				any = true
			}
		}
	}
	return any
}
