package gen

import (
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// oneOfSides edits the variants of every group of an object: from each to the
// next, and by the discriminator.
func oneOfSides(t *merge.Type) []Sides {
	var all []Sides
	for _, g := range t.OneOf {
		for i, from := range g.Fields {
			to := g.Fields[(i+1)%len(g.Fields)]
			if from != to {
				all = append(all, variants(t, from, to)...)
			}
		}
		if g.Discriminator != "" {
			all = append(all, discriminated(t, g)...)
		}
	}
	return all
}

func variants(t *merge.Type, from, to string) []Sides {
	f := sample(t.Fields[from].Type)
	a := map[string]any{from: f}
	b := map[string]any{to: sample(t.Fields[to].Type)}
	a2 := map[string]any{from: otherValue(t.Fields[from].Type, f)}
	o := func(m map[string]any) merge.Opt { return merge.Some(m) }
	name := from + " to " + to + ", "
	return []Sides{
		{name + "applied", o(a), o(b), o(a)},
		{name + "never applied", none, o(b), o(a)},
		{name + "set by others", o(b), o(b), o(a)},
		{name + "changed by others too", o(a), o(b), o(a2)},
		{name + "given up", o(a), o(map[string]any{}), o(a)},
		{name + "object given up", o(a), none, o(b)},
		{name + "both in local", o(a), o(both(a, b)), o(a)},
	}
}

// discriminated edits by the field that says which variant is meant.
func discriminated(t *merge.Type, g merge.OneOf) []Sides {
	var all []Sides
	o := func(m map[string]any) merge.Opt { return merge.Some(m) }
	d := g.Discriminator
	for _, word := range slices.Sorted(maps.Keys(g.Selects)) {
		field := g.Selects[word]
		full := map[string]any{d: word, field: sample(t.Fields[field].Type)}
		only := map[string]any{field: full[field]}
		another := map[string]any{d: "Other"}
		name := d + " " + word + ", "
		all = append(all,
			Sides{name + "given up", o(full), o(map[string]any{}), o(full)},
			Sides{name + "type given up", o(full), o(only), o(full)},
			Sides{name + "to another", o(full), o(another), o(full)},
			Sides{name + "to another, never applied", none, o(another), o(full)},
			Sides{name + "from another", o(another), o(full), o(another)},
			Sides{name + "from another, type given up", o(another), o(only), o(another)},
			Sides{name + "another set by others", o(only), o(only), o(another)},
			Sides{name + "set by others", o(another), o(another), o(full)},
			Sides{name + "type alone", o(map[string]any{d: word}), o(map[string]any{d: word}), o(full)},
		)
	}
	return all
}

func both(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}
