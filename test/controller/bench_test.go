package controller

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/yaml"
)

// BenchmarkUnchanged: one reconciliation of a Deployment that is as desired, from the cache to the
// answer that nothing is to be written. The desired object is the stored one, since
// CreateOrUpdate and CreateOrPatch would write where a default is left out.
func BenchmarkUnchanged(b *testing.B) {
	s := start(b)
	c, err := cluster.New(s.Config, func(o *cluster.Options) {
		o.Scheme, o.Client = kinds(b), client.Options{Cache: &client.CacheOptions{Unstructured: true}}
	})
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		if err := c.Start(b.Context()); err != nil {
			b.Error(err)
		}
	}()
	text, err := yaml.YAMLToJSON([]byte(`{apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {app: web}}, template: ` + pod + `}}`))
	if err != nil {
		b.Fatal(err)
	}
	for _, w := range ways {
		desired := typed(b, c.GetScheme(), text)
		desired.SetNamespace("default")
		desired.SetName(strings.ToLower(strings.NewReplacer("/", "-", ", ", "-").Replace(w.name)))
		reconcile := w.make(b, c.GetClient())
		if err := reconcile(b.Context(), desired); err != nil {
			b.Fatal(err)
		}
		seen(b, c, []client.Object{desired})
		filled := empty(desired)
		if err := c.GetClient().Get(b.Context(), client.ObjectKeyFromObject(desired), filled); err != nil {
			b.Fatal(err)
		}
		assign(desired, filled)
		if err := reconcile(b.Context(), desired); err != nil { // applied whole
			b.Fatal(err)
		}
		seen(b, c, []client.Object{desired})
		b.Run(w.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := reconcile(b.Context(), desired); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
