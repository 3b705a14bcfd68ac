package sweep

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	types "github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
	"github.com/kubectl-merge/kubectl-merge/test/part"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

var (
	seed   = flag.Uint64("sweep.seed", 1, "seed of the random triples")
	count  = flag.Int("sweep.n", 100000, "number of random triples")
	update = flag.Bool("update", false, "write the differences to kubectl's library anew")
)

// kind is a kind with its type.
type kind struct {
	types.Kind
	typ    *merge.Type
	object any // a value of its compiled-in Go type, nil where there is none
}

func (k kind) String() string { return k.Group + "/" + k.Version + " " + k.Kind.Kind }

// builtin are the built-in kinds.
func builtin(t testing.TB) []kind {
	t.Helper()
	var all []kind
	for _, k := range types.BuiltinKinds() {
		typ, ok := types.Builtin(k.Group, k.Version, k.Kind)
		if !ok {
			t.Fatalf("%s/%s %s has no type", k.Group, k.Version, k.Kind)
		}
		one := kind{Kind: k, typ: typ}
		if o, err := scheme.Scheme.New(schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}); err == nil {
			one.object = o
		}
		all = append(all, one)
	}
	return all
}

// shapes are the custom resources of testdata/shapes.
func shapes(t testing.TB) []kind {
	t.Helper()
	files, err := filepath.Glob("testdata/shapes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no shapes: %v", err)
	}
	var all []kind
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		docs, err := source.Decode(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, d := range docs {
			defs, err := types.FromCRD(d.Value, merge.SourceFile)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, def := range defs {
				all = append(all, kind{Kind: def.Kind, typ: def.Type})
			}
		}
	}
	return all
}

// failures keeps the first few, and counts all of them.
type failures struct {
	mu    sync.Mutex
	n     int
	first []string
	ways  map[string]int
}

func (f *failures) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; f.n <= 8 {
		f.first = append(f.first, fmt.Sprintf(format, args...))
	}
}

// more: few enough have failed in that way for another one to be looked into.
func (f *failures) more(way string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ways == nil {
		f.ways = map[string]int{}
	}
	f.ways[way]++
	return f.ways[way] <= 3
}

func (f *failures) report(t *testing.T) {
	t.Helper()
	for _, text := range f.first {
		t.Error(text)
	}
	if f.n > len(f.first) {
		t.Errorf("and %d more", f.n-len(f.first))
	}
}

// random does a job for those of n random situations that are in the part that is played (see
// test/part), and gives their number.
func random(t *testing.T, n int, job func(int)) (played int) {
	t.Helper()
	from, to := part.Chosen(t).Of(n)
	each(to-from, func(i int) { job(from + i) })
	return to - from
}

// each does a job for every number below n, on all processors.
func each(n int, job func(int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				job(i)
			}
		})
	}
	wait.Wait()
}

// swept is one merge of the sweep.
type swept struct {
	kind
	place  string
	name   string
	triple merge.Triple
}

func (s swept) String() string { return fmt.Sprintf("%s: %s: %s", s.kind, s.place, s.name) }

// at lists every edit at a place.
func (k kind) at(p gen.Place) []swept {
	out := k.branches(p)
	for _, s := range p.Sides() {
		one := swept{kind: k, place: p.String(), name: s.Name, triple: merge.Triple{
			Original: p.Wrap(k.typ, s.Original), Local: p.Wrap(k.typ, s.Local), Live: p.Wrap(k.typ, s.Live),
		}}
		out = append(out, one)
		if s.Name == "created" {
			one.name, one.triple.Original, one.triple.Live = "created whole", nil, nil
			out = append(out, one)
		}
	}
	return out
}

// branches gives up what the place is in, one level after the other, where others
// have put something at the place.
func (k kind) branches(p gen.Place) []swept {
	var out []swept
	for _, s := range p.Sides() {
		if !strings.Contains(s.Name, "others' entry last") && !strings.Contains(s.Name, "others' member") && s.Name != "others' key" && s.Name != "unchanged" {
			continue
		}
		for n := 1; n < len(p.Names); n++ {
			up := gen.Place{Names: p.Names[:n]}
			out = append(out, swept{kind: k, place: p.String(), name: fmt.Sprintf("%s, %s given up", s.Name, up), triple: merge.Triple{
				Original: p.Wrap(k.typ, s.Original), Local: up.Wrap(k.typ, merge.Opt{}), Live: p.Wrap(k.typ, s.Live),
			}})
		}
	}
	return out
}

// TestEveryPlace merges every edit of every list, map, atomic value and one-of
// group of every built-in kind, and of custom resources of many shapes.
func TestEveryPlace(t *testing.T) {
	for name, kinds := range map[string][]kind{"built-in kinds": builtin(t), "custom resources": shapes(t)} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			var bad failures
			var lists, places, merges atomic.Int64
			played := part.Chosen(t)
			each(len(kinds), func(i int) {
				k := kinds[i]
				for n, p := range gen.Places(k.typ) {
					if !played.Has(i + n) {
						continue
					}
					places.Add(1)
					if kind := p.Field.Type.Kind; kind == merge.Keyed || kind == merge.Set {
						lists.Add(1)
					}
					for _, s := range k.at(p) {
						merges.Add(1)
						_, found := laws.Hold(laws.Three(k.typ), s.triple, k.typ)
						for _, b := range found {
							bad.add("%s\n%s\n%s", s, b, spell(s.triple))
						}
					}
				}
			})
			bad.report(t)
			t.Logf("%d %s: %d merging lists among %d places, %d merges", len(kinds), name, lists.Load(), places.Load(), merges.Load())
		})
	}
}
