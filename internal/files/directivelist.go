package files

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

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
			p.fail(append(at[:len(at):len(at)], merge.Step{Kind: merge.IndexStep, Index: i}, merge.Named(schema.PatchDirective)), "there are delete, replace and merge")
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
		here := append(at[:len(at):len(at)], merge.Step{Kind: merge.IndexStep, Index: i})
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
