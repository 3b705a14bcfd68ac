package files

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// directive finds the first directive in a value, in the order of the keys; nil where there is none.
func directive(v any) merge.Path {
	at, _ := merge.First(v, func(s merge.Step, _ any) bool { return schema.IsDirective(s.Name) })
	return at
}

// noDirectives is an error that names every document of a set with a directive in it,
// by file and line.
func (s *Set) noDirectives(why string) error {
	var errs []error
	for _, f := range s.Files {
		for _, d := range f.YAML.Documents() {
			if p := directive(d.Value()); p != nil {
				errs = append(errs, fmt.Errorf("%s: line %d: %s is a directive of a strategic merge patch, %s", f.Where(), d.LineOf(p), p, why))
			}
		}
	}
	return errors.Join(errs...)
}

// plain is a value without its directives, and without list entries that hold nothing
// else: what the keys of lists are inferred from.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if !schema.IsDirective(k) {
				out[k] = plain(e)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			if m, ok := e.(map[string]any); ok && len(m) == 1 && m[schema.PatchDirective] != nil {
				continue
			}
			out = append(out, plain(e))
		}
		return out
	}
	return v
}

// patch reads a strategic merge patch as two sides of a three-way merge into dest:
// local, what the patch states, and original, what it removes. An original that is nil
// removes nothing.
//
// Rules: the Kubernetes community's strategic-merge-patch.md; where apimachinery and
// kustomize differ (a mapping with $patch: delete), kustomize's, as these are files.
type patch struct {
	resource *resource
	errs     []error
}

func (p *patch) fail(at merge.Path, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("%s: line %d: %s: %s", p.resource.file.Where(), p.resource.doc.LineOf(at), at, fmt.Sprintf(format, args...)))
}

// deletes: the document is a patch that removes the whole object.
func (r *resource) deletes() bool {
	return merge.At[map[string]any](r.docValue())[schema.PatchDirective] == "delete"
}

// sides are one value of the patch, as local and original.
type sides struct {
	local    any  // nil clears, as null does
	stated   bool // false: local does not have the field
	original any
}

func (p *patch) patchValue(v, dest any, t *merge.Type, at merge.Path) sides {
	switch v := v.(type) {
	case map[string]any:
		return p.patchObject(v, dest, t, at)
	case []any:
		return p.list(list{entries: v, stated: true}, dest, t, at)
	}
	return sides{local: v, stated: true}
}

func (p *patch) patchObject(v map[string]any, dest any, t *merge.Type, at merge.Path) sides {
	switch v[schema.PatchDirective] {
	case nil, "merge":
		return p.fields(v, dest, t, at)
	case "delete":
		return sides{stated: true, original: dest}
	case "replace":
		whole := p.fields(v, nil, t, at)
		return sides{local: whole.local, stated: true, original: dest}
	}
	p.fail(at.Child(merge.Named(schema.PatchDirective)), "there are delete, replace and merge")
	return sides{}
}

