package schema

import (
	"encoding/json"
	"os"
	"testing"

	"k8s.io/kube-openapi/pkg/spec3"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// BenchmarkOpenAPI reads a server's OpenAPI v3 document until types can be asked of
// it: by us from the whole document (once per server), from what is kept of it
// between runs (every time), and by the library that kubectl uses, which then has no
// types yet. kustomize's reads no OpenAPI v3.
func BenchmarkOpenAPI(b *testing.B) {
	text, err := os.ReadFile("testdata/openapi-crd.json")
	if err != nil {
		b.Fatal(err)
	}
	small, err := Distil(text)
	if err != nil {
		b.Fatal(err)
	}
	types := func(doc []byte) error {
		d, err := FromOpenAPI(doc, merge.SourceServer)
		if err != nil {
			return err
		}
		for _, k := range d.Kinds() {
			if _, err := d.Type(k.Group, k.Version, k.Kind); err != nil {
				return err
			}
		}
		return nil
	}
	for _, by := range []struct {
		name string
		run  func() error
	}{
		{"ours/distil", func() error { _, err := Distil(text); return err }},
		{"ours/whole", func() error { return types(text) }},
		{"ours/kept", func() error { return types(small) }},
		{"apimachinery", func() error { return json.Unmarshal(text, &spec3.OpenAPI{}) }},
	} {
		b.Run(by.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := by.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
