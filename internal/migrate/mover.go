package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/patch"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Mover migrates objects on a server.
type Mover struct {
	API     write.API
	Live    live.Reader
	Planner Planner
	Limit   int // objects migrated concurrently; 0: a default
}

// Item is one object that is migrated.
type Item struct {
	cluster.Target
	Move   Move
	Result write.Result // of Write
	Err    error        // names the object

	local object.Object
}

// Plan reads the objects and plans their migrations; nothing is written. The errors of single
// objects are in the items.
func (m *Mover) Plan(ctx context.Context, local []object.Object) ([]*Item, error) {
	located, err := m.Live.Resolve(ctx, local)
	if err != nil {
		return nil, err
	}
	items := object.Each(located, func(l live.Located) *Item { return &Item{Target: l.Target, local: l.Object} })
	m.each(ctx, items, func(i *Item) {
		obj, err := m.read(ctx, i)
		if i.Err = err; err == nil {
			i.Move, i.Err = m.Planner.Plan(ctx, m.subject(ctx, i), obj)
		}
	}, nil)
	return items, nil
}

// read reads an object in the version in which it was applied last, if the server still has it.
func (m *Mover) read(ctx context.Context, i *Item) (map[string]any, error) {
	obj, err := m.Live.Get(ctx, i.Target)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", i.Target, err)
	}
	was := object.Object{Value: apply.Annotated(obj)}
	applied := len(ownership.ClientSide(obj)) == 0 && ownership.Applied(obj, m.Planner.Manager) != nil // by the applier, later
	if was.Value == nil || was.APIVersion() == apiVersion(obj) || was.Group() != i.Group || applied {
		return obj, nil
	}
	t := i.Target
	t.Version = was.Version()
	if in, err := m.API.Get(ctx, t); err == nil { // otherwise its managers' fields count as applied
		i.Target, obj = t, in
	}
	return obj, nil
}

func (m *Mover) subject(ctx context.Context, i *Item) Subject {
	subject := apply.Subject{Object: i.local, Name: i.Target.String(), HasStatus: i.Status}
	return Subject{Subject: subject, In: func(version string) (map[string]any, error) { // discovery may be outdated, the object is not
		of := object.Object{Value: map[string]any{"apiVersion": version}}
		t := i.Target
		t.Group, t.Version = of.Group(), of.Version()
		return m.Live.Get(ctx, t)
	}}
}

// Try has the server try every migration, and the applier's apply afterwards. It returns the errors
// of those that it refuses, or whose values it would change.
func (m *Mover) Try(ctx context.Context, items []*Item) error {
	m.each(ctx, items, func(i *Item) {
		if i.Err == nil && i.Move.Action != apply.Nothing {
			i.Err = m.try(ctx, i)
		}
	}, nil)
	return Failed(items)
}

func (m *Mover) try(ctx context.Context, i *Item) error {
	if _, err := m.write(ctx, i, true); err != nil || i.Move.Late {
		return err
	}
	return m.apply(ctx, i)
}

// apply has the server try the applier's apply after the migration.
func (m *Mover) apply(ctx context.Context, i *Item) error {
	if i.Move.Trial == nil {
		return nil
	}
	obj, err := m.API.Apply(ctx, i.Target, i.Move.Trial, cluster.Write{FieldManager: m.Planner.Manager, DryRun: true})
	switch {
	case cluster.IsRefusal(err):
		return fmt.Errorf("%s: applying what the migration moves was refused: %w", i.Target, err)
	case err != nil:
		return fmt.Errorf("%s: whether the server accepts an apply of what the migration moves is not known, it gave no answer to a trial: %w", i.Target, err)
	}
	if at, changed := i.Move.changed(obj); changed {
		return fmt.Errorf("%s: %s: applying what the migration moves would change it, though it has live's value: look for an admission webhook", i.Target, at)
	}
	return nil
}

// changed returns the place of the first value in which obj differs from live; false if none does.
func (m Move) changed(obj map[string]any) (at merge.Path, differs bool) {
	a, b := m.Configuration(m.Live), m.Configuration(obj)
	if _, differs = patch.Merge(a, b); differs {
		if changes := merge.Diff(a, b, m.Type); len(changes) > 0 {
			at = changes[0].Path
		}
	}
	return at, differs
}

// Write writes every migration, and calls done for each object, in order, with its Result.
func (m *Mover) Write(ctx context.Context, items []*Item, done func(*Item)) {
	long := parallel.Outlasting(ctx)
	m.each(ctx, items, func(i *Item) {
		if i.Result = write.Foreseen(i.Move.Planned); i.Err == nil && i.Move.Action != apply.Nothing {
			i.Result, i.Err = m.write(long, i, false)
			if i.Err == nil && i.Move.Late {
				i.Err = m.apply(long, i)
			}
		}
	}, done)
}

