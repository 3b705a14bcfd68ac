package strategy

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

var read = values.Read

func planned(t *testing.T, gvk [3]string, original, local, live string) Output {
	t.Helper()
	typ, ok := schema.Builtin(gvk[0], gvk[1], gvk[2])
	if !ok {
		t.Fatalf("no type for %v", gvk)
	}
	policy, err := merge.PolicyNamed("apply")
	if err != nil {
		t.Fatal(err)
	}
	out, err := Plan(Input{
		Triple: merge.Triple{Original: read(t, original), Local: read(t, local), Live: read(t, live), Appliers: []string{"kubectl-client-side-apply"}},
		Group:  gvk[0], Version: gvk[1], Kind: gvk[2], Schema: typ, HasStatus: true, Policy: policy,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPlan(t *testing.T) {
	configMap := [3]string{"", "v1", "ConfigMap"}
	secret := [3]string{"", "v1", "Secret"}
	clusterRole := [3]string{"rbac.authorization.k8s.io", "v1", "ClusterRole"}
	for _, c := range []struct {
		reason                string
		gvk                   [3]string
		original, local, live string
		want                  string
		ignored, undecided    int
	}{
		{
			reason: "clearing all labels leaves the object in its set", gvk: configMap,
			original: `{"metadata":{"name":"a","labels":{"applyset.kubernetes.io/part-of":"x","team":"a"}}}`,
			local:    `{"metadata":{"name":"a","labels":null}}`,
			live:     `{"metadata":{"name":"a","labels":{"applyset.kubernetes.io/part-of":"x","team":"a"}}}`,
			want:     `{"metadata":{"labels":{"applyset.kubernetes.io/part-of":"x"},"name":"a"}}`,
		},
		{
			reason: "server-owned metadata in an exported file is no configuration", gvk: configMap,
			local: `{"metadata":{"name":"a","resourceVersion":"1","uid":"x"},"data":{"a":"2"}}`,
			live:  `{"metadata":{"name":"a","resourceVersion":"2","uid":"x"},"data":{"a":"1"}}`,
			want:  `{"data":{"a":"2"},"metadata":{"name":"a","resourceVersion":"2","uid":"x"}}`, ignored: 2,
		},
		{
			reason: "a key that moves from stringData to data is the same key", gvk: secret,
			original: `{"kind":"Secret","metadata":{"name":"a"},"stringData":{"p":"x"}}`, local: `{"kind":"Secret","metadata":{"name":"a"},"data":{"p":"eA=="}}`,
			live: `{"kind":"Secret","metadata":{"name":"a"},"data":{"p":"eA=="}}`, want: `{"data":{"p":"eA=="},"kind":"Secret","metadata":{"name":"a"}}`,
		},
		{
			reason: "an aggregated ClusterRole's rules belong to live", gvk: clusterRole,
			original: `{"kind":"ClusterRole","metadata":{"name":"a"},"aggregationRule":{},"rules":[]}`,
			local:    `{"kind":"ClusterRole","metadata":{"name":"a"},"aggregationRule":{},"rules":[]}`,
			live:     `{"kind":"ClusterRole","metadata":{"name":"a"},"aggregationRule":{},"rules":[{"verbs":["get"]}]}`,
			want:     `{"aggregationRule":{},"kind":"ClusterRole","metadata":{"name":"a"},"rules":[{"verbs":["get"]}]}`,
		},
		{
			reason: "a dropped service account takes its mirror along", gvk: [3]string{"", "v1", "PodTemplate"},
			original: `{"metadata":{"name":"a"},"template":{"spec":{"serviceAccountName":"x"}}}`, local: `{"metadata":{"name":"a"},"template":{"spec":{}}}`,
			live: `{"metadata":{"name":"a"},"template":{"spec":{"serviceAccount":"x","serviceAccountName":"x"}}}`,
			want: `{"metadata":{"name":"a"},"template":{"spec":{}}}`,
		},
		{
			reason: "a stated service account leaves its mirror alone", gvk: [3]string{"", "v1", "PodTemplate"},
			original: `{"metadata":{"name":"a"},"template":{"spec":{"serviceAccountName":"x"}}}`, local: `{"metadata":{"name":"a"},"template":{"spec":{"serviceAccountName":"x"}}}`,
			live: `{"metadata":{"name":"a"},"template":{"spec":{"serviceAccount":"x","serviceAccountName":"x"}}}`,
			want: `{"metadata":{"name":"a"},"template":{"spec":{"serviceAccount":"x","serviceAccountName":"x"}}}`,
		},
		{
			reason: "without an original nothing is removed, and what a person put there is named", gvk: configMap,
			local: `{"metadata":{"name":"a"},"data":{"a":"2"}}`, live: `{"metadata":{"name":"a"},"data":{"a":"1","LEGACY":"x"}}`,
			want: `{"data":{"LEGACY":"x","a":"2"},"metadata":{"name":"a"}}`, undecided: 1,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			out := planned(t, c.gvk, c.original, c.local, c.live)
			got, err := json.Marshal(out.Result)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("result\n got %s\nwant %s", got, c.want)
			}
			if len(out.Ignored) != c.ignored || len(out.Undecided) != c.undecided {
				t.Errorf("ignored %v, undecided %v", out.Ignored, out.Undecided)
			}
		})
	}
}

// TestClaims: a value that equals what was applied last is overwritten without a disagreement unless another manager
// states it by server-side apply.
func TestClaims(t *testing.T) {
	typ, _ := schema.Builtin("", "v1", "ConfigMap")
	for _, c := range []struct {
		reason             string
		manager, operation string
		recorded, claims   bool
	}{
		{reason: "another applies it", manager: "ops", operation: "Apply", claims: true},
		{reason: "another has updated it", manager: "ops", operation: "Update"},
		{reason: "the applier", manager: "me", operation: "Apply"},
		{reason: "kubectl is the user's", manager: "kubectl", operation: "Apply"},
		{reason: "kubectl is not the controller's", manager: "kubectl", operation: "Apply", recorded: true, claims: true},
		{reason: "the control plane", manager: "kube-controller-manager", operation: "Apply"},
	} {
		live := merge.With(read(t, `{"metadata":{"name":"a"},"data":{"a":"1"}}`).(map[string]any), []any{map[string]any{
			"manager": c.manager, "operation": c.operation, "fieldsV1": read(t, `{"f:data":{"f:a":{}}}`),
		}}, "metadata", "managedFields")
		out, err := Plan(Input{
			Triple: merge.Triple{
				Original: read(t, `{"data":{"a":"1"}}`), Local: read(t, `{"metadata":{"name":"a"},"data":{"a":"2"}}`), Live: live, Appliers: []string{"me"},
			},
			Version: "v1", Kind: "ConfigMap", Schema: typ, Policy: merge.Policies[0], Recorded: c.recorded,
		})
		if err != nil {
			t.Fatal(err)
		}
		if is := len(out.Settled) == 1; is != c.claims {
			t.Errorf("%s: settled %v, want a claim: %v", c.reason, out.Settled, c.claims)
		}
		if got := merge.At[string](out.Result, "data", "a"); got != "2" {
			t.Errorf("%s: got %q: local wins under the policy apply", c.reason, got)
		}
	}
}
