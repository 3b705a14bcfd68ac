package annotate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Disowning removes fields from what was applied last, so that live keeps them.
type Disowning struct {
	*Run
	Fields []merge.Path
	Files  bool // the fields are removed from the items' files, too

	of map[*run.Item]*Disowned
}

// Disowned is the planned change of one item.
type Disowned struct {
	*run.Item
	Filed    []merge.Path // the fields that its file states
	Meanings []Meaning    // of the change, for the next merge

	has   []merge.Path // those of the fields that it was applied with
	takes []merge.Path // those that are removed: also missing ones, which is an error
}

// Changes reports whether the annotation is to be written.
func (h *Disowned) Changes() bool { return len(h.takes) > 0 }

// Plan plans the change of every item, and writes nothing. The error joins all problems.
func (d *Disowning) Plan(ctx context.Context) error {
	d.of, d.Rewrite = map[*run.Item]*Disowned{}, d.rewrite
	for _, item := range d.Items {
		d.of[item] = &Disowned{Item: item}
	}
	d.Merge(ctx)
	for _, h := range d.All() {
		if h.Err == nil && h.Changes() {
			h.Err = d.mean(ctx, h)
		}
	}
	return cmp.Or(d.Errs(), d.nowhere())
}

// All returns the planned changes, in the order of the items.
func (d *Disowning) All() []*Disowned { return object.Each(d.Items, d.Of) }

// Of returns that of an item.
func (d *Disowning) Of(item *run.Item) *Disowned { return d.of[item] }

// rewrite is the run's Rewrite. The fields to remove are determined once.
func (d *Disowning) rewrite(ctx context.Context, item *run.Item, live map[string]any) (*lastapplied.Original, error) {
	h, was, s := d.of[item], lastapplied.Read(live), subject(item, live)
	if !h.Changes() && d.Chosen(item) && was.State == lastapplied.None {
		return nil, nil
	}
	serverSide := ownership.RewriteOf(live, apply.ServerManager)
	if i := slices.IndexFunc(d.Fields, serverSide.Alone); i >= 0 && !h.Changes() { // the annotation does not decide about it
		return nil, fmt.Errorf("%s: was applied from the server's side, and nobody else owns it, so that the next such apply without it removes it from live: let another manager own it first, or migrate: kubectl merge migrate %s%s --to=client-side", d.Fields[i], item.Target, object.In(item.Target.Namespace))
	}
	err := Usable(was, live)
	if err == nil && !h.Changes() {
		err = d.look(ctx, h, s, was.Value)
	}
	if err != nil || !h.Changes() {
		return nil, err
	}
	was.Value, err = d.remove(ctx, s, was.Value, h.takes)
	return &was, err
}

// mean sets the meanings of a change.
func (d *Disowning) mean(ctx context.Context, h *Disowned) (err error) {
	local := Local(h.Item)
	if local != nil && d.Files {
		value, err := d.remove(ctx, h.Planned.Subject, local.Value, h.Filed)
		if err != nil {
			return fmt.Errorf("%s: %w", h.Target, err)
		}
		edited := *local
		edited.Value, _ = value.(map[string]any)
		local = &edited
	}
	h.Meanings, err = d.Planner.Meanings(ctx, h.Planned, lastapplied.Read(h.Planned.Live).Value, local)
	return err
}

// look determines where the fields are, and which are removed.
func (d *Disowning) look(ctx context.Context, h *Disowned, s apply.Subject, conf any) error {
	typ, err := d.Planner.TypeOf(ctx, s, conf)
	if err != nil {
		return err
	}
	for _, p := range d.Fields {
		if _, ok := merge.Lookup(conf, lastapplied.StatedAt(conf, p), typ); ok {
			h.has = append(h.has, p)
		}
		if Local(h.Item) == nil {
			continue
		}
		if _, ok := merge.Lookup(s.Value, lastapplied.StatedAt(s.Value, p), typ); ok {
			h.Filed = append(h.Filed, p)
		}
	}
	if h.takes = h.has; len(d.Items) == 1 { // no other object could be meant
		h.takes = slices.DeleteFunc(slices.Clone(d.Fields), func(p merge.Path) bool {
			return d.Files && !contains(h.has, p) && contains(h.Filed, p)
		})
	}
	return nil
}