// write writes one migration. If another writer was faster, it is planned again, and a plan that
// the server has not tried is tried first.
func (m *Mover) write(ctx context.Context, i *Item, dry bool) (write.Result, error) {
	manager := m.Planner.Manager
	if m.Planner.To == ToClientSide {
		manager = apply.DefaultManager
	}
	server := write.Server{API: m.API, Write: cluster.Write{FieldManager: manager, DryRun: dry}}
	out, err := server.Apply(ctx, write.Task{Target: i.Target, Planned: i.Move.Planned, Replan: func(ctx context.Context, obj map[string]any) (apply.Planned, error) {
		again, err := m.Planner.Plan(ctx, m.subject(ctx, i), obj)
		if err != nil {
			return apply.Planned{}, err
		}
		if again.Action == apply.Nothing { // maybe by what was sent: what is known of that is still reported, and tried
			again.Rows, again.Trial, again.Late = i.Move.Rows, i.Move.Trial, i.Move.Late
		}
		i.Move = again
		if !dry && again.Action != apply.Nothing {
			return again.Planned, m.try(ctx, i)
		}
		return again.Planned, nil
	}})
	if lacks := m.lacks(i.Move.Final, out.Object); err == nil && lacks != "" {
		done := map[bool]string{true: "nothing was written", false: "it was written: mend that, and merge the file once with --server-side --force-conflicts"}[dry]
		err = fmt.Errorf("%s: the server does not keep the ownership that is moved: its answer has no %s: %s", i.Target, lacks, done)
	}
	return out, err
}

// lacks returns what the server's answer to a migration has not kept, without an error, and what to do; "" for nothing.
func (m *Mover) lacks(want, obj map[string]any) string {
	const policy = ": look for an admission webhook or policy that takes it away"
	entries := merge.MapsAt(want, "metadata", "managedFields")
	switch {
	case len(entries) > 0 && !ownership.Recorded(obj):
		by := object.Each(entries, func(e map[string]any) string { return fmt.Sprintf("%v by %v", e["apiVersion"], e["manager"]) })
		return "managedFields: it drops all of them if it cannot convert the object to a version that they name (" + apply.Few(by) + "): give the kind's versions the same fields, or serve the old one no more"
	case m.Planner.To == ToServerSide && ownership.Applied(want, m.Planner.Manager) != nil && ownership.Applied(obj, m.Planner.Manager) == nil:
		return "entry of " + m.Planner.Manager + " in managedFields" + policy
	case m.Planner.To == ToClientSide && lastapplied.Read(obj).Text != lastapplied.Read(want).Text:
		return "last-applied annotation as it was sent" + policy
	}
	return ""
}

func (m *Mover) each(ctx context.Context, items []*Item, do, done func(*Item)) {
	steps := parallel.Steps{N: len(items), Limit: m.Limit}
	if done != nil {
		steps.Done = func(n int) { done(items[n]) }
	}
	for _, i := range items[parallel.Each(ctx, steps, func(n int) { do(items[n]) }):] {
		i.Err = fmt.Errorf("%s: was not migrated: %w", i.Target, context.Cause(ctx))
	}
}

// Failed joins the errors of items; nil if there are none.
func Failed(items []*Item) error {
	return errors.Join(object.Each(items, func(i *Item) error { return i.Err })...)
}

// What states what happens to the ownership of a field.
type What string

// The values of What.
const (
	Moves     What = "moves"     // the applier owns it from now on
	Unstated  What = "unstated"  // a migrated manager held it, and no manager has applied it: it stays in live with its other owners
	Elsewhere What = "elsewhere" // applied last, and changed by others since: they keep it
	Conflict  What = "conflict"  // the file states another value than live, which others own: applying the file will be a conflict
	Removed   What = "removed"   // the file does not state it: applying the file will remove it
	Shared    What = "shared"    // others own it, too, which client-side apply ignores
)

// Row describes one field.
type Row struct {
	Path merge.Path
	What What
	By   []string // its holders before the migration, or the owners of live's value in a conflict; by name
}

// Formats lists the formats of a report, the default first.
var Formats = []string{"table", "json"}

// Table returns what happens to each field, a line each, below the names of the columns; nil if
// nothing happens.
func Table(items []*Item) (rows [][]string) {
	for _, i := range items {
		for _, r := range i.Move.Rows {
			if rows == nil {
				rows = [][]string{{"NAMESPACE", "OBJECT", "WHAT", "FIELD", "BY"}}
			}
			rows = append(rows, []string{cmp.Or(i.Namespace, "-"), i.String(), string(r.What), cmp.Or(r.Path.String(), "-"), cmp.Or(strings.Join(r.By, ", "), "-")})
		}
	}
	return rows
}

// Report returns the same for programs, as JSON.
func Report(p Planner, items []*Item) map[string]any {
	rows := []any{}
	for _, i := range items {
		for _, r := range i.Move.Rows {
			row := map[string]any{"object": i.String(), "kind": i.Kind, "name": i.Name, "what": r.What, "path": r.Path.String()}
			if i.Namespace != "" {
				row["namespace"] = i.Namespace
			}
			if len(r.By) > 0 {
				row["by"] = r.By
			}
			rows = append(rows, row)
		}
	}
	return map[string]any{"kind": "MigrationReport", "to": p.To, "manager": p.Manager, "rows": rows}
}
