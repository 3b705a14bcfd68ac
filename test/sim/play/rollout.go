package play

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// rollouts begins the rollout of each Deployment that has changed.
func (w *world) rollouts() {
	for name, o := range w.model.Objects("deployments") {
		d := o.(*appsv1.Deployment)
		id := string(d.UID)
		if w.rolling[id] >= d.Generation {
			continue
		}
		w.rolling[id] = d.Generation
		time.AfterFunc(time.Duration(w.Rollout.Seconds)*time.Second+time.Millisecond/2, func() { w.roll(name, d) })
	}
}

// roll ends the rollout of a generation, unless there is another one.
func (w *world) roll(name string, of *appsv1.Deployment) {
	now, ok := w.model.Object("deployments", name).(*appsv1.Deployment)
	if !ok || now.UID != of.UID || now.Generation != of.Generation {
		return
	}
	n := *of.Spec.Replicas
	status := appsv1.DeploymentStatus{ObservedGeneration: of.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n}
	status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"}, {Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}}
	if w.Rollout.Fails {
		status = appsv1.DeploymentStatus{ObservedGeneration: of.Generation, Replicas: n, UpdatedReplicas: n, UnavailableReplicas: n}
		status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", Message: "simulated"}}
	}
	w.say("       the rollout of %s has ended, ready: %t", name, !w.Rollout.Fails)
	w.model.Roll(name, status)
}

// ready: the newest generation of a Deployment runs.
func ready(o runtime.Object) bool {
	d, ok := o.(*appsv1.Deployment)
	if !ok {
		return true
	}
	n := *d.Spec.Replicas
	return d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedReplicas == n && d.Status.AvailableReplicas == n && d.Status.Replicas == n
}
