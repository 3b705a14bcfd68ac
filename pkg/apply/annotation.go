package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Conf is a last-applied configuration and how much of it is known.
type Conf struct {
	Value    any
	Blanking lastapplied.Blanking
}

// Rewrite gives the configuration that is to stand in the last-applied annotation
// in place of what was read there. It is called again where somebody else wrote
// the object meanwhile.
type Rewrite func(ctx context.Context, was lastapplied.Original) (Conf, error)

// Given is a configuration as a file has it, that is to be kept on live. One that
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
		return Conf{}, errForeign
	}
	return Conf{Value: value}, nil
}

var errForeign = errors.New("kind, name or namespace: they say whose configuration it is, and cannot be changed: put them back")

// Annotated is what is to be done with the last-applied annotation of one object:
// Final differs from Live in it and in nothing else.
type Annotated struct {
	Planned
	Was lastapplied.Original
	Now Conf // as it is kept: shortened, a Secret's values blanked
}

// Annotate plans a write of the last-applied annotation alone. s.Value is the
// local object where there is one, else live. The error names the object.
func (p *Planner) Annotate(ctx context.Context, s Subject, live map[string]any, rewrite Rewrite) (Annotated, error) {
	out := Annotated{Planned: Planned{Subject: s, Live: live}, Was: lastapplied.Read(live)}
	out.Sensitive = p.Sensitive(s, merge.Triple{Original: out.Was.Value, Local: s.Value, Live: live})
	if live == nil {
		return out, fmt.Errorf("%s: NotFound: there is no such object: to make it, kubectl merge -f FILE", s.Name)
	}
	if err := gone(live); err != nil {
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
		Namespace: namespaceOf(live),
		Type:      out.Type,
		On:        live,
		Blanked:   conf.Blanking,
	})
	if err != nil {
		return out, fmt.Errorf("%s: %w", s.Name, err)
	}
	final, ok := lastapplied.With(live, text).(map[string]any)
	if !ok {
		return out, fmt.Errorf("%s: the server's answer is no object", s.Name)
	}
	now := lastapplied.Read(final)
	if now.State == lastapplied.Foreign {
		return out, fmt.Errorf("%s: %w", s.Name, errForeign)
	}
	out.Final, out.Now = final, Conf{Value: now.Value, Blanking: now.Blanking}
	if text != out.Was.Text {
		out.Action = Change
	}
	return out, nil
}

// TypeOf is how a configuration of s is split: by its own apiVersion, or by s's
// where that is not served any more. nil: nobody knows.
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

// Check tells of fields in conf that its kind does not have; those that before has
// too were accepted once, and count no more. Only the text of a warning comes back
// where the Planner is to warn.
func (p *Planner) Check(ctx context.Context, s Subject, conf, before any) (warning string, err error) {
	if p.Validate == Ignore {
		return "", nil
	}
	t, err := p.TypeOf(ctx, s, conf)
	if err != nil || t == nil {
		return "", err
	}
	var names []string
	for _, path := range schema.Unknown(t, conf) {
		if _, old := merge.Lookup(before, path, t); !old {
			names = append(names, unknownField(t, path))
		}
	}
	if len(names) == 0 {
		return "", nil
	}
	text := strings.Join(names, ", ")
	if p.Validate == Warn {
		return text, nil
	}
	return "", fmt.Errorf("%s: mend the name, or have it not looked at (--validate=ignore)", text)
}

// unknownField names a field that t does not declare, and the one that may be
// meant.
func unknownField(t *merge.Type, path merge.Path) string {
	name := fmt.Sprintf("unknown field %q", path)
	if near := schema.Suggest(t, path); near != "" {
		name += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return name
}

// Required says whether a configuration of s must have the field at path, as far
// as the schema that the server, or a file, tells says so: the compiled-in types do
// not.
func (p *Planner) Required(ctx context.Context, s Subject, path merge.Path) (bool, error) {
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

// Usable tells why a configuration cannot be changed field by field; nil if it can.
func Usable(was lastapplied.Original, live map[string]any) error {
	switch {
	case was.State == lastapplied.None:
		return fmt.Errorf("no last-applied-configuration annotation found on resource%s: to create the annotation, use command `kubectl merge set-last-applied --create-annotation -f FILE`", Makers(live))
	case was.Problem != "":
		return errors.New(was.Problem)
	case was.Blanking == lastapplied.BlankAll:
		return errors.New("last-applied: the configuration was too large to be kept, so that only the object's name stands there, and metadata.managedFields tell what was applied: there is no field in it to change; shorten the other annotations, and merge again")
	}
	return nil
}

// Makers says who set the fields of an object that was never applied, in
// parentheses with a space before them; "" where nobody is known.
func Makers(live map[string]any) string {
	m, _ := live["metadata"].(map[string]any)
	entries, _ := m["managedFields"].([]any)
	var names []string
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		name, _ := entry["manager"].(string)
		if sub, _ := entry["subresource"].(string); sub == "" && name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (its fields were set by " + strings.Join(names, ", ") + ")"
}

func namespaceOf(obj map[string]any) string {
	m, _ := obj["metadata"].(map[string]any)
	ns, _ := m["namespace"].(string)
	return ns
}
