package impact

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// once is a kind with immutable fields: the server refuses every change of them, whatever else the
// object has. A story changes each of them on a real server
// (test/e2e/testdata/recreate/set-only-once.txtar).
type once struct {
	group, kind string
	fields      [][]string
	ifImmutable bool // only if live has immutable: true

	except    [][]string // mutable parts of fields: * is each entry of a list
	suspended [][]string // the same, while live has spec.suspend
}

func field(names ...string) []string { return names }

// onces lists the built-in kinds with such fields (k8s.io/kubernetes/pkg/apis/*/validation,
// ValidateUpdate).
var onces = []once{
	{group: "apps", kind: "Deployment", fields: [][]string{field("spec", "selector")}},
	{group: "apps", kind: "DaemonSet", fields: [][]string{field("spec", "selector")}},
	{group: "apps", kind: "ReplicaSet", fields: [][]string{field("spec", "selector")}},
	{group: "apps", kind: "StatefulSet", fields: [][]string{field("spec", "selector"), field("spec", "serviceName"), field("spec", "podManagementPolicy"), field("spec", "volumeClaimTemplates")}},
	{group: "batch", kind: "Job", fields: [][]string{field("spec", "selector"), field("spec", "completionMode"), field("spec", "podFailurePolicy"), field("spec", "successPolicy"), field("spec", "backoffLimitPerIndex")}},
	{group: "batch", kind: "Job", fields: [][]string{field("spec", "template")}, suspended: [][]string{ // until it is started: ValidateJobUpdate
		field("metadata", "labels"), field("metadata", "annotations"), field("spec", "nodeSelector"), field("spec", "affinity"), field("spec", "tolerations"),
		field("spec", "schedulingGates"), field("spec", "containers", "*", "resources"), field("spec", "initContainers", "*", "resources")}},
	{group: "", kind: "Pod", fields: [][]string{field("spec")}, except: [][]string{ // ValidatePodUpdate; some of them in one direction alone
		field("containers", "*", "image"), field("initContainers", "*", "image"), field("activeDeadlineSeconds"), field("terminationGracePeriodSeconds"),
		field("tolerations"), field("schedulingGates"), field("nodeSelector"), field("affinity")}},
	{group: "rbac.authorization.k8s.io", kind: "RoleBinding", fields: [][]string{field("roleRef")}},
	{group: "rbac.authorization.k8s.io", kind: "ClusterRoleBinding", fields: [][]string{field("roleRef")}},
	{group: "storage.k8s.io", kind: "StorageClass", fields: [][]string{field("provisioner"), field("parameters"), field("reclaimPolicy"), field("volumeBindingMode")}},
	{group: "scheduling.k8s.io", kind: "PriorityClass", fields: [][]string{field("value"), field("preemptionPolicy")}},
	{group: "node.k8s.io", kind: "RuntimeClass", fields: [][]string{field("handler")}},
	{group: "", kind: "Secret", fields: [][]string{field("type")}},
	{group: "", kind: "Secret", fields: [][]string{field("data"), field("immutable")}, ifImmutable: true},
	{group: "", kind: "ConfigMap", fields: [][]string{field("data"), field("binaryData"), field("immutable")}, ifImmutable: true},
}

// Fixed returns the immutable fields that a plan changes, as far as they are known without asking
// the server. nil for custom resources, and for fields that depend on more of the object's state.
func Fixed(p apply.Planned) []string {
	var out []string
	for _, o := range onces {
		if o.group != p.Group() || o.kind != p.Kind() || o.ifImmutable && p.Live["immutable"] != true {
			continue
		}
		except := o.except
		if merge.At[any](p.Live, "spec", "suspend") == true {
			except = slices.Concat(except, o.suspended)
		}
		for _, path := range o.fields {
			name := strings.Join(path, ".")
			if !merge.Identical(without(merge.At[any](p.Live, path...), except), without(merge.At[any](p.Final, path...), except)) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// without returns v without the values at the paths. v is not modified.
func without(v any, paths [][]string) any {
	if slices.ContainsFunc(paths, func(p []string) bool { return len(p) == 0 }) {
		return nil
	}
	below := func(name string) (rest [][]string) {
		for _, p := range paths {
			if p[0] == name {
				rest = append(rest, p[1:])
			}
		}
		return rest
	}
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for name, e := range v {
			if rest := below(name); rest != nil {
				out[name] = without(e, rest)
			}
			if out[name] == nil {
				delete(out, name)
			}
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i, rest := 0, below("*"); rest != nil && i < len(out); i++ {
			out[i] = without(out[i], rest)
		}
		return out
	}
	return v
}
