package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// Originals says where to find what was applied last.
type Originals struct {
	From From
	// Managers names, for ManagedFields, the managers whose values count besides kubectl's own; nil: none.
	Managers *ownership.Managers
	// Saved finds the last-applied configuration of an object, for File and Helm; nil without an
	// error where there is none.
	Saved func(object.Object) (*object.Object, error)
}

// From is a place where an original may be found.
type From string

// The places, as --original names them.
const (
	Auto          From = "auto" // the annotation, if there is one
	Annotation    From = "annotation"
	ManagedFields From = "managed-fields"
	None          From = "none"
	File          From = "file"
	Helm          From = "helm" // the manifest of a release; the annotation of objects that it does not have
)

// find returns what was applied last, as far as that is known. One with BlankAll is to be read from
// managedFields, once the type is known.
func (o Originals) find(local object.Object, live map[string]any) (lastapplied.Original, error) {
	if live == nil {
		return lastapplied.Original{}, nil
	}
	switch o.From {
	case None:
		return lastapplied.Original{}, nil
	case ManagedFields:
		return lastapplied.Original{State: lastapplied.Blanked, Blanking: lastapplied.BlankAll}, nil
	case File, Helm:
		found, err := o.Saved(local)
		switch {
		case err != nil:
			return lastapplied.Original{}, err
		case found == nil && o.From == Helm:
			return lastapplied.Read(live), nil
		case found == nil:
			return lastapplied.Original{}, nil
		}
		given, err := Given(found.Value, live)
		if err != nil {
			err = fmt.Errorf("--original: %s: %w", found.Origin, err)
		}
		return given, err
	case Annotation:
		return lastapplied.Read(live), missing(live)
	case Auto, "":
		return lastapplied.Read(live), nil
	}
	return lastapplied.Original{}, fmt.Errorf("--original=%s: there are auto, annotation, managed-fields, helm:RELEASE, none, or a FILE", o.From)
}

// missing returns an error where live has no annotation that an original can be read from:
// a user who names the source relies on its removals.
func missing(live map[string]any) error {
	switch read := lastapplied.Read(live); {
	case read.State == lastapplied.None:
		return errors.New("--original=annotation: no last-applied-configuration annotation found: record what was applied: kubectl merge set-last-applied --create-annotation -f FILE")
	case read.Problem != "":
		return errors.New("--original=annotation: " + read.Flaw() + ": put back what was applied: kubectl merge set-last-applied -f FILE")
	}
	return nil
}

// misshapen reports the values of an original that are lists or mappings where the type has something
// else, or the other way round: no merge can use them. "" for none. Another apiVersion has another type.
func misshapen(local object.Object, original any, typ *merge.Type) string {
	if merge.At[string](original, "apiVersion") != local.APIVersion() {
		return ""
	}
	for _, w := range schema.MistypedIn(typ, original) {
		if w.Want == "a list" || w.Want == "a mapping" {
			return fmt.Sprintf("last-applied: %s: is not %s there: it is treated as absent, so that nothing of it is removed, and written anew", w.Path, w.Want)
		}
	}
	return ""
}

// holders returns the managers whose values make up an original from managedFields: the applier
// and those that own the annotation. Where the user asks for managedFields, kubectl's own and
// those that the user has named are added. Then values that others own as well do not count.
func (p *Planner) holders(live map[string]any) ownership.Holders {
	names, _ := ownership.Annotators(ownership.Of(live))
	holders := ownership.Named(slices.Concat([]string{p.Manager}, names, p.Original.adopted(live))...)
	holders.Alone = p.Original.From == ManagedFields
	return holders
}

// former returns the managers that have applied the original, as far as the user has named it by them.
func (o Originals) former() []string {
	switch {
	case o.From == Helm:
		return []string{"helm"} // Helm 4 applies on the server's side
	case o.From == ManagedFields && o.Managers != nil:
		return o.Managers.Names
	}
	return nil
}

// adopted returns the managers whose values count as the applier's because the user has
// asked for managedFields of a live object.
func (o Originals) adopted(live map[string]any) []string {
	if o.From != ManagedFields {
		return nil
	}
	if o.Managers == nil {
		return strategy.Kubectls
	}
	o.Managers.Look(live)
	return slices.Concat(strategy.Kubectls, o.Managers.Names)
}

