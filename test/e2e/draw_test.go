package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/test/part"
)

// soak makes the tests that draw at random, or that repeat, longer by this factor.
var soak = flag.Int("soak", 1, "play the random and repeated tests this many times as long")

// seedFlag repeats a run.
var seedFlag = flag.Uint64("seed", 0, "seed of what is drawn at random (0: that of the part which is played, see ../part; with -soak another one each time, which is logged)")

// seed is the run's, reported so that a failure can be played again.
func seed(t *testing.T) uint64 {
	t.Helper()
	n := *seedFlag
	if n == 0 && *soak == 1 {
		n = part.Chosen(t).Seed()
	}
	for n == 0 {
		n = uint64(rand.Uint32())
	}
	t.Logf("seed %d (play it again with -seed=%d)", n, n)
	return n
}

// templates reads testdata/kinds; its README.md has the language.
func templates(t *testing.T) []any {
	t.Helper()
	return templatesIn(t, "testdata/kinds/*.yaml")
}

func templatesIn(t *testing.T, pattern string) []any {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no templates of kinds: %v", err)
	}
	var all []any
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for doc := range bytes.SplitSeq(text, []byte("\n---\n")) {
			v, err := decode(doc)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			all = append(all, v)
		}
	}
	return all
}

// draw makes manifests of one object from a template.
type draw struct {
	t     *testing.T
	rand  *rand.Rand
	fixed uint64 // chooses among $fixed: the same for all draws of one object
	words *strings.Replacer
}

// newDraw draws for one object; n numbers its draws.
func newDraw(t *testing.T, seed uint64, name, ns string, n uint64) *draw {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, name)
	return &draw{
		t:     t,
		rand:  rand.New(rand.NewPCG(h.Sum64(), n)),
		fixed: h.Sum64(),
		words: strings.NewReplacer("$NAME", name, "$NS", ns),
	}
}

// none is the value of a $maybe without a value.
type none struct{}

func (d *draw) from(template any, path string) any {
	switch v := template.(type) {
	case string:
		return d.words.Replace(v)
	case []any:
		return d.list(v, path)
	case map[string]any:
		if len(v) == 1 {
			for word, choices := range v {
				if strings.HasPrefix(word, "$") {
					return d.choose(word, choices, path)
				}
			}
		}
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if got := d.from(v[name], path+"."+name); got != (none{}) {
				out[name] = got
			}
		}
		return out
	}
	return template
}

func (d *draw) list(entries []any, path string) []any {
	out := []any{}
	for i, entry := range entries {
		if got := d.from(entry, fmt.Sprintf("%s[%d]", path, i)); !isNone(got) {
			out = append(out, got)
		}
	}
	return out
}

func isNone(v any) bool { _, ok := v.(none); return ok }

func (d *draw) choose(word string, choices any, path string) any {
	if word == "$maybe" {
		if d.rand.IntN(2) == 0 {
			return none{}
		}
		return d.from(choices, path)
	}
	list, ok := choices.([]any)
	if !ok || len(list) == 0 {
		d.t.Errorf("a template's %s has no choices at %s", word, path)
		return none{}
	}
	switch word {
	case "$one":
		return d.from(list[d.rand.IntN(len(list))], path)
	case "$fixed":
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %s", d.fixed, path)
		return d.from(list[h.Sum64()%uint64(len(list))], path)
	case "$mixed":
		list = slices.Clone(list)
		d.rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	case "$some":
	default:
		d.t.Errorf("a template's %s at %s is no such word", word, path)
		return none{}
	}
	var some []any
	for _, entry := range list {
		if d.rand.IntN(3) > 0 {
			some = append(some, entry)
		}
	}
	return d.list(some, path)
}

// object is one manifest that was drawn.
type object struct {
	value map[string]any
	ref   string // deployment.apps/a0, as kubectl says it
}

func kindOf(v map[string]any) (group, kind string) {
	apiVersion, _ := v["apiVersion"].(string)
	if g, _, ok := strings.Cut(apiVersion, "/"); ok {
		group = g
	}
	kind, _ = v["kind"].(string)
	return group, kind
}

func drawn(value any) object {
	v := value.(map[string]any)
	meta := v["metadata"].(map[string]any)
	group, kind := kindOf(v)
	ref := strings.ToLower(kind)
	if group != "" {
		ref += "." + group
	}
	return object{value: v, ref: ref + "/" + meta["name"].(string)}
}

// document writes objects as a manifest; JSON is YAML.
func document(t *testing.T, objects ...object) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, o := range objects {
		text, err := json.MarshalIndent(o.value, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("---\n")
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// TestDraw holds the language of the templates to its README.
func TestDraw(t *testing.T) {
	template, err := decode([]byte(`{one: {$one: [1, 2]}, fixed: {$fixed: [1, 2]}, some: {$some: [1, 2, 3]}, mixed: {$mixed: [1, 2, 3]}, may: {$maybe: 1}, name: $NAME}`))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[string]bool{}
	for n := range uint64(200) {
		got := newDraw(t, 1, "x", "n", n).from(template, "").(map[string]any)
		for field, v := range got {
			if seen[field] == nil {
				seen[field] = map[string]bool{}
			}
			seen[field][short(v)] = true
		}
		if a, b := newDraw(t, 1, "x", "n", n).from(template, ""), any(got); short(a) != short(b) {
			t.Fatalf("the same draw gives %s and %s", short(a), short(b))
		}
	}
	for field, want := range map[string]int{"one": 2, "fixed": 1, "some": 8, "mixed": 16, "may": 1, "name": 1} {
		if len(seen[field]) != want {
			t.Errorf("%s: %d values in 200 draws, want %d: %v", field, len(seen[field]), want, seen[field])
		}
	}
	if !seen["name"][`"x"`] {
		t.Errorf("name: %v", seen["name"])
	}
}
