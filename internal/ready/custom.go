package ready

import (
	"slices"

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
	if generation {
		if message, never, stale := stale(o); stale {
			return unobserved(message, never)
		}
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
		if c := condition(obj, name); c != nil && current(obj, c) && is(c) {
			return c
		}
	}
	return nil
}

// current reports whether the condition is about the object's generation, which it may state (metav1.Condition).
func current(obj, c map[string]any) bool {
	wanted := number(obj, 0, "metadata", "generation")
	return number(c, wanted, "observedGeneration") >= wanted
}

// outdated reports whether a condition by which the object would be judged is about an
// older generation.
func outdated(obj map[string]any) bool {
	return slices.ContainsFunc(slices.Concat(readyConditions, failedConditions, movingConditions), func(name string) bool {
		c := condition(obj, name)
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
