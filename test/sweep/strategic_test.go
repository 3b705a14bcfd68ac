package sweep

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// TestStrategic: --strategy=strategic gives what kubectl apply's library gives when
// it is called on the objects themselves, and refuses what the library refuses.
// What is no configuration (server-owned metadata, status) is left out of the
// triples, since there the two differ on purpose.
func TestStrategic(t *testing.T) {
	const each = 150
	compared, refused := 0, 0
	for _, gvk := range []kschema.GroupVersionKind{
		{Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "apps", Version: "v1", Kind: "StatefulSet"},
		{Group: "apps", Version: "v1", Kind: "DaemonSet"}, {Version: "v1", Kind: "Service"},
		{Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "ServiceAccount"},
		{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}, {Group: "batch", Version: "v1", Kind: "CronJob"},
		{Group: "batch", Version: "v1", Kind: "Job"}, {Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	} {
		kind, _ := schema.BuiltinKind(gvk.Group, gvk.Version, gvk.Kind)
		typ, ok := schema.Builtin(gvk.Group, gvk.Version, gvk.Kind)
		if !ok {
			t.Fatalf("no type for %s", gvk)
		}
		for n := range uint64(each) {
			tr := gen.New(1, n).Triple(kind, typ)
			tr.Original, tr.Local, tr.Live = configuration(tr.Original), configuration(tr.Local), configuration(tr.Live)
			if tr.Original == nil || tr.Live == nil {
				continue
			}
			object, err := scheme.Scheme.New(gvk)
			if err != nil {
				t.Fatal(err)
			}
			want, wantErr := byLibrary(tr, object)
			out, err := strategy.Plan(strategy.Input{
				Triple: tr, Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Schema: typ,
				Policy: merge.Policies[0], Strategy: "strategic", Struct: object,
			})
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("%s %d: ours %v, the library's %v", gvk.Kind, n, err, wantErr)
			}
			if err != nil {
				refused++
				continue
			}
			compared++
			if d := cmp.Diff(want, out.Result); d != "" {
				t.Fatalf("%s %d (-library +ours):\n%s", gvk.Kind, n, d)
			}
		}
	}
	t.Logf("%d results compared, %d refused by both", compared, refused)
	if compared < 500 {
		t.Errorf("only %d results compared", compared)
	}
}

// configuration keeps of an object what both ways look at alike.
func configuration(obj any) any {
	m, ok := obj.(map[string]any)
	if !ok {
		return nil
	}
	out := map[string]any{"metadata": map[string]any{"name": "a"}}
	for k, v := range m {
		if k != "metadata" && k != "status" {
			out[k] = v
		}
	}
	delete(out, "apiVersion")
	delete(out, "kind")
	return out
}

func byLibrary(tr merge.Triple, object any) (any, error) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(object)
	if err != nil {
		return nil, err
	}
	var text [3][]byte
	for i, side := range []any{tr.Original, tr.Local, tr.Live} {
		if text[i], err = json.Marshal(side); err != nil {
			return nil, err
		}
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(text[0], text[1], text[2], meta, true)
	if err != nil {
		return nil, err
	}
	result, err := strategicpatch.StrategicMergePatch(text[2], patch, object)
	if err != nil {
		return nil, err
	}
	return merge.ReadJSON(result)
}
