package target

import (
	"context"
	"errors"
	"fmt"
	"slices"

	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// FileEdit is the planned edit of a file.
type FileEdit struct {
	*filemerge.Edited
	Taken []string // removed fields, with their objects

	objects []*Disowned
}

// Edits computes the new text of every file that states one of the fields; given lists the files
// and folders that were named. Files that state none of them are not returned. The error joins those
// of all files that cannot be edited.
func (d *Disowning) Edits(ctx context.Context, all []*Disowned, given []string) (files []*FileEdit, err error) {
	filed := slices.DeleteFunc(slices.Clone(all), func(h *Disowned) bool { return len(h.Filed) == 0 })
	objects := object.Each(filed, func(h *Disowned) object.Object { return *h.Local })
	edited, err := filemerge.Edits{Given: given, Verb: "disown", Edit: func(i int, s filemerge.Stated) (any, *merge.Type, error) {
		return d.edit(ctx, s, filed[i])
	}}.Of(objects)
	for _, e := range edited {
		f := &FileEdit{Edited: e}
		for _, h := range filed {
			if h.Local.Origin.File != f.Name {
				continue
			}
			f.objects = append(f.objects, h)
			for _, p := range h.Filed {
				f.Taken = append(f.Taken, fmt.Sprintf("%s of %s", p, h))
			}
		}
		files = append(files, f)
	}
	return files, err
}

// edit returns an object of a file without the fields.
func (d *Disowning) edit(ctx context.Context, s filemerge.Stated, h *Disowned) (want any, typ *merge.Type, err error) {
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

// Write replaces the old text by the new one. It is an error, with the remedy, if the file was
// changed since, or it cannot be written.
func (f *FileEdit) Write() error {
	if err := filemerge.ReplaceAll([]*filemerge.Edited{f.Edited}); err != nil {
		return fmt.Errorf("%s: the fields are no longer in last-applied, but still in the file: take them out there, or the next merge takes them back: %w", f.Name, err)
	}
	return nil
}
