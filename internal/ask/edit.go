package ask

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// edit asks for a value and puts it into local, so that it counts as applied. An empty line is not
// a value, and repeats the question. A Secret's value is typed unseen, and nothing is written to a
// file.
func (a *Asker) edit(ctx context.Context, q question) (done bool, err error) {
	path, secret := q.conflict.Path, q.secretValue()
	var text string
	if secret {
		path = merge.Path{merge.Named("stringData"), path[1]} // it overrides data, and needs no base64
		text, err = a.Terminal.Hidden(ctx, "Value (as text, not shown; empty: back): ")
	} else {
		text, err = a.Terminal.Prompt(ctx, "Value (YAML on one line; empty: back): ")
	}
	if err != nil || text == "" {
		return false, err
	}
	var value any = text
	if !secret {
		if value, err = q.parse(text); err != nil {
			a.print("error: " + escape.Line(err.Error()))
			return false, nil
		}
	}
	local, err := merge.Put(q.item.Object.Value, path, value)
	if err != nil {
		a.print("error: cannot be put into local: " + escape.Line(err.Error()))
		return false, nil
	}
	q.item.Object.Value = local
	a.settle(q, merge.TakeLocal)
	a.pass(q, "the value typed")
	return true, nil
}

// secretValue reports whether the conflict is about one value of a Secret.
func (q question) secretValue() bool {
	t, p := q.item.Target, q.conflict.Path
	return redact.IsSecretKind(t.Group, t.Kind) && len(p) == 2 && p[0].Name == "data"
}

// parse reads the typed text as YAML. If both sides have text it is text, so that 5 need not be
// quoted to become an environment variable's value.
func (q question) parse(typed string) (any, error) {
	docs, err := source.Decode([]byte(typed))
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("is not one value")
	}
	v := docs[0].Value
	if _, text := v.(string); !text && isText(q.conflict.Local) && isText(q.conflict.Live) {
		switch v.(type) {
		case map[string]any, []any:
		default:
			return strings.TrimSpace(typed), nil
		}
	}
	return v, nil
}

func isText(o merge.Opt) bool {
	_, text := o.Value.(string)
	return text || !o.Set || o.Value == nil
}
