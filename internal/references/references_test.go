package references_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/references"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// TestEveryPath has a pod name something at each path of the table, one at a time.
func TestEveryPath(t *testing.T) {
	text, err := os.ReadFile("paths.table")
	if err != nil {
		t.Fatal(err)
	}
	pod, _ := schema.Builtin("", "v1", "Pod")
	count := 0
	for line := range strings.Lines(string(text)) {
		kind, path, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || kind == "#" {
			continue
		}
		count++
		steps := strings.Split(path, ".")
		last := len(steps) - 1
		var v any = map[string]any{steps[last]: "x"}
		if kind == "-" {
			kind = "PersistentVolumeClaim"
			v = map[string]any{steps[last]: "x", "kind": kind}
		}
		for i := last - 1; i >= 0; i-- {
			name, list := strings.CutSuffix(steps[i], "[]")
			if list {
				v = []any{v}
			}
			v = map[string]any{name: v}
		}
		want := []references.Reference{{Kind: kind, Name: "x"}}
		if got := references.Of(map[string]any{"kind": "Pod", "spec": v}, pod); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if count < 25 {
		t.Errorf("only %d paths", count)
	}
}

// TestBuiltinKinds: which built-in kinds hold pods, or templates of them.
func TestBuiltinKinds(t *testing.T) {
	var got []string
	for _, k := range schema.BuiltinKinds() {
		typ, _ := schema.Builtin(k.Group, k.Version, k.Kind)
		if references.Embeds(typ) && k.Resource != "" {
			got = append(got, strings.TrimPrefix(k.Group+"/"+k.Version+"/"+k.Kind, "/"))
		}
	}
	for _, want := range []string{"v1/Pod", "v1/PodTemplate", "v1/ReplicationController", "apps/v1/Deployment", "apps/v1/ReplicaSet", "apps/v1/StatefulSet", "apps/v1/DaemonSet", "apps/v1/ControllerRevision", "batch/v1/Job", "batch/v1/CronJob"} {
		if slices.Contains(got, want) == strings.Contains(want, "ControllerRevision") {
			t.Errorf("%s: %v", want, got)
		}
	}
	if slices.Contains(got, "v1/ConfigMap") || slices.Contains(got, "networking.k8s.io/v1/Ingress") {
		t.Errorf("%v", got)
	}
	if !references.Named("", "Secret") || references.Named("", "Service") || references.Named("x", "Secret") {
		t.Error("which kinds are named")
	}
}

const template = `
        template:
          spec:
            serviceAccountName: runner
            containers: [{name: a, image: b, envFrom: [{configMapRef: {name: settings}}]}]
            volumes: [{name: v, secret: {secretName: keys}}, {name: w, persistentVolumeClaim: {claimName: data}}]`

// TestCustomResources: a template is found by its schema, wherever that has it, and by its
// value where the schema leaves it open.
func TestCustomResources(t *testing.T) {
	all := "[{ConfigMap settings} {PersistentVolumeClaim data} {Secret keys} {ServiceAccount runner}]"
	for _, tt := range []struct {
		what, spec, want string
		embeds           bool
	}{
		{"a template as Kubernetes has it", `{template: {type: object, properties: {spec: {type: object, properties: {containers: {type: array, items: {type: object, properties: {name: {type: string}, image: {type: string}}}}}}}}}`, all, true},
		{"one that is left open", `{template: {type: object, x-kubernetes-preserve-unknown-fields: true}}`, all, false},
		{"containers of another sort", `{template: {type: object, properties: {spec: {type: object, properties: {containers: {type: array, items: {type: object, properties: {size: {type: integer}}}}}}}}}`, "[]", false},
	} {
		crd := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: runs.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Run, plural: runs},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: ` + tt.spec + `}}}}}]}}`
		defs, err := schema.FromCRD(parse(t, crd), "test")
		if err != nil {
			t.Fatal(err)
		}
		typ := defs[0].Type
		obj := parse(t, "kind: Run\nspec:"+template)
		got := references.Of(obj, typ)
		slices.SortFunc(got, func(a, b references.Reference) int { return strings.Compare(a.Kind, b.Kind) })
		if fmt.Sprint(got) != tt.want || references.Embeds(typ) != tt.embeds {
			t.Errorf("%s: %v, embeds %t", tt.what, got, references.Embeds(typ))
		}
	}
	if got := references.Of(parse(t, "spec:"+template), nil); len(got) != 4 {
		t.Errorf("without a schema: %v", got)
	}
	elsewhere := `{spec: {containers: [{name: a, image: b}], volumes: [{ephemeral: {volumeClaimTemplate: {spec: {dataSourceRef: {kind: PersistentVolumeClaim, name: x, namespace: other}, dataSource: {kind: VolumeSnapshot, name: y}}}}}]}}`
	if got := references.Of(parse(t, elsewhere), nil); got != nil {
		t.Errorf("what is in another namespace, or of another kind: %v", got)
	}
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	file, err := yamldoc.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	obj, _ := file.Documents()[0].Value().(map[string]any)
	return obj
}
