// Package migrate moves the ownership of objects' fields from client-side to server-side apply
// and back, without changing a value: it plans what is moved, from what was applied last, has
// the server try it, and writes it. It refuses to know flags, to ask and to print.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/ownership"
)

// Direction is where ownership is moved to.
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
}

// Subject is an object that is to be migrated.
type Subject struct {
	apply.Subject // as a file has it

	// Served reports whether the server still has the kind in another version of its group.
	Served func(apiVersion string) bool
}

// Move is the planned migration of one object. Final differs from Live in managedFields, and in
// the last-applied annotation, and in nothing else.
type Move struct {
	apply.Planned
	Rows []Row

	// Trial is what the applier applies after the migration, with live's values: the server
	// has to find neither a conflict in it nor anything to change. nil: nothing is applied.
	Trial map[string]any

	// Late: it can be tried only afterwards, since the server refuses every apply as long as
	// managedFields name a version that it does not have.
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
		return m, errors.New("NotFound: there is no such object: to make it, kubectl merge -f FILE")
	}
	if err := apply.Deleting(live); err != nil {
		return m, err
	}
	typ, err := p.merger("apply").TypeOf(ctx, s.Subject, live)
	if err != nil {
		return m, err
	}
	m.Type = typ
	c := change{Planner: p, Subject: s, Move: &m, typ: typ, rewrite: ownership.RewriteOf(live, p.Manager)}
	if p.To == ToClientSide {
		err = c.toClientSide(ctx)
	} else {
		err = c.toServerSide(ctx)
	}
	if err != nil {
		return m, err
	}
	if !merge.Identical(m.Live, m.Final) {
		m.Action = apply.Change
	}
	return m, nil
}

// merger merges as kubectl merge --server-side does, by a policy.
func (p Planner) merger(policy string) *apply.Planner {
	by, _ := merge.PolicyNamed(policy)
	return &apply.Planner{Policy: by, Manager: p.Manager, Validate: apply.Ignore, Schemas: p.Schemas, Writing: apply.ServerSide{}}
}

// change is one migration that is being planned.
type change struct {
	Planner
	Subject
	*Move
	typ     *merge.Type
	rewrite *ownership.Rewrite
}

// toServerSide gives the applier what was applied from the client's side, as far as nobody
// else has changed it since.
func (c *change) toServerSide(ctx context.Context) error {
	m := moving{from: c.moved(), before: ownership.Applied(c.Live, c.Manager)}
	c.Late = len(c.rewrite.Convert(c.Live, c.typ, c.Served)) > 0
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

// adopt gives the applier what was applied.
func (c *change) adopt(ctx context.Context, m *moving) error {
	intent := c.intent(m.from)
	if intent == nil {
		return fmt.Errorf("was applied by nobody that is known%s: name the managers whose fields are to be moved with --from", makers(c.Live))
	}
	m.intent = ownership.Present(ownership.Fields(intent, c.typ), c.Live, c.typ)
	fields, err := c.applied(ctx, intent, m.from)
	if err != nil {
		return err
	}
	return c.rewrite.Adopt(fields, m.from)
}

// moving is what a migration to server-side apply starts from.
type moving struct {
	from   []string       // managers whose fields are moved
	before map[string]any // what the applier had applied, as FieldsV1 spells it
	intent map[string]any // what was applied last
}

// moved are the managers whose fields are moved.
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

// intent is what was applied last: the configuration in the annotation, else what the
// managers hold.
func (c *change) intent(names []string) map[string]any {
	if conf := usable(c.Live); conf != nil && apiVersion(conf) == apiVersion(c.Live) {
		return conf
	}
	held, _ := ownership.Original(c.Live, ownership.Managers(names...), c.typ).(map[string]any)
	return held
}

// usable is the configuration in live's annotation; nil where none can be read.
func usable(live map[string]any) map[string]any {
	was := lastapplied.Read(live)
	if was.Problem != "" || was.Blanking == lastapplied.BlankAll {
		return nil
	}
	conf, _ := withoutAnnotations(was.Value).(map[string]any)
	return conf
}

// withoutAnnotations is a configuration without annotations that are empty: kubectl apply puts
// them into each.
func withoutAnnotations(conf any) any {
	obj, _ := conf.(map[string]any)
	meta, _ := obj["metadata"].(map[string]any)
	if a, isMap := meta["annotations"].(map[string]any); !isMap || len(a) > 0 {
		return conf
	}
	out, m := maps.Clone(obj), maps.Clone(meta)
	delete(m, "annotations")
	out["metadata"] = m
	return out
}

func apiVersion(obj map[string]any) string { return object.Object{Value: obj}.APIVersion() }

// applied are the fields that the applier gets: those of what was applied last that live has.
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
	return ownership.Present(ownership.Fields(plan.Applying.Config, c.typ), c.Live, c.typ), nil
}

