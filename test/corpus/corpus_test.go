package corpus

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
)

var update = flag.Bool("update", false, "write the outcomes into the cases")

func load(tb testing.TB) []Case {
	tb.Helper()
	cases, err := Load("cases")
	if err != nil {
		tb.Fatal(err)
	}
	return cases
}

// TestCases merges every case and compares the outcome to the letter.
func TestCases(t *testing.T) {
	for _, c := range load(t) {
		t.Run(c.Name, func(t *testing.T) {
			got, err := c.Outcome()
			if err != nil {
				t.Fatal(err)
			}
			want := c.Written()
			if *update && !maps.Equal(got, want) {
				if err := c.Update(got); err != nil {
					t.Fatal(err)
				}
				t.Logf("%s is written anew: read it before it is committed", c.file)
				return
			}
			for _, name := range outcomes {
				if d := cmp.Diff(want[name], got[name]); d != "" {
					t.Errorf("%s\nwhy: %s\n%s (-want +got):\n%s", c.Title, c.Why, name, d)
				}
			}
		})
	}
}

// TestLaws holds every case that is merged by our own rules to the laws. Under another
// policy than apply, or with rules, some values of local are not in the result, and an entry
// keeps the key that was set in live. Fields that only live has are kept under all of them.
func TestLaws(t *testing.T) {
	for _, c := range load(t) {
		if c.Input.Strategy.Name != strategy.Strategies[0].Name {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			sides, typ := c.prepared(), c.Type
			if typ == nil && c.Kind.Kind != "" { // every object has metadata
				typ = schema.Resource()
			}
			typ = c.Input.Rules.Shape(typ)
			p, err := c.engine(sides, c.Input.Policy.Name)
			if err != nil {
				t.Fatal(err)
			}
			found := laws.Soundness(sides.Live, p)
			m := laws.Merge{Triple: sides, Type: typ, Result: p.Result}
			for _, b := range m.Breaches() {
				if b.Law == laws.Kept && !m.Rekeyed(b.Path) || !c.exceptional() {
					found = append(found, b)
				}
			}
			if !c.exceptional() {
				_, more := laws.Hold(c.engine, sides, typ)
				found = append(found, more...)
			}
			for _, b := range found {
				t.Errorf("%s\nwhy: %s\n%s", c.Title, c.Why, b)
			}
		})
	}
}

// exceptional: local is not the only side that decides.
func (c Case) exceptional() bool {
	return c.Input.Policy.Name != "apply" || len(c.Input.Rules) > 0 || c.Kind.Kind == "ClusterRole"
}

// engine merges by the case's rules and kind.
func (c Case) engine(t merge.Triple, policy string) (merge.Plan, error) {
	in := c.Input
	in.Triple = t
	var err error
	if in.Policy, err = merge.PolicyNamed(policy); err != nil {
		return merge.Plan{}, err
	}
	out, err := strategy.Plan(in)
	return out.Plan, err
}

// twoNames states a pod's service account under both of its names, where one of them is
// stated: to the server they are one field.
func twoNames(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(m)+1)
	for k, e := range m {
		out[k] = twoNames(e)
	}
	for name, other := range map[string]string{"serviceAccount": "serviceAccountName", "serviceAccountName": "serviceAccount"} {
		if was, stated := m[name]; stated {
			if _, both := m[other]; !both {
				out[other] = was
			}
		}
	}
	return out
}

// prepared is the triple without what is not configuration, as the laws speak of
// it.
func (c Case) prepared() merge.Triple {
	t := c.Input.Triple
	t.Owners = nil // read from live
	t.Local, _ = lastapplied.Strip(lastapplied.Without(t.Local), c.Kind.HasStatus)
	t.Local = twoNames(lastapplied.WithoutNullAnnotations(lastapplied.FoldStringData(t.Local)))
	t.Live = lastapplied.Without(t.Live)
	if t.Original != nil {
		t.Original, _ = lastapplied.Strip(lastapplied.WithoutSet(lastapplied.Without(t.Original)), c.Kind.HasStatus)
		t.Original = named(twoNames(lastapplied.FoldStringData(t.Original)), t.Local)
	}
	return t
}

// named gives original the identity of local, which is no configuration.
func named(original, local any) any {
	out := maps.Clone(object(original))
	if out == nil || object(local) == nil {
		return original
	}
	meta := maps.Clone(object(out["metadata"]))
	if meta == nil {
		meta = map[string]any{}
	}
	for _, side := range []struct {
		to, from map[string]any
		names    []string
	}{{out, object(local), []string{"apiVersion", "kind"}}, {meta, object(object(local)["metadata"]), []string{"name", "namespace"}}} {
		for _, n := range side.names {
			if v, ok := side.from[n]; ok {
				side.to[n] = v
			} else {
				delete(side.to, n)
			}
		}
	}
	out["metadata"] = meta
	return out
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// TestCasesAreTold: a case says what it shows in words of its own.
func TestCasesAreTold(t *testing.T) {
	seen := map[string]string{}
	for _, c := range load(t) {
		if other, ok := seen[c.Title]; ok {
			t.Errorf("%s and %s have one title: %s", c.Name, other, c.Title)
		}
		seen[c.Title] = c.Name
	}
	t.Logf("%d cases", len(seen))
}

func BenchmarkMerge(b *testing.B) {
	cases := load(b)
	groups := map[string][]Case{}
	for _, c := range cases {
		group, _, _ := strings.Cut(c.Name, "/")
		groups[group] = append(groups[group], c)
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		b.Run(group, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, c := range groups[group] {
					if _, err := c.Merge(); err != nil && c.data("error") == nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(groups[group])), "µs/merge")
		})
	}
}
