package target

import (
	"context"
	"errors"
	"fmt"
	"slices"

	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// FileEdit is the planned edit of a file.
type FileEdit struct {
	*filemerge.Edited
	Taken []string // removed fields, with their objects

	objects []*Disowned
}

// Edits computes the new text of every file that states one of the fields; given lists the files
// and folders that were named. Files that state none of them are not returned. The error names the
// first file that cannot be edited.
func (d *Disowning) Edits(ctx context.Context, all []*Disowned, given []string) ([]*FileEdit, error) {
	byName := map[string][]*Disowned{}
	var names []string
	for _, h := range all {
		if len(h.Filed) == 0 {
			continue
		}
		name := h.Local.Origin.File
		if byName[name] == nil {
			names = append(names, name)
		}
		byName[name] = append(byName[name], h)
	}
	var files []*FileEdit
	for _, name := range names {
		f := &FileEdit{objects: byName[name]}
		var err error
		if f.Edited, err = filemerge.Edit(name, given, false, func(s filemerge.Stated) (any, *merge.Type, error) { return d.edit(ctx, s, f.objects) }); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, h := range f.objects {
			if !h.found {
				return nil, fmt.Errorf("%s: has changed since it was read: nothing was written; disown again", name)
			}
			for _, p := range h.Filed {
				f.Taken = append(f.Taken, fmt.Sprintf("%s of %s", p, h))
			}
		}
		files = append(files, f)
	}
	return files, nil
}

// edit returns an object of a file without the fields.
func (d *Disowning) edit(ctx context.Context, s filemerge.Stated, objects []*Disowned) (want any, typ *merge.Type, err error) {
	i := slices.IndexFunc(objects, func(h *Disowned) bool { return s.Is(*h.Local) })
	if i < 0 {
		return nil, nil, nil
	}
	h := objects[i]
	h.found = true
	if want, err = d.remove(ctx, h.subject(), s.Value, h.Filed); err != nil {
		return nil, nil, err
	}
	typ, err = d.Planner.TypeOf(ctx, h.subject(), s.Value)
	return want, typ, err
}

// ErrOthersFailed reports a file that is kept because its object could not be written. Without a
// field that the applier still owns, the next merge would remove it from live. That merge
// claims the fields of its other objects, which were written, again.
var ErrOthersFailed = errors.New("was not written, because of the other errors: fix them, and disown again")

// Writable returns ErrOthersFailed if the file must not be changed.
func (f *FileEdit) Writable() error {
	if slices.ContainsFunc(f.objects, func(h *Disowned) bool { return h.Failed }) {
		return fmt.Errorf("%s: %w", f.Name, ErrOthersFailed)
	}
	return nil
}

// Rehearse returns the error that the file could not be written for, and leaves it as it is.
func (f *FileEdit) Rehearse() error { return filemerge.Rehearse([]*filemerge.Edited{f.Edited}) }

// Write replaces the old text by the new one. It is an error, with the remedy, if the file was
// changed since, or it cannot be written.
func (f *FileEdit) Write() error {
	if err := filemerge.ReplaceAll([]*filemerge.Edited{f.Edited}); err != nil {
		return fmt.Errorf("%s: the fields are no longer in last-applied, but still in the file: take them out there, or the next merge takes them back: %w", f.Name, err)
	}
	return nil
}
