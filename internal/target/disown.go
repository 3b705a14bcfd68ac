package target

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/annotate"
	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Disowning removes fields from what was applied last, so that live keeps them.
type Disowning struct {
	*Access
	Fields []merge.Path
	Files  bool // the fields are removed from the targets' files, too
}

// Plan plans the change of every target, and writes nothing. The error joins all problems.
func (d *Disowning) Plan(ctx context.Context, targets []Target) ([]*Disowned, error) {
	var all []*Disowned
	var errs []error
	for _, t := range targets {
		one, err := d.plan(ctx, t, len(targets) == 1)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, one)
	}
	if len(errs) == 0 {
		errs = append(errs, d.nowhere(all))
	}
	return all, errors.Join(errs...)
}

// Disowned is the planned change of one target.
type Disowned struct {
	Target
	Change   *annotate.Annotated // nil if it was applied without the fields
	Filed    []merge.Path        // the fields that its file states
	Meanings []annotate.Meaning  // of Change, for the next merge
	Failed   bool                // set by the caller: Change could not be written

	has []merge.Path // those of the fields that it was applied with
}

// plan plans the change of one object. only states that no other object could be meant.
func (d *Disowning) plan(ctx context.Context, t Target, only bool) (*Disowned, error) {
	h := &Disowned{Target: t}
	was := lastapplied.Read(t.Live)
	if t.Chosen && was.State == lastapplied.None {
		return h, nil
	}
	serverSide := ownership.RewriteOf(t.Live, apply.ServerManager)
	if i := slices.IndexFunc(d.Fields, serverSide.Alone); i >= 0 { // the annotation does not decide about it
		return nil, fmt.Errorf("%s: %s: was applied from the server's side, and nobody else owns it, so that the next such apply without it removes it from live: let another manager own it first, or migrate: kubectl merge migrate %s%s --to=client-side", t, d.Fields[i], t, object.In(t.Namespace))
	}
	if err := annotate.Usable(was, t.Live); err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	if err := d.look(ctx, h, was.Value); err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	wanted := h.has
	if only { // missing fields are reported by look
		wanted = slices.DeleteFunc(slices.Clone(d.Fields), func(p merge.Path) bool {
			return d.Files && !contains(h.has, p) && contains(h.Filed, p)
		})
	}
	if len(wanted) == 0 {
		return h, nil
	}
	change, err := d.Access.Plan(ctx, t, func(ctx context.Context, was lastapplied.Original) (lastapplied.Original, error) {
		err := annotate.Usable(was, t.Live)
		if err == nil {
			was.Value, err = d.remove(ctx, t.subject(), was.Value, wanted)
		}
		return was, err
	})
	if err != nil {
		return nil, err
	}
	h.Change = &change
	local := t.Local
	if local != nil && d.Files {
		value, err := d.remove(ctx, h.subject(), local.Value, h.Filed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t, err)
		}
		edited := *local
		edited.Value, _ = value.(map[string]any)
		local = &edited
	}
	h.Meanings, err = d.Planner.Meanings(ctx, change, local)
	return h, err
}

// look determines where the fields are.
func (d *Disowning) look(ctx context.Context, h *Disowned, conf any) error {
	typ, err := d.Planner.TypeOf(ctx, h.subject(), conf)
	if err != nil {
		return err
	}
	for _, p := range d.Fields {
		if _, ok := merge.Lookup(conf, lastapplied.StatedAt(conf, p), typ); ok {
			h.has = append(h.has, p)
		}
		if h.Local == nil {
			continue
		}
		if _, ok := merge.Lookup(h.Local.Value, lastapplied.StatedAt(h.Local.Value, p), typ); ok {
			h.Filed = append(h.Filed, p)
		}
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
func (d *Disowning) nowhere(all []*Disowned) error {
	var errs []error
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
