package impact

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// once is a kind of which fields can be set only once: the server refuses every change of
// them, whatever else the object has. A story changes each of them on a real server
// (test/e2e/testdata/recreate/set-only-once.txtar).
type once struct {
	group, kind string
	fields      [][]string
	ifImmutable bool // only where live has immutable: true
}

func field(names ...string) []string { return names }

// onces are the built-in kinds with such fields
// (k8s.io/kubernetes/pkg/apis/*/validation, ValidateUpdate).
var onces = []once{
	{group: "apps", kind: "Deployment", fields: [][]string{field("spec", "selector")}},
	{group: "apps", kind: "DaemonSet", fields: [][]string{field("spec", "selector")}},
	{group: "apps", kind: "ReplicaSet", fields: [][]string{field("spec", "selector")}},
	{group: "apps", kind: "StatefulSet", fields: [][]string{field("spec", "selector"), field("spec", "serviceName"), field("spec", "podManagementPolicy"), field("spec", "volumeClaimTemplates")}},
	{group: "batch", kind: "Job", fields: [][]string{field("spec", "selector"), field("spec", "completionMode"), field("spec", "podFailurePolicy"), field("spec", "backoffLimitPerIndex")}},
	{group: "rbac.authorization.k8s.io", kind: "RoleBinding", fields: [][]string{field("roleRef")}},
	{group: "rbac.authorization.k8s.io", kind: "ClusterRoleBinding", fields: [][]string{field("roleRef")}},
	{group: "storage.k8s.io", kind: "StorageClass", fields: [][]string{field("provisioner"), field("parameters"), field("reclaimPolicy"), field("volumeBindingMode")}},
	{group: "scheduling.k8s.io", kind: "PriorityClass", fields: [][]string{field("value"), field("preemptionPolicy")}},
	{group: "node.k8s.io", kind: "RuntimeClass", fields: [][]string{field("handler")}},
	{group: "", kind: "Secret", fields: [][]string{field("type")}},
	{group: "", kind: "Secret", fields: [][]string{field("data"), field("immutable")}, ifImmutable: true},
	{group: "", kind: "ConfigMap", fields: [][]string{field("data"), field("binaryData"), field("immutable")}, ifImmutable: true},
}

// Fixed are the fields that a plan changes and that can be set only once, as far as that is
// known without asking the server: nil for custom resources, and for what depends on the
// state of the object.
func Fixed(p apply.Planned) []string {
	var out []string
	for _, o := range onces {
		if o.group != p.Group() || o.kind != p.Kind() || o.ifImmutable && p.Live["immutable"] != true {
			continue
		}
		for _, path := range o.fields {
			name := strings.Join(path, ".")
			if !merge.Identical(at(p.Live, path...), at(p.Final, path...)) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
