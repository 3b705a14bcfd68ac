package absorb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/drift"
	"github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// New returns a member of a set that is in no file, as it was configured: without what the server
// and the control plane have set, and what marks it as a member. It is taken if there is a file for
// it, "" is none. The error names the object.
func (c Choice) New(ctx context.Context, p *run.Plan, item *run.Item, file string) (*Object, error) {
	live := item.Planned.Live
	bare := object.Object{Value: map[string]any{"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": map[string]any{"name": item.Target.Name}}}
	o := &Object{live: live, Values: []Value{{Row: drift.Of(item, c.Applier)[0], file: file}}}
	v := &o.Values[0]
	switch again := p.Compare(ctx, run.NewItem(bare.InNamespace(item.Target.Namespace), item.Target), live); {
	case again.Err != nil:
		return o, again.Err
	case len(c.Fields) > 0 || c.Managers != nil:
		v.Left = "not named"
	case redact.IsSecretKind(v.Group, v.Object.Kind) && !c.Secrets:
		v.Left = "in a Secret: --secrets takes it"
	case len(merge.At[[]any](live, "metadata", "ownerReferences")) > 0:
		v.Left = "made for another object, which owns it"
	case file == "":
		v.Left = "in no file: --new FILE takes it"
	default:
		body, err := again.Planned.Former()
		if err != nil {
			return o, fmt.Errorf("%s: %w", item.Target, err)
		}
		body, _ = lastapplied.WithoutSet(lastapplied.Without(body)).(map[string]any)
		for _, marks := range []string{"annotations", "labels"} {
			if merge.At[map[string]any](body, "metadata", marks) != nil && len(merge.At[map[string]any](body, "metadata", marks)) == 0 {
				body = merge.Without(body, "metadata", marks)
			}
		}
		o.Object = object.Object{Value: body, Origin: object.Origin{File: file}}
	}
	return o, nil
}

// Append adds the new objects to the end of a file, which may be one that is edited already or not
// be there yet.
func Append(all []*files.Edited, name string, objects []*Object) ([]*files.Edited, error) {
	var add []yamldoc.Addition
	for _, o := range objects {
		if o.Chosen() > 0 && o.Values[0].Drift == drift.Orphaned {
			text, err := yamldoc.Encode(o.Value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", o, err)
			}
			add = append(add, yamldoc.Addition{Text: text})
		}
	}
	if add == nil {
		return all, nil
	}
	at := slices.IndexFunc(all, func(e *files.Edited) bool { return filepath.Clean(e.Name) == filepath.Clean(name) })
	if at < 0 {
		text, err := source.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			text, err = nil, nil
		}
		if err != nil {
			return nil, err
		}
		at, all = len(all), append(all, files.Rewritten(name, text, text))
	}
	if len(all[at].Now) == 0 {
		all[at].Now, add = add[0].Text, add[1:]
	}
	f, err := yamldoc.Parse(all[at].Now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	all[at].Now = f.Assemble(nil, add)
	return all, nil
}
