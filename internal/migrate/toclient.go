package migrate

import (
	"context"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// toClientSide makes what the applier has applied the last-applied configuration, held by
// updates of kubectl apply's manager.
func (c *change) toClientSide(ctx context.Context) error {
	if ownership.Applied(c.Live, c.Manager) == nil {
		if len(ownership.ClientSide(c.Live)) > 0 {
			return nil
		}
		if bare, err := ownership.SameFields(ownership.Fields(c.Subject.Value, c.typ), nil, ownership.Nulls(c.Subject.Value, c.typ)); err != nil || !bare || c.Named {
			return fmt.Errorf("%s has applied nothing of it by server-side apply%s: name the manager that has with --field-manager", c.Manager, ownership.Makers(c.Live))
		} // else there is nothing to own, and no manager has an entry for it
	}
	conf, _ := ownership.Original(c.Live, appliesOf(c.Manager), c.typ).(map[string]any)
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
	c.rewrite.Convert(c.Live, c.typ, c.Served)
	c.Final = ownership.WithEntries(merge.At[map[string]any](lastapplied.With(c.Live, text)), c.rewrite.Entries())
	return c.clientRows(before, conf)
}

// configuration is the text of the annotation: conf, or the file, or what the server has kept
// there, where that means the same in kubectl's own spelling.
func (c *change) configuration(conf any) (string, error) {
	o := lastapplied.Options{Namespace: object.Object{Value: c.Live}.Namespace(), Type: c.typ, On: c.Live}
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
	return merge.Equal(c.plain(a), c.plain(b), c.typ)
}

// plain is a configuration without what is no configuration and without nulls, completed with
// the server's defaults: the key of an entry may be one.
func (c *change) plain(v any) any {
	v, _ = lastapplied.Strip(lastapplied.WithoutSet(lastapplied.Without(v)), c.HasStatus)
	conf := merge.At[map[string]any](lastapplied.WithoutEmptyAnnotations(lastapplied.FoldStringData(v)))
	return merge.Complete(lastapplied.WithoutNulls(merge.Without(conf, "metadata", "namespace")), c.typ, true)
}
