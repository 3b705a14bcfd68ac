package migrate

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Run is a run that migrates objects on a server.
type Run struct {
	*run.Plan
	Planner Planner
	Moves   map[*run.Item]*Move // of the items

	api write.API
}

// New returns a run without objects.
func New(api run.API, reader live.Reader, p Planner) *Run {
	m := &Run{Planner: p, Moves: map[*run.Item]*Move{}, api: api}
	manager := p.Manager
	if p.To == ToClientSide {
		manager = apply.DefaultManager
	}
	m.Plan = &run.Plan{Job: &run.Job{
		Live: reader, API: api, Planner: p.merger("apply"), Plans: m.planned, Apart: true, Write: cluster.Write{FieldManager: manager},
		Check: func(ctx context.Context, item *run.Item, out write.Result) error {
			return m.check(ctx, item, out, m.Write.DryRun)
		},
	}}
	return m
}

// Read reads the objects and plans their migrations; nothing is written. The error joins those of all.
func (m *Run) Read(ctx context.Context, local []object.Object) error {
	if err := m.Add(ctx, local); err != nil {
		return err
	}
	for _, item := range m.Items {
		m.Moves[item] = &Move{}
	}
	m.Merge(ctx)
	return m.Errs()
}

// planned is the run's Plans. A plan that is made again for a write is tried first.
func (m *Run) planned(ctx context.Context, item *run.Item, obj map[string]any) (apply.Planned, error) {
	if item.Planned.Final == nil {
		first, err := m.Planner.Plan(ctx, m.subject(ctx, item), m.former(ctx, item, obj))
		*m.Moves[item] = first
		return first.Planned, err
	}
	again, err := m.again(ctx, item, obj)
	if err == nil && !m.Write.DryRun && again.Action != apply.Nothing {
		err = m.try(ctx, item)
	}
	return again, err
}

// again plans the migration of an item anew.
func (m *Run) again(ctx context.Context, item *run.Item, obj map[string]any) (apply.Planned, error) {
	again, err := m.Planner.Plan(ctx, m.subject(ctx, item), obj)
	if err != nil {
		return apply.Planned{}, err
	}
	move := m.Moves[item]
	if again.Action == apply.Nothing { // maybe by what was sent: what is known of that is still reported, and tried
		again.Rows, again.Trial, again.Late = move.Rows, move.Trial, move.Late
	}
	*move, item.Planned = again, again.Planned
	return again.Planned, nil
}

// former returns an object in the version in which it was applied last, if the server still has it.
func (m *Run) former(ctx context.Context, item *run.Item, obj map[string]any) map[string]any {
	was := object.Object{Value: apply.Annotated(obj)}
	applied := len(ownership.ClientSide(obj)) == 0 && ownership.Applied(obj, m.Planner.Manager) != nil // by the applier, later
	if was.Value == nil || was.APIVersion() == apiVersion(obj) || was.Group() != item.Target.Group || applied {
		return obj
	}
	t := item.Target
	t.Version = was.Version()
	if in, err := m.api.Get(ctx, t); err == nil { // otherwise its managers' fields count as applied
		item.Target, obj = t, in
	}
	return obj
}

func (m *Run) subject(ctx context.Context, item *run.Item) Subject {
	subject := apply.Subject{Object: item.Object, Name: item.Target.String(), HasStatus: item.Target.Status}
	return Subject{Subject: subject, In: func(version string) (map[string]any, error) { // discovery may be outdated, the object is not
		of := object.Object{Value: map[string]any{"apiVersion": version}}
		t := item.Target
		t.Group, t.Version = of.Group(), of.Version()
		return m.Live.Get(ctx, t)
	}}
}

// Try has the server try every migration, and the applier's apply afterwards. It returns the errors
// of those that it refuses, or whose values it would change.
func (m *Run) Try(ctx context.Context) error {
	m.Write.DryRun = true
	m.Preview(ctx, func(*run.Item) {})
	m.Write.DryRun = false
	return m.Errs()
}

// try has the server try the current plan of an item.
func (m *Run) try(ctx context.Context, item *run.Item) error {
	server := write.Server{API: m.api, Write: m.Write}
	server.Write.DryRun = true
	out, err := server.Apply(ctx, write.Task{Target: item.Target, Planned: item.Planned, Replan: func(ctx context.Context, obj map[string]any) (apply.Planned, error) {
		return m.again(ctx, item, obj)
	}})
	if err != nil {
		return err
	}
	return m.check(ctx, item, out, true)
}

// check judges the server's answer to a migration, and has it try the applier's apply after it.
func (m *Run) check(ctx context.Context, item *run.Item, out write.Result, dry bool) error {
	move := m.Moves[item]
	if lacks := m.lacks(move.Final, out.Object); lacks != "" {
		done := map[bool]string{true: "nothing was written", false: "it was written: mend that, and merge the file once with --server-side --force-conflicts"}[dry]
		return fmt.Errorf("%s: the server does not keep the ownership that is moved: its answer has no %s: %s", item.Target, lacks, done)
	}
	if move.Trial == nil || dry == move.Late {
		return nil
	}
	obj, err := m.api.Send(ctx, item.Target, cluster.Apply, move.Trial, cluster.Write{FieldManager: m.Planner.Manager, DryRun: true})
	switch {
	case cluster.IsRefusal(err):
		return fmt.Errorf("%s: applying what the migration moves was refused: %w", item.Target, err)
	case err != nil:
		return fmt.Errorf("%s: whether the server accepts an apply of what the migration moves is not known, it gave no answer to a trial: %w", item.Target, err)
	}
	if at, changed := move.changed(obj); changed {
		return fmt.Errorf("%s: %s: applying what the migration moves would change it, though it has live's value: look for an admission webhook", item.Target, at)
	}
	return nil
}

// changed returns the place of the first value in which obj differs from live; false if none does.
func (m Move) changed(obj map[string]any) (at merge.Path, differs bool) {
	a, b := m.Configuration(m.Live), m.Configuration(obj)
	if differs = !merge.Identical(a, b); differs {
		if changes := merge.Diff(a, b, m.Type); len(changes) > 0 {
			at = changes[0].Path
		}
	}
	return at, differs
}

// lacks returns what the server's answer to a migration has not kept, without an error, and what to do; "" for nothing.
func (m *Run) lacks(want, obj map[string]any) string {
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
func (m *Run) Table() (rows [][]string) {
	for _, i := range m.Items {
		for _, r := range m.Moves[i].Rows {
			if rows == nil {
				rows = [][]string{{"NAMESPACE", "OBJECT", "WHAT", "FIELD", "BY"}}
			}
			rows = append(rows, []string{cmp.Or(i.Target.Namespace, "-"), i.Target.String(), string(r.What), cmp.Or(r.Path.String(), "-"), cmp.Or(strings.Join(r.By, ", "), "-")})
		}
	}
	return rows
}

// Report returns the same for programs, as JSON.
func (m *Run) Report() map[string]any {
	rows := []any{}
	for _, i := range m.Items {
		t := i.Target
		for _, r := range m.Moves[i].Rows {
			rows = append(rows, diff.Fields(map[string]any{
				"object": t.String(), "kind": t.Kind, "name": t.Name, "namespace": t.Namespace, "what": r.What, "path": merge.Some(r.Path.String()), "by": r.By,
			}, nil))
		}
	}
	return map[string]any{"kind": "MigrationReport", "to": m.Planner.To, "manager": m.Planner.Manager, "rows": rows}
}
