package yamldoc

import (
	"fmt"
	"strings"
	"testing"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

// deployment has n containers with one env entry each.
func deployment(n int, tag string) []byte {
	var b strings.Builder
	b.WriteString("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers:\n")
	for i := range n {
		fmt.Fprintf(&b, "      - name: c%d # comment\n        image: img%d:%s\n        env:\n        - name: A\n          value: \"x\"\n", i, i, tag)
	}
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		text := deployment(n, "1")
		b.Run(fmt.Sprintf("containers=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEdit(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		dest, err := Parse(deployment(n, "1"))
		if err != nil {
			b.Fatal(err)
		}
		source, err := Parse(deployment(n, "2"))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("containers=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := dest.docs[0].Edit(Edit{Want: source.docs[0].Value(), Type: byName(), Sources: []*Document{source.docs[0]}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRoundTrip reads a text and writes it again: by us, by kustomize's library,
// which keeps comments too, and by apimachinery's, which loses them.
func BenchmarkRoundTrip(b *testing.B) {
	for _, n := range []int{10, 1000} {
		text := deployment(n, "1")
		for _, by := range []struct {
			name string
			run  func() error
		}{
			{"ours", func() error {
				f, err := Parse(text)
				if err == nil && string(f.Assemble(nil, nil)) != string(text) {
					err = fmt.Errorf("the text is another one")
				}
				return err
			}},
			{"kyaml", func() error {
				node, err := kyaml.Parse(string(text))
				if err == nil {
					_, err = node.String()
				}
				return err
			}},
			{"apimachinery", func() error {
				var v any
				if err := yaml.Unmarshal(text, &v); err != nil {
					return err
				}
				_, err := yaml.Marshal(v)
				return err
			}},
		} {
			b.Run(fmt.Sprintf("containers=%d/%s", n, by.name), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if err := by.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
