package ready

import (
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// claim judges a PersistentVolumeClaim. One whose StorageClass waits for the first pod that
// uses it cannot be bound before (volumeBindingMode).
func claim(s Subject) Verdict {
	switch phase := merge.At[string](s.Object, "status", "phase"); {
	case phase == "Bound":
		return ready("")
	case phase == "Lost":
		return failed("Lost", "its volume is gone")
	case merge.At[string](s.Class, "volumeBindingMode") == firstConsumer, slices.ContainsFunc(s.Events, func(e map[string]any) bool { return merge.At[string](e, "reason") == firstConsumer }):
		return ready("it is bound when the first pod uses it")
	}
	return waiting("Pending", "it is not bound to a volume yet")
}

const firstConsumer = "WaitForFirstConsumer"

// service judges a Service: it waits only for the address of a load balancer.
func service(s Subject) Verdict {
	if merge.At[string](s.Object, "spec", "type") != "LoadBalancer" {
		return ready("")
	}
	for _, i := range merge.MapsAt(s.Object, "status", "loadBalancer", "ingress") {
		if merge.At[string](i, "ip") != "" || merge.At[string](i, "hostname") != "" {
			return ready("")
		}
	}
	return waiting("Pending", "its load balancer has no address yet")
}

// definition judges a CustomResourceDefinition. A name that another definition has, and a
// lost Established condition, do not pass without a change. Installing and NotAccepted only
// mean that its controllers are not there yet (k8s.io/apiextensions-apiserver,
// pkg/controller/status and establish).
func definition(s Subject) Verdict {
	for _, name := range []string{"NamesAccepted", "Established"} {
		c := condition(s.Object, name)
		if r := merge.At[string](c, "reason"); isFalse(c) && r != "Installing" && r != "NotAccepted" {
			return failed(because(c), stated(c, fmt.Sprintf("%s is False", name)))
		}
	}
	c := condition(s.Object, "Established")
	if isTrue(c) {
		return ready("")
	}
	return waiting(reasonProgressing, stated(c, "its kind is not served yet"))
}

// apiService judges an APIService by what the aggregator reports about the server behind it.
func apiService(s Subject) Verdict {
	c := condition(s.Object, "Available")
	switch {
	case isTrue(c):
		return ready("")
	case c == nil:
		return unobserved("its status is not written yet", true)
	}
	return waiting(because(c), stated(c, "it is not available"))
}
