package merge

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRulesSettle: rules for the very paths of the conflicts that strict leaves
// give what the policy of that side gives.
func TestRulesSettle(t *testing.T) {
	t.Logf("seed %d, %d triples", *lawSeed, *lawCount)
	conflicts := 0
	for i := range *lawCount {
		g := generator{rand.New(rand.NewPCG(*lawSeed, uint64(i)))}
		o := g.value(thing, 3)
		in := Triple{Original: o, Local: g.edit(thing, o), Live: g.edit(thing, g.edit(thing, o))}
		for policy, choice := range map[string]Choice{"apply": TakeLocal, "live": TakeLive} {
			strict := named(t, "strict")
			for range 9 { // an answer may open other conflicts: a variant that goes lets its fields be looked at
				left := Three(in, thing, strict, false).Conflicts
				if conflicts += len(left); len(left) == 0 {
					break
				}
				for _, d := range left {
					at := d.Path.String()
					strict.Rules = append(strict.Rules, Rule{Match: func(p Path) bool { return p.String() == at }, Choice: choice})
				}
			}
			got, want := Three(in, thing, strict, false), Three(in, thing, named(t, policy), false)
			if len(got.Conflicts) > 0 || !sameEntries(got.Result, want.Result) {
				t.Fatalf("triple %d: answered %s, %d conflicts left\noriginal %s\nlocal    %s\nlive     %s\nresult   %s\nwant     %s", i, policy, len(got.Conflicts),
					show(t, o), show(t, in.Local), show(t, in.Live), show(t, got.Result), show(t, want.Result))
			}
		}
	}
	if conflicts == 0 {
		t.Error("no triple had a conflict: the test says nothing")
	}
}

// TestOriginalWins: the answer "as it was applied last" cannot be given where the
// value was not kept.
func TestOriginalWins(t *testing.T) {
	typ := &Type{Kind: Map, Elem: &Type{Kind: Scalar}}
	rule := Rule{Name: "a: original", Match: func(Path) bool { return true }, Choice: TakeOriginal}
	for _, tt := range []struct {
		why      string
		original any
		blanked  bool
		want     string
		left     int
	}{
		{"the value applied last comes back", map[string]any{"a": "old"}, false, `{"a":"old"}`, 0},
		{"it was empty", map[string]any{"a": ""}, false, `{"a":""}`, 0},
		{"it was not applied at all", map[string]any{}, false, `{}`, 0},
		{"it is not known: nothing is made up for it", map[string]any{"a": ""}, true, `{"a":"live"}`, 1},
	} {
		owners := ownedBy{"rival": map[string]any{"a": true}}
		p := Three(Triple{Original: tt.original, Local: map[string]any{"a": "new"}, Live: map[string]any{"a": "live"}, Owners: owners, Blanked: tt.blanked},
			typ, Policy{Name: "apply", Rules: []Rule{rule}}, false)
		if got := show(t, p.Result); got != tt.want || len(p.Conflicts) != tt.left {
			t.Errorf("%s: got %s and %d conflicts, want %s and %d", tt.why, got, len(p.Conflicts), tt.want, tt.left)
		}
	}
}

// sameEntries compares values, lists in any order: whose order a list has is the
// policy's say, and no rule's.
func sameEntries(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			if w, has := y[k]; !has || !sameEntries(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		rest := slices.Clone(y)
		for _, v := range x {
			i := slices.IndexFunc(rest, func(w any) bool { return sameEntries(v, w) })
			if i < 0 {
				return false
			}
			rest = slices.Delete(rest, i, i+1)
		}
		return true
	}
	return a == b
}
