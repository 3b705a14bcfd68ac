// Package impact works out what writing an object does to what runs: whether pods are replaced,
// and how many; and whose pods keep old values of a ConfigMap or Secret. It is a pure
// function of plans; what it knows of kinds are rows of data (workloads).
package impact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/references"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Word states what happens to one object, and to its pods. The words are part of the JSON of
// reports.
type Word string

// The words.
const (
	None      Word = "" // nothing is written
	Created   Word = "created"
	InPlace   Word = "updated in place" // no running pod is replaced
	RollsOut  Word = "rolls out"        // its pods are replaced
	Recreated Word = "recreated"        // it is deleted and created again
	Pruned    Word = "pruned"
	Refused   Word = "refused" // the server does not accept it
)

// Impact describes what writing one object does.
type Impact struct {
	Word   Word     `json:"word"`
	Pods   int64    `json:"pods,omitempty"`   // that RollsOut replaces; or Unknown
	Fields []string `json:"fields,omitempty"` // that cause it to be Recreated or Refused
	Remark string   `json:"remark,omitempty"` // further facts, in a few words; "" if none
}

// Unknown is an unknown number of pods: offline, if live has no status.
const Unknown = -1

// String returns the impact as previews print it: "rolls out 3 pods (all at once: …)".
func (i Impact) String() string {
	text := string(i.Word)
	switch {
	case i.Word == RollsOut && i.Pods == Unknown:
		text += " its pods"
	case i.Word == RollsOut:
		text += " " + pods(i.Pods)
	case len(i.Fields) > 0:
		text += ": " + strings.Join(i.Fields, ", ")
	}
	if i.Remark != "" {
		text += " (" + i.Remark + ")"
	}
	return text
}

func pods(n int64) string { return diff.Count(int(n), "pod", "pods") }

// Of returns the impact of carrying out a plan; None if nothing is written. The plan must be whole,
// with both sides.
func Of(p apply.Planned) Impact {
	switch {
	case p.Action == apply.Nothing || len(p.Conflicts) > 0:
		return Impact{}
	case p.Action == apply.Create:
		return Impact{Word: Created}
	case merge.Identical(bare(p.Live), bare(p.Final)):
		remark := "its last-applied annotation alone"
		if lastapplied.Read(p.Live).Text == lastapplied.Read(p.Final).Text {
			remark = "its managedFields alone"
		}
		return Impact{Word: InPlace, Remark: remark}
	}
	w, ok := workloadOf(p.Group(), p.Kind())
	if !ok {
		return Impact{Word: InPlace}
	}
	i := w.rollout(p.Live, p.Final)
	if merge.Identical(merge.At[any](p.Live, w.template...), merge.At[any](p.Final, w.template...)) {
		held := func(obj map[string]any) int64 { return replicas(obj) - w.rollout(obj, obj).Pods }
		n := min(behind(p.Live), i.Pods, held(p.Live)-held(p.Final))
		if i = (Impact{Word: InPlace}); n > 0 {
			i = Impact{Word: RollsOut, Pods: n, Remark: "its rollout was held back"}
		}
	}
	i.Remark = strings.Join(slices.DeleteFunc([]string{i.Remark, w.scaled(p.Live, p.Final)}, func(s string) bool { return s == "" }), "; ")
	return i
}

// rollout returns the impact of another template.
func (w workload) rollout(live, final map[string]any) Impact {
	switch {
	case w.rolls == nil:
		return Impact{Word: InPlace, Remark: w.keeps}
	case merge.At[any](final, "spec", "updateStrategy", "type") == "OnDelete":
		return Impact{Word: InPlace, Remark: "its pods stay until they are deleted: updateStrategy is OnDelete"}
	}
	return w.rolls(live, final)
}

// behind returns the number of pods that have another template than the workload, by its status: 0 if that is unknown.
func behind(live map[string]any) int64 {
	pods := func(name string) int64 { return object.Int(live, 0, "status", name) }
	return pods("replicas") + pods("desiredNumberScheduled") - pods("updatedReplicas") - pods("updatedNumberScheduled")
}

// bare returns an object without the last-applied annotation and managedFields.
func bare(obj map[string]any) any {
	return lastapplied.Without(merge.Without(obj, "metadata", "managedFields"))
}

// scaled describes how many pods a change of spec.replicas starts or stops.
func (w workload) scaled(live, final map[string]any) string {
	if !w.replicas {
		return ""
	}
	was, is := replicas(live), replicas(final)
	switch {
	case is > was:
		return "starts " + pods(is-was)
	case is < was:
		return "stops " + pods(was-is)
	}
	return ""
}

// rollsOut returns InPlace if there is no pod to replace.
func rollsOut(n int64, remark string) Impact {
	if n == 0 {
		return Impact{Word: InPlace, Remark: remark}
	}
	return Impact{Word: RollsOut, Pods: n, Remark: remark}
}