// Given returns a configuration read from a file, to be kept on live. One that
// view-last-applied printed may be blanked, and stays so. It is an error if it names
// another object.
func Given(value, live any) (lastapplied.Original, error) {
	text, _ := json.Marshal(value) // it is JSON, as read
	read := lastapplied.Read(lastapplied.With(live, string(text)))
	switch read.State {
	case lastapplied.Blanked:
		return read, nil
	case lastapplied.Foreign:
		return lastapplied.Original{}, ErrForeign
	}
	return lastapplied.Original{Value: value, State: lastapplied.OK}, nil
}

// Annotated returns the configuration in live's annotation; nil if there is none, or it cannot be read.
func Annotated(live map[string]any) map[string]any {
	was := lastapplied.Read(live)
	if was.Problem != "" || was.Blanking == lastapplied.BlankAll {
		return nil
	}
	return merge.At[map[string]any](lastapplied.WithoutEmptyAnnotations(was.Value))
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

// UnknownFields names fields of s that t does not declare, with the file and line of each, and the ones that
// were probably meant.
func (p *Planner) UnknownFields(s Subject, t *merge.Type, paths ...merge.Path) string {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = fmt.Sprintf("unknown field %q", path)
		switch near := schema.Suggest(t, path); {
		case strings.HasPrefix(path[len(path)-1].Name, "+ "):
			names[i] += " (begins as a line of a diff: take the + out)"
		case strings.HasSuffix(near, "."+path[len(path)-1].Name):
			names[i] += fmt.Sprintf(" (did you mean %s? check the indentation)", near)
		case near != "":
			names[i] += fmt.Sprintf(" (did you mean %s?)", near)
		case len(path) > 1 && t.At(path[:len(path)-1]).Field("value").Type != nil && t.At(path[:len(path)-1]).Field("name").Type != nil:
			names[i] += fmt.Sprintf(" (write name: %s, and value: below it)", path[len(path)-1].Name)
		case len(path) == 1 && redact.IsSecretKind(s.Group(), s.Kind()):
			names[i] += " (a value stands under stringData:, or in base64 under data:)"
		}
		names[i] += p.Place(s.Object, path)
	}
	return strings.Join(names, ", ")
}

// ambiguous lists the entries of lists that server-side apply cannot distinguish: those with the key of another,
// or without a key.
func ambiguous(v any, at merge.Path, typ *merge.Type) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		if granular(typ) {
			for _, name := range slices.Sorted(maps.Keys(v)) {
				out = append(out, ambiguous(v[name], at.Child(merge.Named(name)), typ.Field(name).Type)...)
			}
		}
	case []any:
		if !listed(typ) {
			break
		}
		for i, step := range schema.EntrySteps(typ, v) {
			p, named := at.Child(step), slices.ContainsFunc(step.Keys, func(k merge.KeyPart) bool { return k.Value != nil })
			switch {
			case step.Nth > 1:
				out = append(out, fmt.Sprintf("%s: is in the list twice, and server-side apply takes each key once", p))
			case step.Kind == merge.IndexStep || step.Kind == merge.KeyStep && !named:
				out = append(out, fmt.Sprintf("%s: has no %s, by which server-side apply knows the entries", p, typ.Keys[0].Name))
			default:
				out = append(out, ambiguous(v[i], p, typ.Elem)...)
			}
		}
	}
	return out
}

// withoutEmptyKeys returns v without the keys of list entries that are "" or null and have
// a default, as in protocol: "". The server stores the default, but records what was
// applied under the stated key, which it does not find again. The next apply would add the
// entry a second time. v is not modified.
func withoutEmptyKeys(v any, typ *merge.Type) any {
	switch v := v.(type) {
	case map[string]any:
		if typ == nil || typ.Atomic {
			return v
		}
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[name] = withoutEmptyKeys(e, typ.Field(name).Type)
		}
		return out
	case []any:
		if typ == nil || typ.Kind != merge.Keyed {
			return v
		}
		return merge.Rebuilt(v, func(e any) any { return withoutEmptyKeys(entryWithoutEmptyKeys(e, typ.Keys), typ.Elem) })
	}
	return v
}

func entryWithoutEmptyKeys(e any, keys []merge.Key) any {
	m, _ := e.(map[string]any)
	for _, k := range keys {
		if is, stated := m[k.Name]; stated && (is == nil || is == "") && k.Default != nil {
			m = merge.Without(m, k.Name)
			e = m
		}
	}
	return e
}
