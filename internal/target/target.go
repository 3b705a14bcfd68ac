// Package target finds the objects whose last-applied configuration a verb shows or changes, reads them
// and writes that annotation: the logic of view-last-applied, set-last-applied,
// edit-last-applied and disown. It refuses to know flags, to ask and to print.
package target

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/annotate"
	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Target is one object whose last-applied configuration is shown or changed.
type Target struct {
	cluster.Target
	Local  *object.Object // from a file; nil if it was named on the command line
	Live   map[string]any // nil until it is read, and if there is none
	Chosen bool           // by its type or labels, not by its name
}

// subject returns the object for the planner: local or, if there is none, live.
func (t Target) subject() apply.Subject {
	s := apply.Subject{Object: object.Object{Value: t.Live}, Name: t.String(), HasStatus: t.Status}
	if t.Local != nil {
		s.Object = *t.Local
	}
	return s
}

// API is the required part of the API server.
type API interface {
	write.API
	Find(ctx context.Context, group, version, kind string) (cluster.Resource, error)
}

// Access reads targets, and writes them.
type Access struct {
	API     API
	Live    live.Reader // only Resolve is used: a missing target is an error of API.Get
	Planner annotate.Planner
}

// Filed returns the targets of local objects. The error joins those of all that have none.
func (a *Access) Filed(ctx context.Context, local []object.Object) ([]Target, error) {
	located, err := a.Live.Resolve(ctx, local)
	if err != nil {
		return nil, err
	}
	return object.Each(located, func(l live.Located) Target { return Target{Target: l.Target, Local: &l.Object} }), nil
}

// Found returns the targets that a query has found: with Live if it listed them, and chosen.
func Found(found []cluster.Found) []Target {
	return object.Each(found, func(f cluster.Found) Target { return Target{Target: f.Target, Live: f.Live, Chosen: f.Live != nil} })
}

// Read sets Live of every target that does not have it. errs has the error of each that
// cannot be read, by index.
func (a *Access) Read(ctx context.Context, targets []Target) (errs []error) {
	errs = make([]error, len(targets))
	begun := parallel.Each(ctx, parallel.Steps{N: len(targets)}, func(i int) {
		if t := &targets[i]; t.Live == nil {
			t.Live, errs[i] = a.API.Get(ctx, t.Target)
			if errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", t.Target, errs[i])
			}
		}
	})
	for i := begun; i < len(targets); i++ {
		errs[i] = fmt.Errorf("%s: %w", targets[i].Target, context.Cause(ctx))
	}
	return errs
}

// Sensitive returns the fields of a target and of its configuration that are secret.
func (a *Access) Sensitive(t Target, conf any) redact.Fields {
	return a.Planner.Sensitive(t.subject(), merge.Triple{Original: conf, Local: t.subject().Value, Live: t.Live})
}

// Plan plans a change of the annotation. The error names the object.
func (a *Access) Plan(ctx context.Context, t Target, rewrite annotate.Rewrite) (annotate.Annotated, error) {
	return a.Planner.Annotate(ctx, t.subject(), t.Live, rewrite)
}

// Write writes a plan, or has the server try it. If another writer was faster, it is planned again,
// and the result has the last plan. If a write whose answer was lost turns out to be executed,
// there is nothing left to plan. The error is that of the write; see write.Server.Apply.
func (a *Access) Write(ctx context.Context, t Target, c annotate.Annotated, dry bool) (write.Result, error) {
	server := write.Server{API: a.API, Write: cluster.Write{FieldManager: a.Planner.Manager, DryRun: dry}}
	return server.Apply(ctx, write.Task{Target: t.Target, Planned: c.Planned, Replan: func(ctx context.Context, live map[string]any) (apply.Planned, error) {
		if live != nil && lastapplied.Read(live).Text == lastapplied.Read(c.Final).Text {
			return apply.Planned{Subject: c.Subject, Live: live, Final: live}, nil
		}
		t.Live = live
		s := t.subject()
		if t.Local == nil && live == nil {
			s.Object = c.Object
		}
		again, err := a.Planner.Annotate(ctx, s, live, c.Rewrite)
		return again.Planned, err
	}})
}

// Set returns a Rewrite that puts the target's Local, which must exist, in the annotation. Without
// create, an object without an annotation is an error. warn is called with a lenient planner's
// report of fields that the kind does not have, and of values of a wrong type.
//
// Unlike kubectl: an unknown field, or a value of another type, is an error. The next merge would look for it in
// live in vain, and the one that was meant would not be owned by the applier.
func (a *Access) Set(t Target, create bool, warn func(string)) annotate.Rewrite {
	return func(ctx context.Context, was lastapplied.Original) (lastapplied.Original, error) {
		if was.State == lastapplied.None && !create {
			return was, fmt.Errorf("no last-applied-configuration annotation found on resource: %s, to create the annotation, run the command with --create-annotation", t.Name)
		}
		conf, err := apply.Given(t.Local.Value, t.Live)
		if err != nil {
			return conf, err
		}
		warning, err := a.Planner.Check(ctx, t.subject(), conf, nil)
		if warning != "" {
			warn(warning)
		}
		return conf, err
	}
}

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
