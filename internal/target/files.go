package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/yamldoc"
)

// FileEdit is the planned edit of a file.
type FileEdit struct {
	Name     string
	Old, Now []byte
	Taken    []string // removed fields, with their objects

	folder  string // the given folder that it was found in; "" if it was named
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
		f := &FileEdit{Name: name, folder: folderOf(name, given), objects: byName[name]}
		if err := d.rewriteFile(ctx, f); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, h := range f.objects {
			for _, p := range h.Filed {
				f.Taken = append(f.Taken, fmt.Sprintf("%s of %s", p, h))
			}
		}
		files = append(files, f)
	}
	return files, nil
}

// rewriteFile sets the text of a file with the fields, and without.
func (d *Disowning) rewriteFile(ctx context.Context, f *FileEdit) error {
	info, err := os.Stat(f.Name)
	if err == nil && !info.Mode().IsRegular() || errors.Is(err, fs.ErrNotExist) {
		return errors.New("is no file that -w could write: give files with -f")
	}
	if err != nil {
		return err
	}
	if err := filemerge.LeadsOut(f.folder, f.Name); err != nil {
		return err
	}
	if f.Old, err = source.ReadFile(f.Name); err != nil {
		return err
	}
	parsed, err := yamldoc.Parse(f.Old)
	if err != nil {
		return err
	}
	texts := map[*yamldoc.Document][]byte{}
	for _, doc := range parsed.Documents() {
		e, changed, err := d.edit(ctx, doc.Value(), f.objects)
		if err != nil {
			return err
		}
		if !changed {
			continue
		}
		if texts[doc], err = doc.Edit(e); err != nil {
			return err
		}
	}
	f.Now = parsed.Assemble(texts, nil)
	return nil
}

// folderOf returns the given folder that a file was found in; "" if it was named itself.
func folderOf(name string, given []string) string {
	for _, at := range given {
		below, err := filepath.Rel(at, name)
		if err != nil || !filepath.IsLocal(below) || below == "." {
			continue
		}
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			return at
		}
	}
	return ""
}

// listType describes a list of objects for edits entry by entry, in place.
var listType = &merge.Type{Kind: merge.Object, Open: true, Fields: map[string]merge.Field{"items": {Type: &merge.Type{Kind: merge.List}}}}

// edit returns the edit of a document: an object, or a list of objects.
func (d *Disowning) edit(ctx context.Context, value any, objects []*Disowned) (e yamldoc.Edit, changed bool, err error) {
	obj, ok := value.(map[string]any)
	if !ok {
		return e, false, nil
	}
	items, ok := obj["items"].([]any)
	if !ok || !strings.HasSuffix(object.Object{Value: obj}.Kind(), "List") {
		h := stated(obj, objects)
		if h == nil {
			return e, false, nil
		}
		if e.Want, err = d.remove(ctx, h.subject(), obj, h.Filed); err != nil {
			return e, false, err
		}
		e.Type, err = d.Planner.TypeOf(ctx, h.subject(), obj)
		return e, true, err
	}
	items = slices.Clone(items)
	for i, item := range items {
		one, edited, err := d.edit(ctx, item, objects)
		if err != nil {
			return e, false, err
		}
		if edited {
			items[i], changed = one.Want, true
		}
	}
	return yamldoc.Edit{Want: merge.With(obj, items, "items"), Type: listType}, changed, nil
}

// stated returns the part of the run that is about an object of a file; nil for one that keeps all
// fields.
func stated(obj map[string]any, objects []*Disowned) *Disowned {
	id := object.Object{Value: obj}.ID()
	for _, h := range objects {
		own := h.Local.ID()
		if id == own {
			return h
		}
		if own.Namespace = ""; id == own {
			return h
		}
	}
	return nil
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
	if err := filemerge.Replace(f.folder, f.Name, f.Old, f.Now); err != nil {
		return fmt.Errorf("%s: the fields are no longer in last-applied, but still in the file: take them out there, or the next merge takes them back: %w", f.Name, err)
	}
	return nil
}
