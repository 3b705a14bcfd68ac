package guard

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Scaler is a kind whose controller sets a field of other objects.
type Scaler struct {
	Group, Kind string

	link   string
	Field  Field    // the field that it sets
	target []string // path of the reference to the scaled object
	kind   string   // of the target, if the reference has none
	off    []string // path that can switch the controller off
	values []string // values that switch it off
	text   string   // with the scaler's name
}

// Field is a field that scalers set.
type Field uint8

// The fields; a set of them is their sum.
const (
	Replicas  Field = 1 << iota // spec.replicas
	Resources                   // the resources of a pod template's containers
)

// Scalers by kind. Of several that set a field of an object, the first counts. A new kind is a row
// here, and one in docs/guard.md.
var Scalers = []Scaler{
	{
		Group: "keda.sh", Kind: "ScaledObject", link: "https://keda.sh/docs/latest/reference/scaledobject-spec/",
		Field: Replicas, target: []string{"spec", "scaleTargetRef"}, kind: "Deployment",
		off: []string{"metadata", "annotations", "autoscaling.keda.sh/paused"}, values: []string{"true"},
		text: "is set by KEDA, for ScaledObject %s",
	},
	{
		Group: "autoscaling", Kind: "HorizontalPodAutoscaler", link: "https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/",
		Field: Replicas, target: []string{"spec", "scaleTargetRef"},
		text: "is set by HorizontalPodAutoscaler %s",
	},
	{
		Group: "argoproj.io", Kind: "Rollout", link: "https://argo-rollouts.readthedocs.io/en/stable/migrating/",
		Field: Replicas, target: []string{"spec", "workloadRef"}, off: []string{"spec", "workloadRef", "scaleDown"}, values: []string{"", "never"},
		text: "is set to 0 by Argo Rollouts, for Rollout %s, which runs the pods instead",
	},
	{
		Group: "autoscaling.k8s.io", Kind: "VerticalPodAutoscaler", link: "https://github.com/kubernetes/autoscaler/tree/master/vertical-pod-autoscaler",
		Field: Resources, target: []string{"spec", "targetRef"}, off: []string{"spec", "updatePolicy", "updateMode"}, values: []string{"Off"},
		text: "is set in the pods by VerticalPodAutoscaler %s",
	},
}

// Sets reports whether the kind's controllers set one of the fields.
func (s Scaler) Sets(fields Field) bool { return s.Field&fields != 0 }

// Stated holds the scalable fields that the local object of a merge states.
type Stated struct {
	Group, Kind, Name string
	Fields            Field // 0: none

	resources merge.Path
}

// States determines the fields that local states; given reports whether a field is given to live,
// so that nothing is stated for it.
func States(p apply.Planned, given func(merge.Path) bool) Stated {
	s := Stated{Group: p.Group(), Kind: p.Kind(), Name: p.Object.Name()}
	if p.Action == apply.Nothing {
		return s
	}
	if v, ok := merge.Lookup(p.Value, replicas, nil); ok && v != nil && !given(replicas) {
		s.Fields |= Replicas
	}
	if s.resources = resourcesOf(p.Value); s.resources != nil && !given(s.resources) {
		s.Fields |= Resources
	}
	return s
}

var replicas = merge.Path{merge.Named("spec"), merge.Named("replicas")}

// resourcesOf returns the path of the first container's resources that are stated; nil if none are.
func resourcesOf(obj map[string]any) merge.Path {
	at := merge.Path{merge.Named("spec"), merge.Named("template"), merge.Named("spec"), merge.Named("containers")}
	list, _ := merge.Lookup(obj, at, nil)
	for _, m := range merge.MapsAt(list) {
		if len(merge.At[map[string]any](m, "resources")) > 0 {
			entry := merge.Step{Kind: merge.KeyStep, Keys: []merge.KeyPart{{Name: "name", Value: m["name"]}}}
			return at.Child(entry).Child(merge.Named("resources"))
		}
	}
	return nil
}

// Scaled returns a finding for the stated fields that a scaler of the row's kind, in the same
// namespace, sets; false if it sets none.
func (s Scaler) Scaled(scaler map[string]any, o Stated) (Finding, bool) {
	ref := merge.At[any](scaler, s.target...)
	kind := cmp.Or(merge.At[string](ref, "kind"), s.kind)
	switch {
	case !s.Sets(o.Fields) || kind != o.Kind || merge.At[any](ref, "name") != o.Name || !group(ref, o.Group):
		return Finding{}, false
	case s.off != nil && slices.Contains(s.values, merge.At[string](scaler, s.off...)):
		return Finding{}, false
	}
	f := Finding{Tool: s.Kind, Path: replicas}
	if s.Field == Resources {
		f.Path = o.resources
	}
	name := merge.At[string](scaler, "metadata", "name")
	f.Text = fmt.Sprintf(s.text, name) + ": leave it out of the file (kubectl merge disown -w gives it up without changing live), or give it to live by a rule"
	return f, true
}

// group reports whether a reference names the group; one without apiVersion may name any.
func group(ref any, group string) bool {
	version := merge.At[string](ref, "apiVersion")
	return version == "" || len(version) > len(group) && version[:len(group)] == group && (group == "" || version[len(group)] == '/')
}