// deployment returns the impact on a Deployment: its controller compares templates, and replaces
// all pods (https://kubernetes.io/docs/concepts/workloads/controllers/deployment/).
func deployment(live, final map[string]any) Impact {
	switch {
	case merge.At[any](final, "spec", "paused") == true:
		return Impact{Word: InPlace, Remark: "its rollout is paused"}
	case merge.At[any](final, "spec", "strategy", "type") == "Recreate":
		return rollsOut(min(replicas(live), replicas(final)), "all at once: strategy is Recreate")
	}
	return rollsOut(min(replicas(live), replicas(final)), "")
}

// statefulSet returns the impact on a StatefulSet: pods below partition keep their revision
// (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#update-strategies).
func statefulSet(live, final map[string]any) Impact {
	partition := object.Int(final, 0, "spec", "updateStrategy", "rollingUpdate", "partition")
	first := object.Int(final, 0, "spec", "ordinals", "start")
	n := min(replicas(live), replicas(final)) - max(0, partition-first)
	remark := ""
	if partition > first {
		remark = fmt.Sprintf("partition is %d", partition)
	}
	return rollsOut(max(0, n), remark)
}

// daemonSet returns the impact on a DaemonSet: only its controller knows the number of pods
// (https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/).
func daemonSet(live, final map[string]any) Impact {
	return rollsOut(object.Int(live, Unknown, "status", "desiredNumberScheduled"), "")
}

func replicas(obj map[string]any) int64 { return object.Int(obj, 1, "spec", "replicas") }

// Fixed returns the immutable fields that a plan changes, as far as they are known without asking
// the server. nil for custom resources, and for fields that depend on more of the object's state.
func Fixed(p apply.Planned) (out []string) {
	if p.Type == nil || p.Live == nil {
		return nil
	}
	for _, f := range p.Type.Fixed {
		if name := f.String(); !slices.Contains(out, name) && f.Forbids(p.Type, p.Live, p.Final) {
			out = append(out, name)
		}
	}
	return out
}

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

// Facts states what a merge of one object means for pods: little enough to be kept for all objects
// of a run, when their sides are not.
type Facts struct {
	Impact
	Object    string // deployment.apps/web
	Namespace string

	values  references.Reference          // to the ConfigMap or Secret whose values change; zero if none do
	reads   map[references.Reference]bool // what its pods read, before and after the merge; see references.Values
	restart string                        // how its pods read values again
}

// Look returns the facts of a plan, which must be whole. The namespace is the object's.
func Look(p apply.Planned, namespace string) Facts {
	f := Facts{Impact: Of(p), Object: p.Name, Namespace: namespace}
	if p.Group() == "" && (p.Kind() == "ConfigMap" || p.Kind() == "Secret") {
		same := merge.Identical(p.Live["data"], p.Final["data"]) && merge.Identical(p.Live["binaryData"], p.Final["binaryData"])
		if p.Action == apply.Change && f.Word != None && !same {
			f.values = references.Reference{Kind: p.Kind(), Name: p.Object.Name()}
		}
		return f
	}
	w, ok := workloadOf(p.Group(), p.Kind())
	if !ok || w.restart == "" || p.Live == nil || f.Word == RollsOut || w.replicas && replicas(p.Live) == 0 {
		return f
	}
	is := p.Final
	if is == nil {
		is = p.Live
	}
	f.restart = w.restart
	if i := w.rollout(is, is); i.Word == InPlace && i.Remark != "" {
		f.restart = restartDelete
	}
	f.reads = references.Values(merge.At[map[string]any](p.Live, append(w.template[:len(w.template):len(w.template)], "spec")...))
	return f
}

// Any reports whether the facts matter: the object is written, or pods of it read ConfigMaps or
// Secrets.
func (f Facts) Any() bool {
	return f.Word != None || len(f.reads) > 0 || f.values != (references.Reference{})
}

// Stale is one object whose running pods keep old values of a ConfigMap or Secret, since
// the run does not replace them.
type Stale struct {
	Object, Namespace string // of the ConfigMap or Secret
	Reader            string // deployment.apps/web
	Env               bool   // read when a container starts; otherwise mounted as files
	restart           string
}

// String describes what happens to the pods, and how they read the new values.
func (s Stale) String() string {
	how := "mounts it, and its pods are not replaced: programs that read the files only at start, and files mounted by subPath, keep the old values until the pods are restarted"
	if s.Env {
		how = "reads it into environment variables, and its pods are not replaced: they keep the old values until they are restarted"
	}
	way := s.restart
	if way == restartRollout {
		way = fmt.Sprintf("%s %s%s", restartRollout, s.Reader, object.In(s.Namespace))
	}
	return s.Reader + " " + how + ": " + way
}

// StaleIn lists the objects whose pods keep old values, in order of the objects that change; nil if
// there are none.
func StaleIn(all []Facts) (out []Stale) {
	type place struct {
		references.Reference
		namespace string
	}
	readers := map[place][]Stale{}
	for _, f := range all {
		for r, env := range f.reads {
			at := place{r, f.Namespace}
			readers[at] = append(readers[at], Stale{Namespace: f.Namespace, Reader: f.Object, Env: env, restart: f.restart})
		}
	}
	for _, f := range all {
		for _, s := range readers[place{f.values, f.Namespace}] {
			s.Object = f.Object
			out = append(out, s)
		}
	}
	return out
}
