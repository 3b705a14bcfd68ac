package absorb

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Edits computes the texts of the files that state the objects, with the chosen values; given
// lists the files and folders that were named. A value that shares its text with others, which
// keep theirs, is left. Files that stay as they are are not returned. The error joins those of
// all files that cannot be edited, with their names.
func Edits(objects []*Object, given []string) ([]*files.Edited, error) {
	byName := map[string][]*Object{}
	var names []string
	for _, o := range objects {
		if o.Chosen() == 0 || o.item == nil { // a new one is appended
			continue
		}
		name := o.Origin.File
		if byName[name] == nil {
			names = append(names, name)
		}
		byName[name] = append(byName[name], o)
	}
	var (
		all  []*files.Edited
		errs []error
	)
	for _, name := range names {
		f := file{objects: byName[name]}
		edited, err := f.edit(name, given)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		case string(edited.Old) != string(edited.Now):
			all = append(all, edited)
		}
	}
	return all, errors.Join(errs...)
}

// file is a file that is edited.
type file struct {
	objects []*Object
	found   map[*Object]files.Stated
}

// edit computes the text, without the values that share a text which others need as it is.
func (f *file) edit(name string, given []string) (*files.Edited, error) {
	for {
		f.found = map[*Object]files.Stated{}
		edited, err := files.Edit(name, given, true, f.with)
		var shared *yamldoc.AliasError
		if errors.As(err, &shared) && f.leave(shared) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, o := range f.objects {
			if _, there := f.found[o]; !there && o.Chosen() > 0 {
				return nil, errors.New("has changed since it was read: nothing was written; absorb again")
			}
		}
		return edited, nil
	}
}

// with returns an object of the file with its chosen values.
func (f *file) with(s files.Stated) (any, *merge.Type, error) {
	for _, o := range f.objects {
		if !s.Is(o.Object) || o.Chosen() == 0 {
			continue
		}
		f.found[o] = s
		want, err := o.With(s.Value)
		if err != nil {
			return nil, nil, err
		}
		return want, o.typ, nil
	}
	return nil, nil, nil
}

// leave leaves the values that use an anchor, and reports whether there are any.
func (f *file) leave(shared *yamldoc.AliasError) (any bool) {
	for o, s := range f.found {
		for i, v := range o.Values {
			if v.Left != "" || !slices.Contains(s.Doc.Anchors(slices.Concat(s.At, v.Path)), shared.Anchor) {
				continue
			}
			o.Values[i].Left = fmt.Sprintf("written with the anchor &%s, which others use with another value: edit it by hand", shared.Anchor)
			any = true
		}
	}
	return any
}
