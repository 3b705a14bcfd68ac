package references_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/references"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// looksNamed matches a field that may name one of the four kinds, by its own name, that of the field around it, or
// its type.
var looksNamed = regexp.MustCompile(`(?i)secret|configmap|serviceaccount|claim`)

// notNames are fields that look as if they named an object of one of the four kinds.
var notNames = map[string]bool{
	"ResourceClaim.name": true, "PersistentVolumeClaimSpec.volumeName": true, "PersistentVolumeClaimSpec.storageClassName": true,
	"PersistentVolumeClaimSpec.volumeAttributesClassName": true, "PodResourceClaim.name": true,
	"PodResourceClaim.resourceClaimName": true, "PodResourceClaim.resourceClaimTemplateName": true,
}

// TestEveryPath has a pod name something at each field of a text below a PodSpec, one at a time: what it then
// names is the table. A field that looks like a name, and is neither in the table nor no name, fails.
func TestEveryPath(t *testing.T) {
	text, err := os.ReadFile("paths.table")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{} // by path
	for line := range strings.Lines(string(text)) {
		if kind, path, ok := strings.Cut(strings.TrimSpace(line), " "); ok && kind != "#" {
			kinds[path] = kind
		}
	}
	pod, _ := schema.Builtin("", "v1", "Pod")
	count := 0
	eachText(pod.Field("spec").Type, nil, func(owner *merge.Type, steps []string) {
		path, last := strings.Join(steps, "."), len(steps)-1
		kind := kinds[path]
		v := any(map[string]any{steps[last]: "x", "kind": "PersistentVolumeClaim"})
		for i := last - 1; i >= 0; i-- {
			name, list := strings.CutSuffix(steps[i], "[]")
			if list {
				v = []any{v}
			}
			v = map[string]any{name: v}
		}
		var want []references.Reference
		if kind != "" {
			count++
			want = []references.Reference{{Kind: strings.Replace(kind, "-", "PersistentVolumeClaim", 1), Name: "x"}}
		}
		if got := references.Of(map[string]any{"kind": "Pod", "spec": v}, pod); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
		field, around, of := steps[last], "", owner.Name[strings.LastIndexByte(owner.Name, '.')+1:]
		if last > 0 {
			around = steps[last-1]
		}
		if kind == "" && strings.HasSuffix(strings.ToLower(field), "name") && !notNames[of+"."+field] && looksNamed.MatchString(field+" "+around+" "+of) {
			t.Errorf("%s (%s) looks like a name of another object: say in paths.table, or in notNames, whether it is one", path, of)
		}
	})
	if count != len(kinds) || count < 25 {
		t.Errorf("%d paths of the %d in the table", count, len(kinds))
	}
}

// eachText visits the texts below a type, with the type that has each.
func eachText(typ *merge.Type, at []string, visit func(owner *merge.Type, steps []string)) {
	for name, f := range typ.Fields {
		of := f.Type
		for of.Kind == merge.List || of.Kind == merge.Set || of.Kind == merge.Keyed {
			of, name = of.Elem, strings.TrimSuffix(name, "[]")+"[]"
		}
		if steps := append(at[:len(at):len(at)], name); of.Kind == merge.Scalar {
			visit(typ, steps)
		} else {
			eachText(of, steps, visit)
		}
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
