// Package annotate changes the last-applied annotation alone, as a run, and reports what that means for
// the next merge: what view-last-applied, edit-last-applied, set-last-applied and disown do. It refuses
// to know flags, to ask and to print.
package annotate

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
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Planner plans them, with the settings of a merge.
type Planner struct{ *apply.Planner }

// Annotate plans to put a configuration into the last-applied annotation: Final differs from live in it,
// and in nothing else. s.Value is the local object where there is one, else live.
func (p Planner) Annotate(ctx context.Context, s apply.Subject, live map[string]any, conf lastapplied.Original) (apply.Planned, error) {
	out, was := apply.Planned{Subject: s, Live: live}, lastapplied.Read(live)
	out.Sensitive = p.Sensitive(s, merge.Triple{Original: was.Value, Local: s.Value, Live: live})
	err := apply.Gone(s, live)
	if err != nil {
		return out, err
	}
	if out.Type, err = p.TypeOf(ctx, s, conf.Value); err != nil {
		return out, err
	}
	text, err := lastapplied.Encode(conf.Value, lastapplied.Options{
		Namespace: merge.At[string](live, "metadata", "namespace"),
		Type:      out.Type,
		On:        live,
		Blanked:   conf.Blanking,
	})
	if err != nil {
		return out, err
	}
	final := merge.At[map[string]any](lastapplied.With(live, text))
	if lastapplied.Read(final).State == lastapplied.Foreign {
		return out, apply.ErrForeign
	}
	if out.Final = final; text != was.Text {
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
		return errors.New(was.Flaw() + ": put back what was applied: kubectl merge set-last-applied -f FILE")
	case was.Blanking == lastapplied.BlankAll:
		return errors.New("last-applied: the configuration was too large to be kept, so that only the object's name stands there, and metadata.managedFields have what was applied: there is no field in it to change; shorten the file, or other annotations if the object has any, and merge again")
	}
	return nil
}

// Meaning is the effect that a change of one field of last-applied has on the next merge.
type Meaning struct {
	Path merge.Path
	Text string // one line, without path and object; a Secret's values are not in it
}

// Conditional is the text of a change that is only planned.
func (m Meaning) Conditional() string {
	if rest, given := strings.CutPrefix(m.Text, "no longer yours"); given {
		return "would no longer be yours" + rest
	}
	return "would be " + m.Text
}

// Meanings reports, field by field, what the next merge will do since the configuration before was
// made that of a. local will be merged then; nil where it is not known: then what was applied last is
// merged, without the fields that were given up. The error is one of the merge, which is gone through
// for this.
func (p Planner) Meanings(ctx context.Context, a apply.Planned, before any, local *object.Object) ([]Meaning, error) {
	after := lastapplied.Read(a.Final).Value
	was, now := asApplied(before), asApplied(after)
	changes := merge.Diff(was, now, a.Type)
	if len(changes) == 0 {
		return nil, nil
	}
	m := meaning{typ: a.Type, live: lastapplied.FoldStringData(a.Live)}
	if redact.IsSecret(a.Value) {
		m.values = redact.ValuesOf(a.Live, before, after)
	}
	subject := a.Subject
	if local != nil {
		subject.Object, m.file = *local, local.Origin.File
	} else {
		givenUp := slices.DeleteFunc(slices.Clone(changes), func(c merge.Change) bool { return c.Op != merge.OpRemove })
		value, err := merge.Replay(was, givenUp)
		if err != nil {
			return nil, err
		}
		subject.Object = object.Object{Value: merge.At[map[string]any](value)}
	}
	next := *p.Planner
	next.Validate, next.Trace, next.Original = apply.Ignore, false, apply.Originals{From: apply.Annotation}
	planned, err := next.Plan(ctx, subject, a.Final)
	if err != nil {
		return nil, err
	}
	m.elsewhere = object.Object{Value: a.Live}.APIVersion() != object.Object{Value: merge.At[map[string]any](after)}.APIVersion()
	m.sensitive = planned.Sensitive
	m.local, m.result = lastapplied.FoldStringData(subject.Value), planned.Result
	changes = slices.DeleteFunc(changes, func(c merge.Change) bool { return c.Op == merge.OpOrder })
	return object.Each(changes, func(c merge.Change) Meaning { return Meaning{Path: c.Path, Text: m.describe(c)} }), nil
}

// asApplied returns a configuration as it is recorded: without what it has only for being
// kept, and without nulls, which a merge takes for absent.
func asApplied(conf any) any {
	return lastapplied.WithoutNulls(lastapplied.FoldStringData(lastapplied.WithoutEmptyAnnotations(conf)))
}

