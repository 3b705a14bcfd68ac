package gen

import "github.com/kubectl-merge/kubectl-merge/pkg/merge"

// KeyedSides are the edits of a keyed list whose entries a, b, c and x are known:
// a and b were applied, c is local's, x is another manager's. own is a field of
// entries that local changes, theirs one that others set; "" where entries have
// none to spare. Changed, Set and Twin are for those who need legal values: what
// own is changed to, what theirs is set to, and a with another key in place of a
// default; nil makes them up.
type KeyedSides struct {
	Type         *merge.Type
	A, B, C, X   map[string]any
	Own, Theirs  string
	Changed, Set any
	Twin         map[string]any
}

func keyedSides(t *merge.Type) []Sides {
	k := KeyedSides{Type: t}
	k.Own, k.Theirs = spare(t)
	made := func(n int) map[string]any {
		e := map[string]any{}
		if k.Own != "" {
			e[k.Own] = sample(t.Elem.Fields[k.Own].Type)
		}
		return identified(t, e, n)
	}
	k.A, k.B, k.C, k.X = made(0), made(1), made(2), made(3)
	return k.All()
}

// All lists the edits.
func (k KeyedSides) All() []Sides {
	a, b, c, x := k.A, k.B, k.C, k.X
	ab := list(a, b)
	all := []Sides{
		{"created", none, ab, none},
		{"unchanged", ab, ab, ab},
		{"added last", ab, list(a, b, c), ab},
		{"added first", ab, list(c, a, b), ab},
		{"removed", ab, list(a), ab},
		{"removed first", ab, list(b), ab},
		{"reordered", ab, list(b, a), ab},
		{"reordered by others", ab, ab, list(b, a)},
		{"reordered around others", ab, list(b, a), list(a, x, b)},
		{"others' entry last", ab, ab, list(a, b, x)},
		{"others' entry first", ab, ab, list(x, a, b)},
		{"others' entry between, one added", ab, list(a, c, b), list(a, x, b)},
		{"removed before others' entry", ab, list(a), list(a, b, x)},
		{"removed by others", ab, ab, list(b)},
		{"all removed by others", ab, ab, none},
		{"emptied by others", ab, ab, list()},
		{"given up", ab, none, ab},
		{"given up beside others' entry", ab, none, list(a, x, b)},
		{"emptied beside others' entry", ab, list(), list(a, x, b)},
		{"null beside others' entry", ab, merge.Opt{Set: true}, list(a, x, b)},
		{"never applied, others have it", none, list(a), list(b, x)},
		{"live's alone", none, none, list(a, x)},
		{"added by both", list(a), list(a, c), list(a, c)},
		{"repeated in local", ab, list(a, b, a), ab},
		{"repeated everywhere", list(a, b, a), list(a, b, a), list(a, b, a)},
		{"repetition cleaned up", list(a, b, a), ab, list(a, b, a)},
		{"repeated by others", ab, ab, list(a, a, b)},
		{"repetition given up", list(a, a, b), none, list(a, a, b, x)},
		{"repetition reordered around others", list(a, b, a), list(b, a, a), list(x, a, b, a)},
	}
	all = append(all, k.fields()...)
	return append(all, k.identity()...)
}

// fields edits what entries have besides their keys.
func (k KeyedSides) fields() []Sides {
	a, b := k.A, k.B
	ab := list(a, b)
	var all []Sides
	if own := k.Own; own != "" {
		changed := k.Changed
		if changed == nil {
			changed = otherValue(k.elem(own), a[own])
		}
		a2, a3 := with(a, own, changed), with(a, own, nil)
		gone := without(a, own)
		all = append(all,
			Sides{"changed", ab, list(a2, b), ab},
			Sides{"changed, drift beside it", ab, list(a2, b), list(a, with(b, own, changed))},
			Sides{"changed by others", ab, ab, list(a2, b)},
			Sides{"changed by both alike", ab, list(a2, b), list(a2, b)},
			Sides{"field given up", ab, list(gone, b), ab},
			Sides{"field null", ab, list(a3, b), ab},
			Sides{"field removed by others", ab, ab, list(gone, b)},
			Sides{"removed after others changed it", list(b, a), list(b), list(b, a2)},
			Sides{"repeated with other values", list(a, a2), list(a, a2), list(a, a2)},
			Sides{"one of repeated changes", list(a, b, a2), list(a, with(b, own, changed), a2), list(a, b, a2)},
			Sides{"others repeat with other values", ab, ab, list(a, a2, b)},
		)
	}
	if theirs := k.Theirs; theirs != "" {
		v := k.Set
		if v == nil {
			v = sample(k.elem(theirs))
		}
		at := with(a, theirs, v)
		all = append(all,
			Sides{"others' field", ab, ab, list(at, b)},
			Sides{"others' field, reordered", ab, list(b, a), list(at, b)},
			Sides{"others' field, entry removed", ab, list(b), list(at, b)},
			Sides{"others' field, null", ab, list(with(a, theirs, nil), b), list(at, b)},
			Sides{"others' field, list given up", ab, none, list(at, b)},
			Sides{"others' field, repeated", list(a, a, b), list(a, a, b), list(at, a, b)},
		)
	}
	return all
}

// identity edits keys: defaults written and left out, keys that are missing.
func (k KeyedSides) identity() []Sides {
	a, b, x := k.A, k.B, k.X
	var all []Sides
	for _, key := range k.Type.Keys {
		if key.Default == nil {
			loose := without(a, key.Name)
			all = append(all,
				Sides{"key missing, " + key.Name, list(loose, b), list(loose, b), list(loose, b)},
				Sides{"key missing in local, " + key.Name, list(b), list(b, loose), list(b, x)},
				Sides{"key missing beside others' entry, " + key.Name, list(loose), list(loose), list(loose, x)},
			)
			continue
		}
		written, twin := with(a, key.Name, key.Default), k.Twin
		if twin == nil {
			twin = with(a, key.Name, otherValue(nil, key.Default))
		}
		all = append(all,
			Sides{"default written out, " + key.Name, list(a, b), list(written, b), list(written, b)},
			Sides{"default left out, " + key.Name, list(written, b), list(a, b), list(written, b)},
			Sides{"default as the server fills it in, " + key.Name, list(a), list(a), list(written, x)},
			Sides{"a twin comes, " + key.Name, list(a), list(twin, a), list(written)},
			Sides{"a twin goes, " + key.Name, list(a, twin), list(twin), list(written, twin)},
			Sides{"others' twin, " + key.Name, list(a), list(a), list(twin, written)},
		)
	}
	return all
}

func (k KeyedSides) elem(name string) *merge.Type {
	if k.Type.Elem == nil {
		return nil
	}
	return k.Type.Elem.Fields[name].Type
}

// spare finds two fields of entries that are no keys, in no one-of group, and
// scalars if possible.
func spare(t *merge.Type) (own, theirs string) {
	if t.Elem == nil || t.Elem.Kind != merge.Object {
		return "", ""
	}
	taken := map[string]bool{}
	for _, k := range t.Keys {
		taken[k.Name] = true
	}
	for _, g := range t.Elem.OneOf {
		taken[g.Discriminator] = true
		for _, name := range g.Fields {
			taken[name] = true
		}
	}
	var found []string
	for _, scalars := range []bool{true, false} {
		for _, name := range sortedFields(t.Elem) {
			f := t.Elem.Fields[name].Type
			if !taken[name] && (f == nil || f.Kind == merge.Scalar) == scalars {
				found = append(found, name)
			}
		}
	}
	found = append(found, "", "")
	return found[0], found[1]
}
