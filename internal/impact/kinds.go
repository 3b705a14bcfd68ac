package impact

import "slices"

// workload is a kind that runs pods.
type workload struct {
	group, kind string
	template    []string // path of its pods' template
	replicas    bool     // spec.replicas states how many pods it has

	// rolls returns the impact of a changed template; nil if its pods are not replaced, which keeps
	// describes.
	rolls func(live, final map[string]any) Impact
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
