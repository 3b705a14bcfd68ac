package sweep

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// TestRandomTriples holds the laws over random objects of every kind, edited at
// random. What fails is reported as small as it can be made, with the flags that make
// it again.
func TestRandomTriples(t *testing.T) {
	kinds := append(builtin(t), shapes(t)...)
	var bad failures
	n := random(t, *count, func(i int) {
		k := kinds[i%len(kinds)]
		in := gen.New(*seed, uint64(i)).Triple(k.Kind, k.typ)
		if found := broken(k.typ, in); len(found) > 0 {
			law := found[0].Law
			in = shrink(in, func(in merge.Triple) bool {
				for _, b := range broken(k.typ, in) {
					if b.Law == law {
						return true
					}
				}
				return false
			})
			bad.add("%s: triple %d of -sweep.seed=%d\n%v\n%s", k, i, *seed, broken(k.typ, in), spell(in))
		}
	})
	bad.report(t)
	t.Logf("seed %d, %d triples of %d kinds", *seed, n, len(kinds))
}

func broken(typ *merge.Type, in merge.Triple) []laws.Breach {
	_, found := laws.Hold(laws.Three(typ), in, typ)
	return found
}

// spell shows a triple.
func spell(in merge.Triple) string {
	s := ""
	for _, side := range []struct {
		name string
		v    any
	}{{"original", in.Original}, {"local", in.Local}, {"live", in.Live}} {
		b, err := json.Marshal(side.v)
		if err != nil {
			b = []byte(err.Error())
		}
		s += fmt.Sprintf("  %-8s %s\n", side.name, b)
	}
	if in.Owners != nil {
		s += "  with managedFields\n"
	}
	return s
}

// shrink takes away what it can of a triple that still fails.
func shrink(in merge.Triple, fails func(merge.Triple) bool) merge.Triple {
	for again := true; again; {
		again = false
		for _, side := range []*any{&in.Original, &in.Local, &in.Live} {
			was := *side
			for _, v := range smaller(was) {
				if *side = v; fails(in) {
					again = true
					break
				}
				*side = was
			}
		}
	}
	return in
}

// smaller lists values with one thing less.
func smaller(v any) []any {
	var out []any
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			out = append(out, but(v, k, nil, true))
			for _, s := range smaller(e) {
				out = append(out, but(v, k, s, false))
			}
		}
	case []any:
		for i, e := range v {
			out = append(out, append(append([]any{}, v[:i]...), v[i+1:]...))
			for _, s := range smaller(e) {
				l := append([]any{}, v...)
				l[i] = s
				out = append(out, l)
			}
		}
	}
	return out
}

func but(m map[string]any, k string, v any, gone bool) map[string]any {
	out := make(map[string]any, len(m))
	for n, e := range m {
		out[n] = e
	}
	if out[k] = v; gone {
		delete(out, k)
	}
	return out
}
