package files

import (
	"fmt"
	"strings"
	"testing"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/kustomize/kyaml/yaml/merge2"
	"sigs.k8s.io/kustomize/kyaml/yaml/merge3"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// sizes are containers, or env entries of one container.
var sizes = []int{10, 100, 1000, 5000}

// shapes are a Deployment with n containers of one env entry each, and one with n
// env entries. Two versions differ in tag.
var shapes = []struct {
	name string
	text func(n int, tag string) string
}{
	{"containers", func(n int, tag string) string {
		b := head()
		for i := range n {
			fmt.Fprintf(b, "      - name: c%d # comment\n        image: img%d:%s\n        env:\n        - name: A\n          value: \"x\"\n", i, i, tag)
		}
		return b.String()
	}},
	{"env", func(n int, tag string) string {
		b := head()
		b.WriteString("      - name: c # comment\n        image: img\n        env:\n")
		for i := range n {
			fmt.Fprintf(b, "        - name: E%d\n          value: \"%s\"\n", i, tag)
		}
		return b.String()
	}},
}

func head() *strings.Builder {
	var b strings.Builder
	b.WriteString("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers:\n")
	return &b
}

// BenchmarkMerge2 is a merge of two texts in which every entry differs, from text
// to text, by us and by kyaml.
func BenchmarkMerge2(b *testing.B) {
	run(b, func(b *testing.B, text func(string) string) {
		source, dest := text("2"), text("1")
		for b.Loop() {
			bench(b, Job{Updated: mustSet(b, source), Dest: mustSet(b, dest), Policy: TwoWay, Schema: builtin, Infer: true})
		}
	}, func(b *testing.B, text func(string) string) {
		source, dest := text("2"), text("1")
		for b.Loop() {
			if _, err := merge2.MergeStrings(source, dest, true, kyaml.MergeOptions{ListIncreaseDirection: kyaml.MergeOptionsListAppend}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMerge3 is the same three ways.
func BenchmarkMerge3(b *testing.B) {
	policy, err := merge.PolicyNamed("merge3")
	if err != nil {
		b.Fatal(err)
	}
	run(b, func(b *testing.B, text func(string) string) {
		original, updated, dest := text("1"), text("2"), text("1")
		for b.Loop() {
			bench(b, Job{Original: mustSet(b, original), Updated: mustSet(b, updated), Dest: mustSet(b, dest), Policy: policy, Schema: builtin, Infer: true})
		}
	}, func(b *testing.B, text func(string) string) {
		original, updated, dest := text("1"), text("2"), text("1")
		for b.Loop() {
			if _, err := merge3.MergeStrings(dest, original, updated, true); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func run(b *testing.B, ours, kyaml func(*testing.B, func(string) string)) {
	for _, shape := range shapes {
		for _, n := range sizes {
			text := func(tag string) string { return shape.text(n, tag) }
			b.Run(fmt.Sprintf("%s/n=%d/ours", shape.name, n), func(b *testing.B) { ours(b, text) })
			b.Run(fmt.Sprintf("%s/n=%d/kyaml", shape.name, n), func(b *testing.B) { kyaml(b, text) })
		}
	}
}

func bench(b *testing.B, j Job) {
	out, err := Merge(j)
	if err != nil {
		b.Fatal(err)
	}
	if len(out.Files) != 1 {
		b.Fatalf("%d files", len(out.Files))
	}
}

// BenchmarkConflicts is a merge of 5,000 containers of which 72 have another image on each side.
func BenchmarkConflicts(b *testing.B) {
	policy, err := merge.PolicyNamed("diff3")
	if err != nil {
		b.Fatal(err)
	}
	side := func(tag string) string {
		all := shapes[0].text(5000, "1")
		for i := 0; i < 5000; i += 70 {
			all = strings.Replace(all, fmt.Sprintf("img%d:1\n", i), fmt.Sprintf("img%d:%s\n", i, tag), 1)
		}
		return all
	}
	original, updated, dest := side("1"), side("2"), side("3")
	for b.Loop() {
		bench(b, Job{Original: mustSet(b, original), Updated: mustSet(b, updated), Dest: mustSet(b, dest), Policy: policy, Schema: builtin, Infer: true})
	}
}