// annotated is live with the annotation as it is to be: the server keeps it up to date for
// kubectl's own manager, and nobody does for any other.
func (c *change) annotated() (map[string]any, error) {
	if lastapplied.Read(c.Live).State == lastapplied.None {
		return c.Live, nil
	}
	if c.Manager == apply.ServerManager {
		return c.Live, c.rewrite.Keep()
	}
	if err := c.rewrite.Forget(); err != nil {
		return nil, err
	}
	final, _ := lastapplied.Without(c.Live).(map[string]any)
	return final, nil
}

// trial is what the applier has applied by Final, with the values there.
func (c *change) trial() map[string]any {
	conf, _ := ownership.Original(c.Final, appliesOf(c.Manager), c.typ).(map[string]any)
	if id := lastapplied.SetOf(c.Final); conf != nil && id != "" && c.rewrite.Alone(partOf) {
		conf, _ = lastapplied.WithSet(conf, id).(map[string]any)
	}
	return conf
}

var partOf = merge.Path{merge.Named("metadata"), merge.Named("labels"), merge.Named(lastapplied.PartOf)}

// appliesOf is a manager by what it applies on the server's side.
func appliesOf(name string) ownership.Holders {
	return ownership.Holders{Has: func(manager, operation string) bool { return manager == name && operation == "Apply" }}
}

// toClientSide makes what the applier has applied the last-applied configuration, held by
// updates of kubectl apply's manager.
func (c *change) toClientSide(ctx context.Context) error {
	if ownership.Applied(c.Live, c.Manager) == nil {
		if len(ownership.ClientSide(c.Live)) > 0 {
			return nil
		}
		return fmt.Errorf("%s has applied nothing of it by server-side apply%s: name the manager that has with --field-manager", c.Manager, makers(c.Live))
	}
	conf, _ := ownership.Original(c.Live, appliesOf(c.Manager), c.typ).(map[string]any)
	text, err := c.configuration(conf)
	if err != nil {
		return err
	}
	before := ownership.Applied(c.Live, c.Manager)
	if err := c.rewrite.Release(apply.DefaultManager); err != nil {
		return err
	}
	c.rewrite.Convert(c.Live, c.typ, c.Served)
	final, _ := lastapplied.With(c.Live, text).(map[string]any)
	c.Final = ownership.WithEntries(final, c.rewrite.Entries())
	return c.clientRows(before, conf)
}

// configuration is the text of the annotation: conf, or the file, or what the server has kept
// there, where that says the same in kubectl's own spelling.
func (c *change) configuration(conf any) (string, error) {
	o := lastapplied.Options{Namespace: object.Object{Value: c.Live}.Namespace(), Type: c.typ, On: c.Live}
	if c.alike(c.Subject.Value, conf) {
		return lastapplied.Encode(c.Subject.Value, o)
	}
	if was := lastapplied.Read(c.Live); was.Problem == "" && was.State != lastapplied.None && c.alike(was.Value, conf) {
		return was.Text, nil
	}
	return lastapplied.Encode(conf, o)
}

// alike: two configurations come to the same object.
func (c *change) alike(a, b any) bool {
	return len(merge.Diff(c.plain(a), c.plain(b), c.typ)) == 0
}

// plain is a configuration without what is no configuration and without nulls, completed with
// the server's defaults: the key of an entry may be one.
func (c *change) plain(v any) any {
	v, _ = lastapplied.Strip(lastapplied.WithoutSet(lastapplied.Without(v)), c.HasStatus)
	obj, _ := withoutAnnotations(lastapplied.FoldStringData(v)).(map[string]any)
	out := maps.Clone(obj)
	meta, _ := out["metadata"].(map[string]any)
	if meta = maps.Clone(meta); meta != nil {
		delete(meta, "namespace")
		out["metadata"] = meta
	}
	return merge.Complete(withoutNulls(out), c.typ, true)
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if e != nil {
				out[k] = withoutNulls(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withoutNulls(e)
		}
		return out
	}
	return v
}

// unnamed is an error without the object's name, which is put before it once.
func unnamed(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// makers says who has set the fields of an object, in parentheses with a space before them.
func makers(live map[string]any) string {
	var names []string
	for _, o := range ownership.At(ownership.Of(live), nil) {
		if o.Subresource == "" && !slices.Contains(names, o.Manager) {
			names = append(names, o.Manager)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (its fields were set by " + strings.Join(names, ", ") + ")"
}
