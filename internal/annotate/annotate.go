// Package annotate plans changes of the last-applied annotation alone, and reports what they
// mean for the next merge: what view-last-applied, edit-last-applied, set-last-applied and
// disown do. It refuses to read objects, to ask, and to send anything.
package annotate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Rewrite gives the configuration that is to stand in the last-applied annotation
// in place of what was read there. It is called again where another client wrote
// the object meanwhile.
type Rewrite func(ctx context.Context, was lastapplied.Original) (lastapplied.Original, error)

// Planner plans them, with the settings of a merge.
type Planner struct{ *apply.Planner }

// Annotated is a planned change of the last-applied annotation of one object:
// Final differs from Live in it and in nothing else.
type Annotated struct {
	apply.Planned
	Was lastapplied.Original
	Now lastapplied.Original // as it is kept: shortened, a Secret's values blanked

	Rewrite Rewrite // by which it is planned again
}

// Annotate plans a write of the last-applied annotation alone. s.Value is the
// local object where there is one, else live. The error names the object.
func (p Planner) Annotate(ctx context.Context, s apply.Subject, live map[string]any, rewrite Rewrite) (Annotated, error) {
	out := Annotated{Planned: apply.Planned{Subject: s, Live: live}, Was: lastapplied.Read(live), Rewrite: rewrite}
	out.Sensitive = p.Sensitive(s, merge.Triple{Original: out.Was.Value, Local: s.Value, Live: live})
	if live == nil {
		return out, fmt.Errorf("%s: %w", s.Name, apply.Absent(s))
	}
	if err := apply.Deleting(live); err != nil {
		return out, fmt.Errorf("%s: %w", s.Name, err)
	}
	conf, err := rewrite(ctx, out.Was)
	if err != nil {
		return out, fmt.Errorf("%s: %w", s.Name, err)
	}
	if out.Type, err = p.TypeOf(ctx, s, conf.Value); err != nil {
		return out, fmt.Errorf("%s: %w", s.Name, err)
	}
	text, err := lastapplied.Encode(conf.Value, lastapplied.Options{
		Namespace: merge.At[string](live, "metadata", "namespace"),
		Type:      out.Type,
		On:        live,
		Blanked:   conf.Blanking,
	})
	if err != nil {
		return out, fmt.Errorf("%s: %w", s.Name, err)
	}
	final := merge.At[map[string]any](lastapplied.With(live, text))
	if out.Now = lastapplied.Read(final); out.Now.State == lastapplied.Foreign {
		return out, fmt.Errorf("%s: %w", s.Name, apply.ErrForeign)
	}
	if out.Final = final; text != out.Was.Text {
		out.Action = apply.Change
	}
	return out, nil
}

// Check reports of fields in conf that its kind does not have, and of values that are not of their
// field's type; what before has too was accepted once, and counts no more. s is the object of the
// file that conf is from, if any. Only the text of a warning comes back where the Planner is to
// warn. Otherwise they are an error that names them, as is a schema that cannot be read.
func (p Planner) Check(ctx context.Context, s apply.Subject, conf lastapplied.Original, before any) (warning string, err error) {
	if p.Validate == apply.Ignore {
		return "", nil
	}
	t, err := p.TypeOf(ctx, s, conf.Value)
	if err != nil || t == nil {
		return "", err
	}
	var problems []string
	for _, path := range schema.Unknown(t, conf.Value) {
		if _, old := merge.Lookup(before, path, t); !old {
			problems = append(problems, p.UnknownFields(s, t, path)+": fix the name")
		}
	}
	if s.Value, _ = conf.Value.(map[string]any); conf.Blanking == lastapplied.BlankNothing { // a blanked value is of no type
		if err := p.Mistyped(s, t, before); err != nil {
			problems = append(problems, err.Error())
		}
	}
	if len(problems) == 0 {
		return "", nil
	}
	text := strings.Join(problems, "; ")
	if p.Validate == apply.Warn {
		return text, nil
	}
	return "", fmt.Errorf("%s, or skip the check (--validate=ignore)", text)
}

// Required reports whether a configuration of s must have the field at path. It is known if the
// schema of the server, or of a file, declares it: the compiled-in types do not. The error is that
// of a schema that cannot be read.
func (p Planner) Required(ctx context.Context, s apply.Subject, path merge.Path) (bool, error) {
	if p.Schemas == nil {
		return false, nil
	}
	t, err := p.Schemas(ctx, s.Group(), s.Version(), s.Kind())
	if err != nil || t == nil {
		return false, err
	}
	f, ok := schema.FieldAt(t, path)
	return ok && f.Required, nil
}

// Usable reports why a configuration cannot be changed field by field; nil if it can.
func Usable(was lastapplied.Original, live map[string]any) error {
	switch {
	case was.State == lastapplied.None:
		return fmt.Errorf("no last-applied-configuration annotation found on resource%s: to create the annotation, use command `kubectl merge set-last-applied --create-annotation -f FILE`", ownership.Makers(live))
	case was.Problem != "":
		return errors.New(was.Problem)
	case was.Blanking == lastapplied.BlankAll:
		return errors.New("last-applied: the configuration was too large to be kept, so that only the object's name stands there, and metadata.managedFields have what was applied: there is no field in it to change; shorten the other annotations, and merge again")
	}
	return nil
}