// meaning knows the sides that a field is looked up in.
type meaning struct {
	typ                 *merge.Type
	local, live, result any
	file                string         // where local is from; "" where it is a guess
	values              *redact.Values // of the Secret; nil where it is none
	sensitive           redact.Fields  // what the user's rules have hidden
	elsewhere           bool           // last-applied has another apiVersion than live, and its fields other names perhaps
}

func (m meaning) describe(c merge.Change) string {
	local, inLocal := m.at(m.local, c.Path)
	live, inLive := m.at(m.live, c.Path)
	result, inResult := m.at(m.result, c.Path)
	switch {
	case m.elsewhere && !inLive && c.Op == merge.OpRemove:
		return "no longer yours"
	case m.elsewhere && !inLive:
		return "yours"
	case c.Op == merge.OpRemove:
		return m.givenUp(c.Path, merge.Opt{Value: local, Set: inLocal}, live, inLive && inResult)
	}
	field, _ := schema.FieldAt(m.typ, c.Path)
	switch {
	case inLocal && m.file == "" && inLive:
		return "yours; the next merge sets what the file states" + m.shownValue(c.Path, live, "; live has ")
	case inLocal && m.file == "":
		return "yours; the next merge sets what the file states; live does not have it"
	case inLocal && inLive && merge.Equal(live, result, field.Type):
		return "yours; live already has what " + m.file + " states" + m.shownValue(c.Path, live, ": ")
	case inLocal && inLive && m.difference(c.Path, live, result) != "":
		return "yours; the next merge changes it, as " + m.file + " states: " + m.difference(c.Path, live, result)
	case inLocal && inLive:
		return "yours; the next merge sets it" + m.shownValue(c.Path, result, " to ") + ", as " + m.file + " states; live has" + cmp.Or(m.shownValue(c.Path, live, " "), " another value")
	case inLocal:
		return "yours; the next merge puts it into live, as " + m.file + " states" + m.shownValue(c.Path, result, ": ")
	case inLive && !inResult && m.file != "":
		return "yours, and not in " + m.file + ": the next merge removes it from live" + m.shownValue(c.Path, live, ", which has ")
	case inLive && !inResult:
		return "yours; the next merge removes it from live, unless the file has it" + m.shownValue(c.Path, live, "; live has ")
	case inLive:
		return "yours; live keeps it" + m.shownValue(c.Path, live, ": ")
	}
	return "yours; live does not have it"
}

// givenUp is for a field that last-applied has no more.
func (m meaning) givenUp(p merge.Path, local merge.Opt, live any, kept bool) string {
	switch {
	case local.Set:
		return "no longer yours until the next merge, which takes it back: " + m.file + " still has it" + m.shownValue(p, local.Value, ": ")
	case kept && ownership.RewriteOf(merge.At[map[string]any](m.live), apply.ServerManager).Alone(p):
		return "no longer yours in last-applied; a server-side apply without it removes it from live all the same, as nobody else owns it"
	case kept:
		return "no longer yours; live keeps" + cmp.Or(m.shownValue(p, live, " "), " its value")
	case live != nil:
		return "no longer yours; the next merge removes it from live all the same, since what the file has excludes it"
	}
	return "no longer yours; live does not have it"
}

func (m meaning) at(v any, p merge.Path) (any, bool) { return merge.Lookup(v, p, m.typ) }

// shownValue is a value on one line, as notes show it, after what leads to it; "" where it is a
// Secret's.
func (m meaning) shownValue(p merge.Path, v any, before string) string {
	if m.hides(p) {
		return ""
	}
	_, hidden := m.masked(p, merge.Opt{}, merge.Some(v))
	return before + diff.Value(hidden.Value)
}

// difference describes how two values differ that are too long to be shown; "" where
// there is room for both, or they are a Secret's.
func (m meaning) difference(p merge.Path, live, result any) string {
	if m.hides(p) {
		return ""
	}
	was, is := m.masked(p, merge.Some(live), merge.Some(result))
	return diff.Difference(was.Value, is.Value)
}

func (m meaning) hides(p merge.Path) bool {
	return m.values != nil && len(p) > 0 && (!redact.Open(p[0].Name, nil) || redact.Copies(p[len(p)-1].Name))
}

// masked are two values of a place without what rules or their names have hidden.
func (m meaning) masked(p merge.Path, live, result merge.Opt) (merge.Opt, merge.Opt) {
	at := redact.Place{Path: p, Secret: -1, Values: m.values}
	if m.values != nil {
		at.Secret = 0
	}
	return redact.MaskAt(at, live, result, m.sensitive)
}
