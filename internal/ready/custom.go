package ready

import (
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// The condition types by which a custom resource is judged. Of those that mean it is ready,
// the first that is present decides.
var (
	readyConditions  = []string{"Ready", "Available", "Succeeded", "Healthy"}
	failedConditions = []string{"Stalled", "Failed"}
	movingConditions = []string{"Reconciling"}
)

// customResource judges an object by the status that its schema declares. One that declares
// conditions or observedGeneration has a controller that writes them, and nothing is known
// before it has. A schema with neither promises nothing, so its objects are ready at once.
func customResource(s Subject) Verdict {
	o := s.Object
	conditions := len(merge.MapsAt(o, "status", "conditions")) > 0
	generation := merge.At[any](o, "status", "observedGeneration") != nil
	if !conditions && !generation {
		if declares(s.Type, "conditions") || declares(s.Type, "observedGeneration") {
			return unobserved("its status is not written yet", true)
		}
		return ready("")
	}
	if v, stale := stale(o); stale && generation {
		return v
	}
	if c := first(o, failedConditions, isTrue); c != nil {
		return failed(because(c), stated(c, merge.At[string](c, "type")+" is True"))
	}
	if c := first(o, movingConditions, isTrue); c != nil {
		return waiting(because(c), stated(c, merge.At[string](c, "type")+" is True"))
	}
	c := first(o, readyConditions, func(map[string]any) bool { return true })
	switch {
	case isTrue(c):
		return ready("")
	case c != nil:
		return waiting(because(c), stated(c, merge.At[string](c, "type")+" is "+merge.At[string](c, "status")))
	case outdated(o):
		return unobserved("its conditions are about an older generation", false)
	}
	return ready("")
}

// first returns the first condition of the types named that is about the object's current
// generation, and of which is holds.
func first(obj map[string]any, types []string, is func(map[string]any) bool) map[string]any {
	for _, name := range types {
		if c := object.Condition(obj, name); c != nil && current(obj, c) && is(c) {
			return c
		}
	}
	return nil
}

// current reports whether the condition is about the object's generation, which it may state (metav1.Condition).
func current(obj, c map[string]any) bool {
	wanted := object.Int(obj, 0, "metadata", "generation")
	return object.Int(c, wanted, "observedGeneration") >= wanted
}

// outdated reports whether a condition by which the object would be judged is about an
// older generation.
func outdated(obj map[string]any) bool {
	return slices.ContainsFunc(slices.Concat(readyConditions, failedConditions, movingConditions), func(name string) bool {
		c := object.Condition(obj, name)
		return c != nil && !current(obj, c)
	})
}

// declares reports whether the type has that field in its status.
func declares(t *merge.Type, field string) bool {
	status := t.Field("status").Type
	if status == nil || status.Kind != merge.Object {
		return false
	}
	_, ok := status.Fields[field]
	return ok
}

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
	addressed := func(i map[string]any) bool { return merge.At[string](i, "ip")+merge.At[string](i, "hostname") != "" }
	if merge.At[string](s.Object, "spec", "type") != "LoadBalancer" ||
		slices.ContainsFunc(merge.MapsAt(s.Object, "status", "loadBalancer", "ingress"), addressed) {
		return ready("")
	}
	return waiting("Pending", "its load balancer has no address yet")
}

// definition judges a CustomResourceDefinition. A name that another definition has, and a
// lost Established condition, do not pass without a change.
func definition(s Subject) Verdict {
	if c := object.Unserved(s.Object); c != nil {
		return failed(because(c), stated(c, fmt.Sprintf("%s is False", c["type"])))
	}
	c := object.Condition(s.Object, "Established")
	if isTrue(c) {
		return ready("")
	}
	return waiting(reasonProgressing, stated(c, "its kind is not served yet"))
}

// apiService judges an APIService by what the aggregator reports about the server behind it.
func apiService(s Subject) Verdict {
	c := object.Condition(s.Object, "Available")
	switch {
	case isTrue(c):
		return ready("")
	case c == nil:
		return unobserved("its status is not written yet", true)
	}
	return waiting(because(c), stated(c, "it is not available"))
}
