package ready

import (
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// counts holds how many pods a workload has, as its status reports them.
type counts struct {
	wanted    int64 // pods that there should be
	toUpdate  int64 // how many of them have to be of the newest revision
	updated   int64 // how many are of it
	present   int64 // pods of any revision
	available int64
	noun      string // what is counted
}

// short says why the counts fall short, "" where they do not.
func (c counts) short() string {
	switch {
	case c.updated < c.toUpdate:
		return fmt.Sprintf("%d of %s updated", c.updated, plural(c.toUpdate, c.noun))
	case c.present > c.wanted:
		return fmt.Sprintf("%s of an older revision, or too many, still to be removed", plural(c.present-c.wanted, c.noun))
	case c.available < c.wanted:
		return fmt.Sprintf("%d of %s available", c.available, plural(c.wanted, c.noun))
	}
	return ""
}

// rollout returns the verdict on a workload by its counts and, where they fall short, by
// the pods of its newest revision; remark is added to a ready one.
func rollout(s Subject, c counts, remark string) Verdict {
	why := c.short()
	if why == "" {
		return ready(remark)
	}
	v := byPods(s)
	if v.State == Waiting && v.Problem == (Problem{}) {
		v.Problem = Problem{Reason: reasonProgressing, Message: why}
	}
	return v
}

// deployment judges as kubectl rollout status does, and also by the pods of the ReplicaSet
// with the highest revision.
func deployment(s Subject) Verdict {
	o := s.Object
	wanted := object.Int(o, 1, "spec", "replicas")
	c := counts{
		wanted: wanted, toUpdate: wanted, noun: "replica",
		updated:   object.Int(o, 0, "status", "updatedReplicas"),
		present:   object.Int(o, 0, "status", "replicas"),
		available: object.Int(o, 0, "status", "availableReplicas"),
	}
	progressing := object.Condition(o, "Progressing")
	switch {
	case c.short() == "":
		return ready("")
	case merge.At[bool](o, "spec", "paused"):
		return skipped("Paused", "its rollout is paused: "+c.short())
	case merge.At[string](progressing, "reason") == "ProgressDeadlineExceeded":
		return cause(failed("ProgressDeadlineExceeded", stated(progressing, c.short())), s)
	}
	if c := object.Condition(o, "ReplicaFailure"); isTrue(c) {
		return suspected(Problem{Reason: because(c), Message: merge.At[string](c, "message")})
	}
	return rollout(s, c, "")
}

// cause adds to a verdict the pod, if any, that is the likely reason for it.
func cause(v Verdict, s Subject) Verdict {
	if by := byPods(s); by.Pod != "" {
		v.Pod, v.Container = by.Pod, by.Container
		v.Message += ": " + by.Reason + ": " + by.Message
	}
	return v
}

// lastWords adds to a verdict how the newest failed pod ended.
func lastWords(v Verdict, s Subject) Verdict {
	var last map[string]any
	for _, p := range s.newest() {
		if merge.At[string](p, "status", "phase") == "Failed" && (last == nil || moment(p, "metadata", "creationTimestamp").After(moment(last, "metadata", "creationTimestamp"))) {
			last = p
		}
	}
	if last != nil {
		p := ended(last)
		v.Pod, v.Container = p.Pod, p.Container
		v.Message += ": " + p.Message
	}
	return v
}

// newestReplicaSet returns the uid of the ReplicaSet of a Deployment's newest revision, ""
// where it does not exist yet. A rollback gives an old ReplicaSet the highest number again
// (deployment.kubernetes.io/revision).
func newestReplicaSet(s Subject) string {
	const revision = "deployment.kubernetes.io/revision"
	uid, highest := "", int64(-1)
	for _, rs := range s.ReplicaSets {
		if n := object.Int(rs, 0, "metadata", "annotations", revision); n > highest {
			uid, highest = merge.At[string](rs, "metadata", "uid"), n
		}
	}
	if highest < object.Int(s.Object, 0, "metadata", "annotations", revision) {
		return "" // no controller has seen it yet
	}
	return uid
}

// ofDeployment returns the pods that the newest ReplicaSet controls.
func ofDeployment(s Subject) []map[string]any {
	uid := newestReplicaSet(s)
	return slices.DeleteFunc(slices.Clone(s.Pods), func(p map[string]any) bool { return uid == "" || Controller(p) != uid })
}

// Controller returns the uid of the owner that controls an object, "" where none does.
func Controller(obj map[string]any) string {
	for _, o := range merge.MapsAt(obj, "metadata", "ownerReferences") {
		if merge.At[bool](o, "controller") {
			return merge.At[string](o, "uid")
		}
	}
	return ""
}

// statefulSet judges a StatefulSet. Pods below spec.updateStrategy.rollingUpdate.partition
// keep their revision; with OnDelete all do until they are deleted.
func statefulSet(s Subject) Verdict {
	o := s.Object
	wanted := object.Int(o, 1, "spec", "replicas")
	partition := object.Int(o, 0, "spec", "updateStrategy", "rollingUpdate", "partition")
	c := counts{
		wanted: wanted, toUpdate: max(0, wanted-partition), noun: "replica",
		updated:   object.Int(o, 0, "status", "updatedReplicas"),
		present:   object.Int(o, 0, "status", "replicas"),
		available: object.Int(o, 0, "status", "readyReplicas"),
	}
	if object.Int(o, 0, "spec", "minReadySeconds") > 0 {
		c.available = object.Int(o, 0, "status", "availableReplicas")
	}
	remark := ""
	switch {
	case merge.At[string](o, "spec", "updateStrategy", "type") == "OnDelete":
		c.toUpdate = 0
		remark = older(wanted-c.updated, "updateStrategy is OnDelete")
	case partition > 0:
		remark = older(wanted-c.updated, fmt.Sprintf("partition is %d", partition))
	}
	return held(rollout(s, c, remark), s)
}

// held adds to the verdict on a StatefulSet the pod of an older revision that blocks its
// rollout. With OrderedReady, the default, its controller neither creates nor replaces a
// pod while another one is not ready, even one that never will be
// (kubernetes/kubernetes#67250). Deleting that pod creates one of the newest revision, so
// none of its problems is final.
func held(v Verdict, s Subject) Verdict {
	newest := merge.At[string](s.Object, "status", "updateRevision")
	if v.State != Waiting || newest == "" || merge.At[string](s.Object, "spec", "podManagementPolicy") == "Parallel" {
		return v
	}
	for _, p := range staying(s.Pods) {
		if merge.At[string](p, "metadata", "labels", "controller-revision-hash") == newest {
			continue
		}
		name, c := unready(p)
		if name == "" || merge.At[string](p, "status", "phase") == "Failed" { // the controller replaces it
			continue
		}
		help := "OrderedReady replaces no pod before this one, of an older revision, is ready; if it never will be: kubectl delete pod " + name
		problems, alone := podProblems(p, s.Now), len(v.Suspects) == 0
		for i := range problems {
			problems[i].Message += ": " + help + object.In(merge.At[string](p, "metadata", "namespace"))
			if _, known := trouble(problems[i].Reason); known {
				v.Suspects = append(v.Suspects, problems[i])
			}
		}
		switch {
		case alone && len(problems) == 0:
			v.Problem = Problem{Reason: reasonProgressing, Message: "it is not ready: " + help, Pod: name, Container: c}
		case alone:
			v.Problem = problems[0]
		}
		return v
	}
	return v
}

func ofStatefulSet(s Subject) []map[string]any {
	return labelled(s.Pods, "controller-revision-hash", merge.At[string](s.Object, "status", "updateRevision"))
}

// older adds a remark about pods that keep an older revision on purpose.
func older(n int64, why string) string {
	if n <= 0 {
		return ""
	}
	return plural(n, "replica") + " of an older revision: " + why
}

// labelled returns the pods with that label.
func labelled(pods []map[string]any, name, value string) []map[string]any {
	return slices.DeleteFunc(slices.Clone(pods), func(p map[string]any) bool { return merge.At[string](p, "metadata", "labels", name) != value })
}

func daemonSet(s Subject) Verdict {
	o := s.Object
	wanted := object.Int(o, 0, "status", "desiredNumberScheduled")
	c := counts{
		wanted: wanted, toUpdate: wanted, present: wanted, noun: "pod",
		updated:   object.Int(o, 0, "status", "updatedNumberScheduled"),
		available: object.Int(o, 0, "status", "numberAvailable"),
	}
	remark := ""
	if merge.At[string](o, "spec", "updateStrategy", "type") == "OnDelete" {
		c.toUpdate = 0
		remark = older(wanted-c.updated, "updateStrategy is OnDelete")
	}
	return rollout(s, c, remark)
}

// ofDaemonSet selects pods by the number that the controller gives to each form of the template.
func ofDaemonSet(s Subject) []map[string]any {
	generation := merge.At[string](s.Object, "metadata", "annotations", "deprecated.daemonset.template.generation")
	if generation == "" {
		return s.Pods
	}
	return labelled(s.Pods, "pod-template-generation", generation)
}

// Ended reports whether a Job has ended, well or not: none of its pods still runs, and none
// is created.
func Ended(job map[string]any) bool {
	return isTrue(object.Condition(job, "Complete")) || isTrue(object.Condition(job, "Failed"))
}

// job judges a Job. Its controller replaces failed pods until backoffLimit, so only
// conditions report a failure; pods only explain a lack of progress.
func job(s Subject) Verdict {
	o := s.Object
	if c := object.Condition(o, "Complete"); isTrue(c) {
		return ready("")
	}
	if c := object.Condition(o, "Failed"); isTrue(c) {
		return lastWords(failed(because(c), stated(c, "the job has failed")), s)
	}
	if c := object.Condition(o, "FailureTarget"); isTrue(c) {
		return waiting(because(c), stated(c, "the job has failed, and its pods are being ended"))
	}
	if merge.At[bool](o, "spec", "suspend") {
		return skipped("Suspended", "it is suspended")
	}
	v := byPods(s)
	switch {
	case v.State != Waiting || v.Problem != (Problem{}):
		return v
	case merge.At[any](o, "status") == nil || merge.At[string](o, "status", "startTime") == "":
		return unobserved("its status is not written yet", true)
	}
	v.Problem = Problem{Reason: reasonProgressing, Message: fmt.Sprintf("%d of %s succeeded", object.Int(o, 0, "status", "succeeded"), plural(object.Int(o, 1, "spec", "completions"), "pod"))}
	return v
}
