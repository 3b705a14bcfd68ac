package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

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
