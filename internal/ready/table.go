package ready

import (
	"encoding/json"
	"fmt"
	"strings"

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
