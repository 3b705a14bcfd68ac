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

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
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
	if err := apply.Gone(s.Subject, live); err != nil {
		return m, err
	}
	var err error
	if m.Type, err = p.merger("apply").TypeOf(ctx, s.Subject, live); err != nil {
		return m, err
	}
	c := change{Planner: p, Subject: s, Move: &m, rewrite: ownership.RewriteOf(live, p.Manager)}
	move := c.toServerSide
	if p.To == ToClientSide {
		move = c.toClientSide
	}
	if err := move(ctx); err != nil {
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
	return cmp.Or(errors.Unwrap(err), err)
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
		for _, p := range ownership.Leaves(left) {
			c.Rows = append(c.Rows, Row{Path: p, What: of.what, By: owners(c.Live, p, func(*merge.Owner) bool { return false })})
		}
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
	c.Rows = append(c.Rows, object.Each(plan.Conflicts, func(d merge.Disagreement) Row { return Row{Path: d.Path, What: Conflict, By: c.others(final, d.Path)} })...)
	c.Rows = append(c.Rows, object.Each(plan.Removed, func(r merge.Removal) Row { return Row{Path: r.Path, What: Removed} })...)
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
		if _, there := merge.Lookup(c.Live, d.Path, c.Type); d.Op == merge.OpRemove && there && !c.Named {
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

// others returns the managers besides the applier that own a value of obj.
func (c *change) others(obj map[string]any, p merge.Path) []string {
	return owners(obj, p, func(o *merge.Owner) bool {
		return o.Operation == "Apply" && (o.Manager == c.Manager || o.Manager == ownership.AnnotationManager) || c.To == ToClientSide && o.Manager == apply.DefaultManager
	})
}

// owners names the owners of a value of obj, each once, but for some.
func owners(obj map[string]any, p merge.Path, but func(*merge.Owner) bool) (names []string) {
	for _, o := range ownership.At(ownership.Of(obj), p) {
		if name := diff.OwnerName(&o); !but(&o) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// toServerSide makes the applier the owner of the fields applied from the client's side, except
// those that others have changed since.
func (c *change) toServerSide(ctx context.Context) error {
	m := moving{from: c.moved(), before: ownership.Applied(c.Live, c.Manager)}
	c.Late = len(c.rewrite.Convert(c.Live, c.Type, c.served)) > 0
	switch {
	case len(m.from) > 0 || m.before == nil:
		if err := c.adopt(ctx, &m); err != nil {
			return err
		}
	case !c.Late:
		return nil
	}
	final, err := c.annotated()
	if err != nil {
		return err
	}
	c.Final = ownership.WithEntries(final, c.rewrite.Entries())
	c.Trial = c.trial()
	return c.serverRows(ctx, m)
}

// adopt makes the applier the owner of the applied fields.
func (c *change) adopt(ctx context.Context, m *moving) error {
	intent := apply.Annotated(c.Live) // the configuration in the annotation, otherwise the managers' fields
	if intent == nil || apiVersion(intent) != apiVersion(c.Live) {
		intent = merge.At[map[string]any](ownership.Original(c.Live, ownership.Named(m.from...), c.Type))
	}
	if intent == nil {
		return fmt.Errorf("has no known applier%s: name the managers whose fields are to be moved with --from", ownership.Makers(c.Live))
	}
	m.intent = ownership.Present(ownership.Fields(intent, c.Type), c.Live, c.Type)
	fields, err := c.applied(ctx, intent, m.from)
	if err != nil {
		return err
	}
	return c.rewrite.Adopt(fields, m.from)
}

// served reports whether the server still has the kind in a version. It counts as served after another error.
func (c *change) served(apiVersion string) bool {
	obj, err := c.In(apiVersion)
	return obj != nil || err != nil
}

// moving holds the inputs of a migration to server-side apply.
type moving struct {
	from   []string       // managers whose fields are moved
	before map[string]any // the applier's fields before it, as FieldsV1
	intent map[string]any // the last applied configuration
}

// moved returns the managers whose fields are moved.
func (c *change) moved() []string {
	names := ownership.ClientSide(c.Live)
	wanted := append([]string{apply.DefaultManager}, c.From...)
	for _, o := range ownership.At(ownership.Of(c.Live), nil) {
		applier := o.Operation == "Apply" && o.Manager == c.Manager
		if o.Subresource == "" && !applier && slices.Contains(wanted, o.Manager) && !slices.Contains(names, o.Manager) {
			names = append(names, o.Manager)
		}
	}
	return names
}

// applied returns the fields that the applier gets: those of what was applied last that live has,
// or that the server does not store.
// A value that others have changed since is left to them.
func (c *change) applied(ctx context.Context, intent map[string]any, names []string) (map[string]any, error) {
	alone := ownership.RewriteOf(c.Live, c.Manager)
	alone.Disown(append([]string{ownership.AnnotationManager}, names...))
	s := c.Subject.Subject
	s.Value = intent
	plan, err := c.merger("live").Plan(ctx, s, ownership.WithEntries(lastapplied.Without(c.Live).(map[string]any), alone.Entries()))
	if err != nil {
		return nil, unnamed(err)
	}
	return ownership.Stored(plan.Applying.Config, c.Live, c.Type), nil
}

// annotated returns live with the new annotation: the server updates it only for kubectl's own
// manager.
func (c *change) annotated() (map[string]any, error) {
	if lastapplied.Read(c.Live).State == lastapplied.None {
		return c.Live, nil
	}
	if c.Manager == apply.ServerManager && !redact.IsSecret(c.Live) { // the server would copy a Secret's values into its annotation
		return c.Live, c.rewrite.Keep()
	}
	return merge.At[map[string]any](lastapplied.Without(c.Live)), c.rewrite.Drop()
}

// trial returns the applier's fields in Final, with the values there.
func (c *change) trial() map[string]any {
	conf, _ := ownership.Original(c.Final, appliesOf(c.Manager), c.Type).(map[string]any)
	if id := lastapplied.SetOf(c.Final); conf != nil && id != "" && c.rewrite.Alone(lastapplied.PartOfPath) {
		conf, _ = lastapplied.WithSet(conf, id).(map[string]any)
	}
	return conf
}

// appliesOf selects a manager by its server-side applies.
func appliesOf(name string) ownership.Holders {
	return ownership.Holders{Has: func(manager, operation string) bool { return manager == name && operation == "Apply" }}
}

// toClientSide makes what the applier has applied, and what the annotation states besides, the
// last-applied configuration, held by updates of kubectl apply's manager.
func (c *change) toClientSide(context.Context) error {
	if ownership.Applied(c.Live, c.Manager) == nil {
		if len(ownership.ClientSide(c.Live)) > 0 {
			return nil
		}
		if bare, err := ownership.SameFields(ownership.Fields(c.Subject.Value, c.Type), nil, ownership.Nulls(c.Subject.Value, c.Type)); err != nil || !bare || c.Named {
			return fmt.Errorf("%s has applied nothing of it by server-side apply%s: name the manager that has with --field-manager", c.Manager, ownership.Makers(c.Live))
		} // else there is nothing to own, and no manager has an entry for it
	}
	conf, o := c.stated()
	text, err := lastapplied.Encode(conf, o)
	if err != nil {
		return err
	}
	before := ownership.Applied(c.Live, c.Manager)
	if err := c.rewrite.Release(apply.DefaultManager); err != nil {
		return err
	}
	c.rewrite.Convert(c.Live, c.Type, c.served)
	c.Final = ownership.WithEntries(merge.At[map[string]any](lastapplied.With(c.Live, text)), c.rewrite.Entries())
	c.clientRows(before, conf)
	return nil
}

// stated is the configuration that becomes last-applied: what the annotation states, with what the applier has
// applied, or the file, where that means the same in its own spelling.
func (c *change) stated() (conf map[string]any, o lastapplied.Options) {
	o = lastapplied.Options{Namespace: object.Object{Value: c.Live}.Namespace(), Type: c.Type, On: c.Live}
	conf, _ = ownership.Original(c.Live, appliesOf(c.Manager), c.Type).(map[string]any)
	if conf == nil {
		conf = lastapplied.Identity(c.Live)
	}
	if was := apply.Annotated(c.Live); was != nil && apiVersion(was) == apiVersion(c.Live) {
		both := merge.Triple{Local: conf, Live: lastapplied.FoldStringData(was)}
		conf = merge.At[map[string]any](merge.Three(both, c.Type, c.merger("apply").Policy, false).Result)
		o.Blanked = lastapplied.Read(c.Live).Blanking
	}
	if merge.Equal(c.plain(c.Subject.Value), c.plain(conf), c.Type) {
		conf, o.Blanked = c.Subject.Value, lastapplied.BlankNothing
	}
	return conf, o
}

// plain is a configuration without what is no configuration and without nulls, completed with
// the server's defaults: the key of an entry may be one.
func (c *change) plain(v any) any {
	v, _ = lastapplied.Strip(lastapplied.WithoutSet(lastapplied.Without(v)), c.HasStatus)
	conf := merge.At[map[string]any](lastapplied.WithoutEmptyAnnotations(lastapplied.FoldStringData(v)))
	return merge.Complete(lastapplied.WithoutNulls(merge.Without(conf, "metadata", "namespace")), c.Type, true)
}
