package ready

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Row says when the objects of a kind are ready. To judge another kind, add a row, and its
// line in docs/wait.md.
type Row struct {
	Group, Kind string
	When        string // for people, as docs/wait.md has it

	Custom  bool // judged by its schema, see Subject.Type
	Instant bool // ready as soon as it exists

	observed bool // nothing is judged by a status about an older generation

	judge  func(Subject) Verdict
	newest func(Subject) []map[string]any // its pods of the newest revision; nil where it has none
}

// Rows are the kinds that are judged by more than their existence and their schema.
var Rows = []Row{
	{Group: "apps", Kind: "Deployment", observed: true, judge: deployment, newest: ofDeployment,
		When: "all replicas are of the newest revision and available, and none of an older one is left; `paused`: not waited for"},
	{Group: "apps", Kind: "StatefulSet", observed: true, judge: statefulSet, newest: ofStatefulSet,
		When: "all replicas (from `partition` on) are of the newest revision, and all are ready; `OnDelete`: all are ready, of whatever revision"},
	{Group: "apps", Kind: "DaemonSet", observed: true, judge: daemonSet, newest: ofDaemonSet,
		When: "every node that should run one has an available pod of the newest revision; `OnDelete`: of whatever revision"},
	{Group: "batch", Kind: "Job", judge: job, newest: allPods,
		When: "`Complete`; suspended: not waited for"},
	{Group: "", Kind: "Pod", judge: pod, newest: itself,
		When: "`Ready`, or it has succeeded"},
	{Group: "", Kind: "PersistentVolumeClaim", judge: claim,
		When: "`Bound`, or pending until the first pod uses it (`WaitForFirstConsumer`)"},
	{Group: "", Kind: "Service", judge: service,
		When: "immediately; of type `LoadBalancer`: when it has an address"},
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", judge: definition,
		When: "`Established`"},
	{Group: "apiregistration.k8s.io", Kind: "APIService", judge: apiService,
		When: "`Available`"},
}

// The rows for kinds that Rows does not list.
var (
	custom  = Row{Custom: true, judge: customResource}
	instant = Row{Instant: true, judge: func(Subject) Verdict { return ready("") }}
)

// Find returns the row of a kind: that of Rows, else one for other kinds. Built-in kinds
// are ready at once, and custom resources are judged by their schema.
func Find(group, version, kind string) Row {
	for _, r := range Rows {
		if r.Group == group && r.Kind == kind {
			return r
		}
	}
	if _, builtin := schema.BuiltinKind(group, version, kind); builtin || group == "" {
		return instant
	}
	return custom
}

// HasPods reports whether an object is not ready because its pods are not.
func (r Row) HasPods() bool { return r.newest != nil }

func allPods(s Subject) []map[string]any { return s.Pods }
func itself(s Subject) []map[string]any  { return []map[string]any{s.Object} }

func (s Subject) row() Row {
	group, version, _ := strings.Cut(merge.At[string](s.Object, "apiVersion"), "/")
	if version == "" {
		group, version = "", group
	}
	return Find(group, version, merge.At[string](s.Object, "kind"))
}

// Rule states when the user considers an object ready. The zero value states nothing.
type Rule struct {
	Skip  bool       // it is not waited for
	Path  merge.Path // the value here decides; nil: the kind's row decides
	Value string     // the value to wait for, as it is printed
}

// judge compares the value. A status that is known to be about an older generation does not
// count.
func (r Rule) judge(obj map[string]any) Verdict {
	if v, stale := stale(obj); stale && merge.At[any](obj, "status", "observedGeneration") != nil {
		return v
	}
	v, ok := merge.Lookup(obj, r.Path, nil)
	switch {
	case ok && plain(v) == r.Value:
		return ready("")
	case !ok:
		return waiting("Rule", fmt.Sprintf("%s is not there, and is to be %s", r.Path, r.Value))
	}
	return waiting("Rule", fmt.Sprintf("%s is %s, and is to be %s", r.Path, plain(v), r.Value))
}

// plain prints a value as kubectl wait --for=jsonpath does.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, _ := json.Marshal(v) // values of an object are JSON
	return string(text)
}

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
