package migrate

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

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
	if err := c.rewrite.Drop(); err != nil {
		return nil, err
	}
	return merge.At[map[string]any](lastapplied.Without(c.Live)), nil
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

// toClientSide makes what the applier has applied the last-applied configuration, held by
// updates of kubectl apply's manager.
func (c *change) toClientSide() error {
	if ownership.Applied(c.Live, c.Manager) == nil {
		if len(ownership.ClientSide(c.Live)) > 0 {
			return nil
		}
		if bare, err := ownership.SameFields(ownership.Fields(c.Subject.Value, c.Type), nil, ownership.Nulls(c.Subject.Value, c.Type)); err != nil || !bare || c.Named {
			return fmt.Errorf("%s has applied nothing of it by server-side apply%s: name the manager that has with --field-manager", c.Manager, ownership.Makers(c.Live))
		} // else there is nothing to own, and no manager has an entry for it
	}
	conf, _ := ownership.Original(c.Live, appliesOf(c.Manager), c.Type).(map[string]any)
	if conf == nil {
		conf = lastapplied.Identity(c.Live)
	}
	text, err := c.configuration(conf)
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

// configuration is the text of the annotation: conf, or the file, or what the server has kept
// there, where that means the same in kubectl's own spelling.
func (c *change) configuration(conf any) (string, error) {
	o := lastapplied.Options{Namespace: object.Object{Value: c.Live}.Namespace(), Type: c.Type, On: c.Live}
	if c.alike(c.Subject.Value, conf) {
		return lastapplied.Encode(c.Subject.Value, o)
	}
	if was := lastapplied.Read(c.Live); !redact.IsSecret(c.Live) && was.Problem == "" && was.State != lastapplied.None && c.alike(was.Value, conf) {
		o.Blanked = was.Blanking
		return lastapplied.Encode(was.Value, o) // the server's spelling is not kubectl's
	}
	return lastapplied.Encode(conf, o)
}

// alike: two configurations come to the same object.
func (c *change) alike(a, b any) bool {
	return merge.Equal(c.plain(a), c.plain(b), c.Type)
}

// plain is a configuration without what is no configuration and without nulls, completed with
// the server's defaults: the key of an entry may be one.
func (c *change) plain(v any) any {
	v, _ = lastapplied.Strip(lastapplied.WithoutSet(lastapplied.Without(v)), c.HasStatus)
	conf := merge.At[map[string]any](lastapplied.WithoutEmptyAnnotations(lastapplied.FoldStringData(v)))
	return merge.Complete(lastapplied.WithoutNulls(merge.Without(conf, "metadata", "namespace")), c.Type, true)
}
