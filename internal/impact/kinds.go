package impact

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// workload is a kind that runs pods.
type workload struct {
	group, kind string
	template    []string // path of its pods' template
	replicas    bool     // spec.replicas states how many pods it has

	// rolls returns the impact of a changed template; nil if its pods are not replaced, which keeps
	// describes.
	rolls func(change) Impact
	keeps string

	// restart describes how to make its pods read a ConfigMap or Secret again; "" if none of them
	// keeps running.
	restart string
}

const (
	restartRollout = "kubectl rollout restart"
	restartDelete  = "delete its pods"
)

// workloads lists the built-in kinds that run pods.
var workloads = []workload{
	{group: "apps", kind: "Deployment", template: []string{"spec", "template"}, replicas: true, rolls: deployment, restart: restartRollout},
	{group: "apps", kind: "StatefulSet", template: []string{"spec", "template"}, replicas: true, rolls: statefulSet, restart: restartRollout},
	{group: "apps", kind: "DaemonSet", template: []string{"spec", "template"}, rolls: daemonSet, restart: restartRollout},
	{group: "apps", kind: "ReplicaSet", template: []string{"spec", "template"}, replicas: true, keeps: "its pods stay as they are", restart: restartDelete},
	{group: "", kind: "ReplicationController", template: []string{"spec", "template"}, replicas: true, keeps: "its pods stay as they are", restart: restartDelete},
	{group: "batch", kind: "CronJob", template: []string{"spec", "jobTemplate", "spec", "template"}, keeps: "from its next job on"},
	{group: "batch", kind: "Job", template: []string{"spec", "template"}, keeps: "its pods stay as they are"},
	{group: "", kind: "Pod", template: []string{}, keeps: "", restart: "delete it, and merge again"},
}

func workloadOf(group, kind string) (workload, bool) {
	i := slices.IndexFunc(workloads, func(w workload) bool { return w.group == group && w.kind == kind })
	if i < 0 {
		return workload{}, false
	}
	return workloads[i], true
}

// source is a field of a pod's spec that names a ConfigMap or Secret, from which the pod
// reads values.
type source struct {
	kind string
	path string // * stands for each entry of a list

	// env states that values are read when a container starts. The files of a volume follow the
	// object, except those mounted by subPath
	// (https://kubernetes.io/docs/concepts/configuration/configmap/#mounted-configmaps-are-updated-automatically).
	env bool
}

// sources lists every field of core/v1 PodSpec that reads values of the two kinds.
var sources = slices.Concat(
	inContainers("ConfigMap", "envFrom.*.configMapRef.name", "env.*.valueFrom.configMapKeyRef.name"),
	inContainers("Secret", "envFrom.*.secretRef.name", "env.*.valueFrom.secretKeyRef.name"),
	[]source{
		{kind: "ConfigMap", path: "volumes.*.configMap.name"},
		{kind: "ConfigMap", path: "volumes.*.projected.sources.*.configMap.name"},
		{kind: "Secret", path: "volumes.*.secret.secretName"},
		{kind: "Secret", path: "volumes.*.projected.sources.*.secret.name"},
	},
)

func inContainers(kind string, paths ...string) (out []source) {
	for _, list := range []string{"initContainers", "containers"} {
		for _, path := range paths {
			out = append(out, source{kind: kind, path: list + ".*." + path, env: true})
		}
	}
	return out
}

// names returns the strings at a path below v.
func names(v any, path []string) (out []string) {
	if len(path) == 0 {
		if s, ok := v.(string); ok && s != "" {
			return []string{strings.Clone(s)} // a substring would keep the whole response in memory
		}
		return nil
	}
	if path[0] != "*" {
		return names(merge.At[map[string]any](v)[path[0]], path[1:])
	}
	for _, e := range merge.At[[]any](v) {
		out = append(out, names(e, path[1:])...)
	}
	return out
}

// number returns an integer below obj; otherwise if there is none.
func number(obj map[string]any, otherwise int64, path ...string) int64 {
	if i, err := merge.At[json.Number](obj, path...).Int64(); err == nil {
		return i
	}
	return otherwise
}
