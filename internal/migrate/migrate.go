// Package migrate moves the ownership of objects' fields from client-side to server-side apply and
// back, without changing a value. It plans the moves from what was applied last, has the server try
// them, and writes them. It refuses to know flags, to ask and to print.
package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Direction states where ownership is moved to.
type Direction string

// The directions.
const (
	ToServerSide Direction = "server-side"
	ToClientSide Direction = "client-side"
)

// Planner plans migrations.
type Planner struct {
	Schemas apply.Schemas // may be nil
	To      Direction
	Manager string   // the applier on the server's side
	From    []string // managers whose fields are moved, besides those of client-side apply
	Named   bool     // there are no files: of the objects nothing is known but what identifies them
}

// Subject is an object that is to be migrated.
type Subject struct {
	apply.Subject // as a file has it

	// In reads the object in another version of its group; nil if the server has the kind in it no more.
	In func(apiVersion string) (map[string]any, error)
}

// Move is the planned migration of one object. Final differs from Live only in managedFields, and
// in the last-applied annotation.
type Move struct {
	apply.Planned
	Rows []Row

	// Trial is the applier's apply after the migration, with live's values: the server must find
	// neither a conflict in it nor a change. nil: nothing is applied.
	Trial map[string]any

	// Late states that it can be tried only afterwards, since the server refuses every apply as
	// long as managedFields name a version that it does not have.
	Late bool
}

// Plan plans the migration of one object. The error names the object.
func (p Planner) Plan(ctx context.Context, s Subject, live map[string]any) (Move, error) {
	m, err := p.plan(ctx, s, live)
	if err != nil {
		return m, fmt.Errorf("%s: %w", s.Name, err)
	}
	return m, nil
}

func (p Planner) plan(ctx context.Context, s Subject, live map[string]any) (Move, error) {
	m := Move{Planned: apply.Planned{Subject: s.Subject, Live: live, Final: live}}
	if live == nil {
		return m, apply.Absent(s.Subject)
	}
	if err := apply.Deleting(live); err != nil {
		return m, err
	}
	var err error
	if m.Type, err = p.merger("apply").TypeOf(ctx, s.Subject, live); err != nil {
		return m, err
	}
	c := change{Planner: p, Subject: s, Move: &m, rewrite: ownership.RewriteOf(live, p.Manager)}
	if p.To == ToClientSide {
		err = c.toClientSide()
	} else {
		err = c.toServerSide(ctx)
	}
	if err != nil {
		return m, err
	}
	c.sort()
	if !merge.Identical(m.Live, m.Final) {
		m.Action = apply.Change
	}
	return m, nil
}

// merger returns a planner that merges as kubectl merge --server-side does, by a policy.
func (p Planner) merger(policy string) *apply.Planner {
	by, _ := merge.PolicyNamed(policy)
	return &apply.Planner{Policy: by, Manager: p.Manager, Validate: apply.Ignore, Schemas: p.Schemas, Writing: apply.ServerSide{}}
}

// change is one migration that is being planned.
type change struct {
	Planner
	Subject
	*Move
	rewrite *ownership.Rewrite
}

func apiVersion(obj map[string]any) string { return object.Object{Value: obj}.APIVersion() }

// unnamed returns an error without the object's name, which is put before it once.
func unnamed(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
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

// serverRows reports a migration to server-side apply, and the effects of applying the file then.
func (c *change) serverRows(ctx context.Context, m moving) error {
	after := ownership.Applied(c.Final, c.Manager)
	for _, of := range []struct {
		what        What
		fields, but map[string]any
	}{
		{Moves, after, m.before},
		{Unstated, ownership.Fields(merge.At[map[string]any](ownership.Original(c.Live, ownership.Named(m.from...), c.Type)), c.Type), after},
		{Elsewhere, m.intent, after},
	} {
		left, err := ownership.Minus(of.fields, of.but)
		if err != nil {
			return err
		}
		c.add(of.what, ownership.Leaves(left))
	}
	return c.fileRows(ctx)
}

// fileRows reports the result of a server-side apply of the file after the migration.
func (c *change) fileRows(ctx context.Context) error {
	if c.Named {
		return nil
	}
	final, err := c.finalInFile()
	if err != nil {
		return err
	}
	plan, err := c.merger("strict").Plan(ctx, c.Subject.Subject, final)
	if err != nil {
		return unnamed(err)
	}
	for _, d := range plan.Conflicts {
		c.Rows = append(c.Rows, Row{Path: d.Path, What: Conflict, By: c.others(final, d.Path)})
	}
	for _, r := range plan.Removed {
		c.Rows = append(c.Rows, Row{Path: r.Path, What: Removed})
	}
	return nil
}

// finalInFile returns Final in the file's version: a merge of the file reads the object in that.
func (c *change) finalInFile() (map[string]any, error) {
	if c.APIVersion() == apiVersion(c.Final) {
		return c.Final, nil
	}
	obj, err := c.In(c.APIVersion())
	if obj == nil {
		return nil, err
	}
	if lastapplied.Read(c.Final).State == lastapplied.None {
		obj = merge.At[map[string]any](lastapplied.Without(obj))
	}
	return ownership.WithEntries(obj, merge.At[[]any](c.Final, "metadata", "managedFields")), nil
}

// clientRows reports a migration to client-side apply. before holds the applier's fields before it,
// conf the last-applied configuration after it.
func (c *change) clientRows(before map[string]any, conf any) {
	for _, p := range ownership.Leaves(before) {
		row := Row{Path: p, What: Moves, By: []string{c.Manager}}
		if others := c.others(c.Live, p); len(others) > 0 {
			row.What, row.By = Shared, others
		}
		c.Rows = append(c.Rows, row)
	}
	for _, d := range merge.Diff(c.plain(conf), c.plain(c.Subject.Value), c.Type) {
		if d.Op == merge.OpRemove && !c.Named {
			c.Rows = append(c.Rows, Row{Path: d.Path, What: Removed})
		}
	}
}

// sort puts the rows in path order, one for each field and What. A conflict with the file is not
// reported as left to others as well.
func (c *change) sort() {
	conflicts := map[string]bool{}
	for _, r := range c.Rows {
		conflicts[r.Path.String()] = conflicts[r.Path.String()] || r.What == Conflict
	}
	c.Rows = slices.DeleteFunc(c.Rows, func(r Row) bool { return r.What == Elsewhere && conflicts[r.Path.String()] })
	merge.SortByPath(c.Rows, func(r Row) merge.Path { return r.Path })
}

func (c *change) add(what What, paths []merge.Path) {
	for _, p := range paths {
		row := Row{Path: p, What: what}
		for _, o := range ownership.At(ownership.Of(c.Live), p) {
			if name := diff.OwnerName(&o); !slices.Contains(row.By, name) {
				row.By = append(row.By, name)
			}
		}
		c.Rows = append(c.Rows, row)
	}
}

// others returns the managers besides the applier that own a value of obj.
func (c *change) others(obj map[string]any, p merge.Path) (names []string) {
	for _, o := range ownership.At(ownership.Of(obj), p) {
		ours := o.Operation == "Apply" && (o.Manager == c.Manager || o.Manager == ownership.AnnotationManager) || c.To == ToClientSide && o.Manager == apply.DefaultManager
		if name := diff.OwnerName(&o); !ours && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
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
