package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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

// fileEdit is a file as it is to become.
type fileEdit struct {
	name     string
	folder   string // given with -f, that it was found in; "" where it was named
	old, now []byte
	taken    []string // what goes: object and field
	objects  []*handover
}

// without is the object as its file has it, without the fields.
func (v *disownVerb) without(ctx context.Context, h *handover, fields []merge.Path) (map[string]any, error) {
	value, err := v.remove(ctx, h.subject(), h.local.Value, fields)
	obj, _ := value.(map[string]any)
	return obj, err
}

// rewriteFiles works out the new text of every file that states one of the fields;
// none without -w.
func (v *disownVerb) rewriteFiles(ctx context.Context, all []*handover) ([]*fileEdit, error) {
	if !v.write {
		return nil, nil
	}
	byName := map[string][]*handover{}
	var names []string
	for _, h := range all {
		if len(h.filed) == 0 {
			continue
		}
		name := h.local.Origin.File
		if byName[name] == nil {
			names = append(names, name)
		}
		byName[name] = append(byName[name], h)
	}
	var files []*fileEdit
	for _, name := range names {
		f, err := v.rewriteFile(ctx, name, byName[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		f.objects = byName[name]
		for _, h := range f.objects {
			for _, p := range h.filed {
				f.taken = append(f.taken, fmt.Sprintf("%s of %s", p, h))
			}
		}
		files = append(files, f)
	}
	return files, nil
}

func (v *disownVerb) rewriteFile(ctx context.Context, name string, objects []*handover) (*fileEdit, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() || errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("is no file that -w could write: give files with -f")
	}
	if err != nil {
		return nil, err
	}
	f := &fileEdit{name: name, folder: v.folderOf(name)}
	if err := filemerge.LeadsOut(f.folder, name); err != nil {
		return nil, err
	}
	if f.old, err = source.ReadFile(name); err != nil {
		return nil, err
	}
	parsed, err := yamldoc.Parse(f.old)
	if err != nil {
		return nil, err
	}
	texts := map[*yamldoc.Document][]byte{}
	for _, d := range parsed.Documents() {
		e, changed, err := v.edit(ctx, d.Value(), objects)
		if err != nil {
			return nil, err
		}
		if !changed {
			continue
		}
		if texts[d], err = d.Edit(e); err != nil {
			return nil, err
		}
	}
	f.now = parsed.Assemble(texts, nil)
	return f, nil
}

// folderOf is the folder given with -f that a file was found in; "" where it was named
// itself.
func (v *disownVerb) folderOf(name string) string {
	for _, given := range v.inputs.Files {
		below, err := filepath.Rel(given, name)
		if err != nil || !filepath.IsLocal(below) || below == "." {
			continue
		}
		if info, err := os.Stat(given); err == nil && info.IsDir() {
			return given
		}
	}
	return ""
}

// listType is how a list of objects is edited: entry by entry, in place.
var listType = &merge.Type{Kind: merge.Object, Open: true, Fields: map[string]merge.Field{"items": {Type: &merge.Type{Kind: merge.List}}}}

// edit is what is to become of a document: an object, or a list of objects.
func (v *disownVerb) edit(ctx context.Context, value any, objects []*handover) (e yamldoc.Edit, changed bool, err error) {
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
		if e.Want, err = v.remove(ctx, h.subject(), obj, h.filed); err != nil {
			return e, false, err
		}
		e.Type, err = v.planner.TypeOf(ctx, h.subject(), obj)
		return e, true, err
	}
	items = slices.Clone(items)
	for i, item := range items {
		one, edited, err := v.edit(ctx, item, objects)
		if err != nil {
			return e, false, err
		}
		if edited {
			items[i], changed = one.Want, true
		}
	}
	list := maps.Clone(obj)
	list["items"] = items
	return yamldoc.Edit{Want: list, Type: listType}, changed, nil
}

// stated is the part of the run that is about an object of a file; nil for one
// that gives up nothing.
func stated(obj map[string]any, objects []*handover) *handover {
	id := object.Object{Value: obj}.ID()
	for _, h := range objects {
		own := h.local.ID()
		if id == own {
			return h
		}
		if own.Namespace = ""; id == own {
			return h
		}
	}
	return nil
}

// writeFile puts the new text in the old one's place, or shows what would come of
// it.
//
// A file of an object that could not be written stays: without a field that is still
// ours, the next merge would remove it from live. Those of it that were written get
// their fields back by that merge.
func (v *disownVerb) writeFile(f *fileEdit, mode dryRun) error {
	if slices.ContainsFunc(f.objects, func(h *handover) bool { return h.failed }) {
		return fmt.Errorf("%s: was not written, because of the other errors: fix them, and disown again", f.name)
	}
	if v.out.output == "diff" {
		if err := v.showFile(f); err != nil {
			return err
		}
	}
	if mode == dryNone {
		if err := filemerge.Replace(f.folder, f.name, f.old, f.now); err != nil {
			return fmt.Errorf("%s: the fields are no longer in last-applied, but still in the file: take them out there, or the next merge takes them back: %w", f.name, err)
		}
	}
	fmt.Fprintf(v.ErrOut, "note: %s: %s taken out%s\n", oneLine(f.name), oneLine(strings.Join(f.taken, ", ")), mode.suffix())
	return nil
}

// showFile prints the diff of a file.
func (v *disownVerb) showFile(f *fileEdit) error {
	text, err := filemerge.Diff(filemerge.Texts{From: f.name, To: f.name, Old: string(f.old), Now: string(f.now)}, filemerge.Hiding{ShowSecrets: v.out.secrets, Rules: v.planner.Rules.All()})
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	_, err = fmt.Fprint(v.Out, text)
	return err
}
