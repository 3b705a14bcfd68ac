package strategy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/kustomize/kyaml/yaml/merge3"

	"github.com/kubectl-merge/kubectl-merge/internal/patch"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// deploymentText is a Deployment with n env entries as JSON. Two versions differ in
// tag.
func deploymentText(n int, tag string) []byte {
	env := make([]any, n)
	for i := range env {
		env[i] = map[string]any{"name": fmt.Sprintf("VARIABLE_%d", i), "value": tag}
	}
	text, _ := json.Marshal(map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "web", "namespace": "shop", "labels": map[string]any{"app": "web"}},
		"spec": map[string]any{"replicas": 3, "template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "web", "image": "web:" + tag, "env": env}},
		}}},
	}) // strings and numbers alone
	return text
}

// BenchmarkThreeWay merges three texts in which every entry of a list has changed, to
// a patch and a result as text: by us, by the library of kubectl apply, and by
// kustomize's.
func BenchmarkThreeWay(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 5000} {
		original, local, live := deploymentText(n, "1"), deploymentText(n, "2"), deploymentText(n, "1")
		want := any(nil)
		for _, by := range []struct {
			name string
			run  func() ([]byte, error)
		}{
			{"ours", func() ([]byte, error) { return ourThreeWay(original, local, live) }},
			{"apimachinery", func() ([]byte, error) { return apimachineryThreeWay(original, local, live) }},
			{"kyaml", func() ([]byte, error) {
				text, err := merge3.MergeStrings(string(live), string(original), string(local), true)
				return []byte(text), err
			}},
		} {
			if by.name == "kyaml" && n > 1000 {
				continue // its time grows with the square: minutes
			}
			b.Run(fmt.Sprintf("n=%d/%s", n, by.name), func(b *testing.B) {
				b.ReportAllocs()
				var text []byte
				for b.Loop() {
					var err error
					if text, err = by.run(); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				got, err := merge.ReadJSON(text)
				if err != nil {
					return // kyaml writes YAML
				}
				if want == nil {
					want = got
				}
				if !merge.Equal(got, want, nil) {
					b.Errorf("%s comes to another result", by.name)
				}
			})
		}
	}
}

func ourThreeWay(original, local, live []byte) ([]byte, error) {
	var sides [3]any
	for i, text := range [][]byte{original, local, live} {
		var err error
		if sides[i], err = merge.ReadJSON(text); err != nil {
			return nil, err
		}
	}
	typ, _ := schema.Builtin("apps", "v1", "Deployment")
	out, err := strategy.Plan(strategy.Input{
		Group: "apps", Version: "v1", Kind: "Deployment", Schema: typ, HasStatus: true, Policy: merge.Policies[0],
		Triple: merge.Triple{Original: sides[0], Local: sides[1], Live: sides[2]},
	})
	if err != nil {
		return nil, err
	}
	body, _ := patch.Merge(sides[2], out.Result)
	if _, err := encoded(body); err != nil {
		return nil, err
	}
	return encoded(out.Result)
}

func encoded(v any) ([]byte, error) {
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func apimachineryThreeWay(original, local, live []byte) ([]byte, error) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(appsv1.Deployment{})
	if err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(original, local, live, meta, true)
	if err != nil {
		return nil, err
	}
	return strategicpatch.StrategicMergePatchUsingLookupPatchMeta(live, patch, meta)
}
