package sweep

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/corpus"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// The laws of a merge, and what fuzzes them: wanted, gone, kept, settled, sound,
// gentle and same are all of laws.Hold, in FuzzMerge and FuzzEdits; agrees is
// FuzzAgrees; silent is FuzzSilent.

// FuzzMerge holds the laws for whatever three documents are called an object of a
// kind. Its seeds are the corpus.
func FuzzMerge(f *testing.F) {
	kinds := append(builtin(f), shapes(f)...)
	cases, err := corpus.Load("../corpus/cases")
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		at := slices.IndexFunc(kinds, func(k kind) bool {
			return k.Group == c.Kind.Group && k.Version == c.Kind.Version && k.Kind.Kind == c.Kind.Kind
		})
		if at < 0 {
			continue
		}
		var sides [3][]byte
		t := c.Input.Triple
		for i, side := range []any{t.Original, t.Local, t.Live} {
			if sides[i], err = json.Marshal(side); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(uint(at), sides[0], sides[1], sides[2])
	}
	f.Fuzz(func(t *testing.T, n uint, original, local, live []byte) {
		k := kinds[n%uint(len(kinds))]
		var in merge.Triple
		for _, side := range []struct {
			text []byte
			v    *any
		}{{original, &in.Original}, {local, &in.Local}, {live, &in.Live}} {
			v, err := merge.ReadJSON(side.text)
			if _, isObject := v.(map[string]any); err != nil || v != nil && !isObject {
				return
			}
			*side.v = v
		}
		if in.Local == nil {
			return
		}
		for _, b := range broken(k.typ, in) {
			t.Errorf("%s: %s\n%s", k, b, spell(in))
		}
	})
}

// FuzzEdits holds the laws for random edits of random objects.
func FuzzEdits(f *testing.F) {
	kinds := append(builtin(f), shapes(f)...)
	f.Add(uint(0), uint64(1), uint64(1))
	f.Fuzz(func(t *testing.T, n uint, seed, series uint64) {
		k := kinds[n%uint(len(kinds))]
		in := gen.New(seed, series).Triple(k.Kind, k.typ)
		for _, b := range broken(k.typ, in) {
			t.Errorf("%s: %s\n%s", k, b, spell(in))
		}
	})
}

// FuzzAgrees compares with kubectl's library: where that keeps the laws and the
// outcome is another one, the difference has to have a rule.
func FuzzAgrees(f *testing.F) {
	kinds := slices.DeleteFunc(builtin(f), func(k kind) bool { return k.object == nil })
	f.Add(uint(0), uint64(1), uint64(1))
	f.Fuzz(func(t *testing.T, n uint, seed, series uint64) {
		k := kinds[n%uint(len(kinds))]
		in := gen.New(seed, series).Triple(k.Kind, k.typ)
		if in.Live == nil {
			return
		}
		a := agreement{rules: map[string]int{}}
		a.compare(k, in, k.String())
		for _, text := range a.unexplained {
			t.Error(text)
		}
	})
}
