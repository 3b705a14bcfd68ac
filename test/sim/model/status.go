package model

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
)

// Roll lets a controller write the status of a Deployment. It is not held to a server's: no owner
// of the status is stored.
func (m *Model) Roll(name string, status appsv1.DeploymentStatus) {
	m.mu.Lock()
	defer m.mu.Unlock()
	live, ok := m.objects["deployments"][name].(*appsv1.Deployment)
	if !ok {
		return
	}
	o := live.DeepCopy()
	o.Status = status
	o.ResourceVersion = strconv.Itoa(m.revision + 1)
	m.happened(Event{Type: Modified, Resource: "deployments", Was: live, Is: o, By: "controller"})
}
