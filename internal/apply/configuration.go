package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Conf is a last-applied configuration and how much of it is known.
type Conf struct {
	Value    any
	Blanking lastapplied.Blanking
}

// Given returns a configuration read from a file, to be kept on live. One that
// view-last-applied printed may be blanked, and stays so. It is an error if it names
// another object.
func Given(value, live any) (Conf, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return Conf{}, fmt.Errorf("last-applied: %w", err)
	}
	read := lastapplied.Read(lastapplied.With(live, string(text)))
	switch read.State {
	case lastapplied.Blanked:
		return Conf{Value: read.Value, Blanking: read.Blanking}, nil
	case lastapplied.Foreign:
		return Conf{}, ErrForeign
	}
	return Conf{Value: value}, nil
}

// ErrForeign is the error of a configuration of another object.
var ErrForeign = errors.New("kind, name or namespace: they state whose configuration it is, and cannot be changed: put them back")

// TypeOf returns the type by which a configuration of s is split: that of its own apiVersion, or s's where
// that is no longer served. It is nil where the kind is unknown. The error is that of the schema's source.
func (p *Planner) TypeOf(ctx context.Context, s Subject, conf any) (*merge.Type, error) {
	obj, ok := conf.(map[string]any)
	if !ok {
		return p.schema(ctx, s, nil, nil)
	}
	own := s
	own.Value = obj
	t, err := p.schema(ctx, own, nil, nil)
	if t != nil || err != nil || own.APIVersion() == s.APIVersion() {
		return t, err
	}
	return p.schema(ctx, s, obj, nil)
}

// UnknownField names a field that t does not declare, and the one that was probably meant.
func UnknownField(t *merge.Type, path merge.Path) string {
	name := fmt.Sprintf("unknown field %q", path)
	if near := schema.Suggest(t, path); near != "" {
		name += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return name
}