// fields reads a mapping field by field.
func (p *patch) fields(v map[string]any, dest any, t *merge.Type, at merge.Path) sides {
	was, _ := dest.(map[string]any)
	local, original := map[string]any{}, map[string]any{}
	put := func(name string, s sides) {
		if s.stated {
			local[name] = s.local
		}
		if s.original != nil {
			original[name] = s.original
		}
	}
	lists := map[string]list{}
	for _, k := range slices.Sorted(maps.Keys(v)) {
		below := at.Child(merge.Named(k))
		entries, isList := v[k].([]any)
		switch exclude := strings.TrimPrefix(k, schema.ExcludeDirective); {
		case k == schema.PatchDirective:
		case schema.IsDirective(k) && !isList:
			p.fail(below, "must be a list")
		case k == schema.RetainDirective:
			maps.Copy(original, p.retained(entries, v, was, below))
		case strings.HasPrefix(k, schema.OrderDirective): // see ordered
		case exclude != k:
			l := lists[exclude]
			l.exclude = entries
			lists[exclude] = l
		case isList:
			l := lists[k]
			l.entries, l.stated = entries, true
			lists[k] = l
		default:
			put(k, p.patchValue(v[k], was[k], t.Field(k).Type, below))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(lists)) {
		put(k, p.list(lists[k], was[k], t.Field(k).Type, at.Child(merge.Named(k))))
	}
	if len(original) == 0 {
		return sides{local: local, stated: true}
	}
	return sides{local: local, stated: true, original: original}
}

// retained returns dest's keys that $retainKeys does not name: original has to have it, so that it is removed.
func (p *patch) retained(names []any, v, was map[string]any, at merge.Path) map[string]any {
	for k := range v {
		if v[k] != nil && !schema.IsDirective(k) && !slices.Contains(names, any(k)) {
			p.fail(at, "does not name %s, which stands beside it", k)
		}
	}
	original := maps.Clone(was)
	maps.DeleteFunc(original, func(k string, _ any) bool { return slices.Contains(names, any(k)) })
	return original
}

// list is a patch's statement about one list.
type list struct {
	entries []any
	stated  bool // entries stand in the patch, if none
	exclude []any
}

func (p *patch) list(l list, dest any, t *merge.Type, at merge.Path) sides {
	was, _ := dest.([]any)
	whole, entries := p.wholeList(l.entries, at)
	l.entries = entries
	switch {
	case whole == "delete":
		return sides{stated: true, original: dest}
	case whole == "replace":
		return sides{local: nonNil(p.entries(l, nil, t, at).local), stated: true, original: dest}
	case t != nil && t.Kind == merge.Set:
		return p.set(l, was)
	case l.exclude != nil:
		return p.without(l, was, at)
	}
	return p.entries(l, was, t, at)
}

// wholeList finds the entry that holds a directive for the whole list, and nothing else.
func (p *patch) wholeList(entries []any, at merge.Path) (directive any, rest []any) {
	for i, e := range entries {
		m, ok := e.(map[string]any)
		if !ok || len(m) != 1 || m[schema.PatchDirective] == nil {
			rest = append(rest, e)
			continue
		}
		directive = m[schema.PatchDirective]
		if directive != "delete" && directive != "replace" && directive != "merge" {
			p.fail(at.Child(merge.Step{Kind: merge.IndexStep, Index: i}).Child(merge.Named(schema.PatchDirective)), "there are delete, replace and merge")
		}
	}
	return directive, rest
}

// set is a list of scalars that is merged by their values. Excluded values are removed
// as often as dest has them.
func (p *patch) set(l list, was []any) sides {
	s := sides{stated: l.stated}
	if l.stated {
		s.local = nonNil(l.entries)
	}
	if l.exclude != nil {
		s.original = nonNil(slices.DeleteFunc(slices.Clone(was), func(v any) bool { return !has(l.exclude, v) }))
	}
	return s
}

// without is a list of scalars that no schema merges, with values taken out and added.
func (p *patch) without(l list, was []any, at merge.Path) sides {
	local := slices.DeleteFunc(slices.Clone(was), func(v any) bool { return has(l.exclude, v) })
	for _, v := range l.entries {
		if _, ok := v.(map[string]any); ok {
			p.fail(at, "%s is for lists of scalars", schema.ExcludeDirective)
			return sides{}
		}
		if !has(local, v) {
			local = append(local, v)
		}
	}
	if len(local) == 0 && len(was) == 0 {
		return sides{}
	}
	return sides{local: nonNil(local), stated: true}
}

// entries reads a list of mappings, or any list without directives.
func (p *patch) entries(l list, was []any, t *merge.Type, at merge.Path) sides {
	keyed := t != nil && t.Kind == merge.Keyed
	var local, original []any
	for i, e := range l.entries {
		m, ok := e.(map[string]any)
		if !ok {
			local = append(local, e)
			continue
		}
		here := at.Child(merge.Step{Kind: merge.IndexStep, Index: i})
		found := directive(m)
		if found != nil && !keyed {
			p.fail(append(here, found...), "the keys of this list are not known: give a schema that has them (--schema), or rules (--rules)")
			continue
		}
		if m[schema.PatchDirective] == "delete" && len(stated(m, t)) == 0 {
			p.fail(append(here, found...), "the entry states none of its keys")
			continue
		}
		twins := matching(was, m, t)
		if m[schema.PatchDirective] == "delete" {
			original = append(original, twins...)
			continue
		}
		twin := merge.At[any](twins, "0")
		s := p.patchObject(m, twin, t.EntryType(), here)
		local = append(local, s.local)
		if s.original != nil {
			original = append(original, withKeys(s.original, twin, t))
		}
	}
	s := sides{stated: local != nil || l.stated && original == nil}
	if s.stated {
		s.local = nonNil(local)
	}
	if original != nil {
		s.original = original
	}
	return s
}

// stated are the keys of a list that an entry has.
func stated(e map[string]any, t *merge.Type) []merge.Key {
	if t == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.Keys), func(k merge.Key) bool { return e[k.Name] == nil })
}

// matching are the entries that have the keys which an entry of a patch states.
func matching(entries []any, of map[string]any, t *merge.Type) []any {
	keys := stated(of, t)
	if len(keys) == 0 {
		return nil
	}
	var out []any
	for _, e := range entries {
		m, _ := e.(map[string]any)
		if m != nil && !slices.ContainsFunc(keys, func(k merge.Key) bool { return !merge.Equal(cmp.Or(m[k.Name], k.Default), of[k.Name], nil) }) {
			out = append(out, e)
		}
	}
	return out
}

// withKeys is an entry with the keys of another one added.
func withKeys(e, from any, t *merge.Type) any {
	m, ok := e.(map[string]any)
	if !ok || t == nil {
		return e
	}
	keys, out := merge.At[map[string]any](from), maps.Clone(m)
	for _, k := range t.Keys {
		if v := keys[k.Name]; v != nil {
			out[k.Name] = v
		}
	}
	return out
}

func has(list []any, v any) bool {
	return slices.ContainsFunc(list, func(e any) bool { return merge.Equal(e, v, nil) })
}

// nonNil has a list without entries as such, and not as null.
func nonNil(list any) any {
	if entries, _ := list.([]any); entries != nil {
		return entries
	}
	return []any{}
}