// remove removes fields from a configuration or a file's object. A field that the schema requires
// cannot be released: a file without it could not create the object.
func (d *Disowning) remove(ctx context.Context, s apply.Subject, value any, fields []merge.Path) (any, error) {
	typ, err := d.Planner.TypeOf(ctx, s, value)
	if err != nil {
		return nil, err
	}
	for _, p := range fields {
		p = lastapplied.StatedAt(value, p)
		if near := schema.Nearest(typ, p, value); near != nil {
			if _, there := merge.Lookup(value, near, typ); there {
				return nil, fmt.Errorf("%s: not in last-applied, so it is not yours to give up: did you mean %s?", p, near)
			}
		}
		now, err := lastapplied.Remove(value, p, typ)
		if err != nil {
			return nil, err
		}
		gone := p[:min(merge.NewFinder(now, typ).Reach(p)+1, len(p))]
		needed, err := d.Planner.Required(ctx, s, gone)
		if err != nil {
			return nil, err
		}
		if needed {
			return nil, fmt.Errorf("%s: is required by the schema of %s, so that a file without it could not make the object: it cannot be given up", gone, s.Kind())
		}
		value = now
	}
	return value, nil
}

func contains(paths []merge.Path, p merge.Path) bool {
	return slices.ContainsFunc(paths, func(q merge.Path) bool { return q.String() == p.String() })
}

// nowhere returns the error of fields that no object has, if there are several objects.
func (d *Disowning) nowhere() error {
	var errs []error
	all := d.All()
	for _, p := range d.Fields {
		found := slices.ContainsFunc(all, func(h *Disowned) bool {
			return contains(h.has, p) || d.Files && contains(h.Filed, p)
		})
		if !found && len(all) != 1 {
			errs = append(errs, fmt.Errorf("%s: is in the last-applied configuration of none of %d objects, so it is not owned by the applier: see kubectl merge view-last-applied", p, len(all)))
		}
	}
	return errors.Join(errs...)
}

// Edits computes the new text of every file that states one of the fields; given lists the files
// and folders that were named. Files that state none of them are not returned. The error joins those
// of all files that cannot be edited.
func (d *Disowning) Edits(ctx context.Context, given []string) ([]*filemerge.Edited, error) {
	filed := d.filed("")
	objects := object.Each(filed, func(h *Disowned) object.Object { return h.Object })
	return filemerge.Edits{Given: given, Verb: "disown", Edit: func(i int, s filemerge.Stated) (any, *merge.Type, error) {
		return d.edit(ctx, s, filed[i])
	}}.Of(objects)
}

// filed returns the changes of objects whose file, "" for any, states one of the fields.
func (d *Disowning) filed(file string) []*Disowned {
	return slices.DeleteFunc(d.All(), func(h *Disowned) bool {
		return len(h.Filed) == 0 || file != "" && h.Object.Origin.File != file
	})
}

// Taken returns the fields that are removed from a file, with their objects.
func (d *Disowning) Taken(f *filemerge.Edited) (all []string) {
	for _, h := range d.filed(f.Name) {
		for _, p := range h.Filed {
			all = append(all, fmt.Sprintf("%s of %s", p, h.Target))
		}
	}
	return all
}

// edit returns an object of a file without the fields.
func (d *Disowning) edit(ctx context.Context, s filemerge.Stated, h *Disowned) (want any, typ *merge.Type, err error) {
	if want, err = d.remove(ctx, h.Planned.Subject, s.Value, h.Filed); err != nil {
		return nil, nil, err
	}
	typ, err = d.Planner.TypeOf(ctx, h.Planned.Subject, s.Value)
	return want, typ, err
}

// ErrOthersFailed reports a file that is kept because its object could not be written. Without a
// field that the applier still owns, the next merge would remove it from live. That merge
// claims the fields of its other objects, which were written, again.
var ErrOthersFailed = errors.New("was not written, because of the other errors: fix them, and disown again")

// Replace replaces the old text of a file by the new one. It is an error, with the remedy, if the file was
// changed since, or it cannot be written; see Writable.
func (d *Disowning) Replace(f *filemerge.Edited) error {
	if err := filemerge.ReplaceAll([]*filemerge.Edited{f}); err != nil {
		return fmt.Errorf("%s: the fields are no longer in last-applied, but still in the file: take them out there, or the next merge takes them back: %w", f.Name, err)
	}
	return nil
}

// Writable returns ErrOthersFailed if the file must not be changed.
func (d *Disowning) Writable(f *filemerge.Edited) error {
	if slices.ContainsFunc(d.filed(f.Name), func(h *Disowned) bool { return h.Err != nil }) {
		return fmt.Errorf("%s: %w", f.Name, ErrOthersFailed)
	}
	return nil
}
