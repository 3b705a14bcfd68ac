package ready

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Trouble is a reason that the API gives for a lack of progress.
type Trouble struct {
	Reason string

	// Class is the name under which its patience is counted: the kubelet alternates between
	// ErrImagePull and ImagePullBackOff for the same image.
	Class string

	// Final: it does not pass without a change, so it is not waited for.
	Final bool
}

// Troubles are the reasons of containers, pods and workloads that end a wait. An object
// with any other reason is waited for until the timeout. Those of containers are the
// kubelet's (pkg/kubelet/images/types.go, pkg/kubelet/container/sync_result.go and
// pkg/kubelet/kuberuntime/kuberuntime_container.go).
var Troubles = []Trouble{
	{Reason: "InvalidImageName", Final: true},
	{Reason: "ErrImageNeverPull", Final: true},
	{Reason: "ImagePullBackOff", Class: "ImagePullBackOff"},
	{Reason: "ErrImagePull", Class: "ImagePullBackOff"},
	{Reason: "RegistryUnavailable", Class: "ImagePullBackOff"},
	{Reason: "SignatureValidationFailed", Class: "ImagePullBackOff"},
	{Reason: "CrashLoopBackOff", Class: "CrashLoopBackOff"},
	{Reason: "RunContainerError", Class: "CrashLoopBackOff"},
	{Reason: "PostStartHookError", Class: "CrashLoopBackOff"},
	{Reason: "CreateContainerConfigError", Class: "CreateContainerConfigError"},
	{Reason: "CreateContainerError", Class: "CreateContainerError"},
	{Reason: "Unschedulable", Class: "Unschedulable"},
	{Reason: "FailedCreate", Class: "FailedCreate"},
}

func trouble(reason string) (Trouble, bool) {
	i := slices.IndexFunc(Troubles, func(t Trouble) bool { return t.Reason == reason })
	if i < 0 {
		return Trouble{}, false
	}
	return Troubles[i], true
}

// suspected returns the verdict on an object that waits for problems to pass. One that is
// in no row of Troubles is waited for until the timeout.
func suspected(problems ...Problem) Verdict {
	v := Verdict{State: Waiting, Problem: problems[0]}
	for _, p := range problems {
		t, known := trouble(p.Reason)
		switch {
		case known && t.Final:
			return Verdict{State: Failed, Problem: p}
		case known:
			v.Suspects = append(v.Suspects, p)
		}
	}
	if len(v.Suspects) > 0 {
		v.Problem = v.Suspects[0]
	}
	return v
}

// Newest returns the pods of an object's newest revision that are to stay, by name; nil
// where the object's kind has none.
func Newest(s Subject) []map[string]any {
	s.pods = s.row().newest
	return s.newest()
}

func (s Subject) newest() []map[string]any {
	if s.pods == nil {
		return nil
	}
	return staying(s.pods(s))
}

// staying returns the pods that are not being deleted, by name.
func staying(pods []map[string]any) []map[string]any {
	pods = slices.DeleteFunc(slices.Clone(pods), func(p map[string]any) bool { return merge.At[string](p, "metadata", "deletionTimestamp") != "" })
	slices.SortFunc(pods, func(a, b map[string]any) int {
		return cmp.Compare(merge.At[string](a, "metadata", "name"), merge.At[string](b, "metadata", "name"))
	})
	return pods
}

// Unready returns the first pod of an object's newest revision that has started and is not
// ready, with its first container that is not; "" where there is none. The object may be
// waiting for it.
func Unready(s Subject) (pod, container string) {
	for _, p := range Newest(s) {
		if pod, container = unready(p); container != "" {
			return pod, container
		}
	}
	return "", ""
}

// unready returns the name of a pod that is not ready and has not succeeded, "" for any other.
// container is its first container that is not ready, "" where none has been started.
func unready(p map[string]any) (pod, container string) {
	if isTrue(object.Condition(p, "Ready")) || merge.At[string](p, "status", "phase") == "Succeeded" {
		return "", ""
	}
	for _, c := range containers(p) {
		if !merge.At[bool](c, "ready") {
			return merge.At[string](p, "metadata", "name"), merge.At[string](c, "name")
		}
	}
	return merge.At[string](p, "metadata", "name"), ""
}

// byPods returns the verdict on an object that waits for its pods: a problem of any of
// them, else one with creating them, else an empty Problem.
func byPods(s Subject) Verdict {
	var problems []Problem
	for _, p := range s.newest() {
		problems = append(problems, podProblems(p, s.Now)...)
	}
	if p, ok := notCreated(s); ok {
		problems = append(problems, p)
	}
	if len(problems) == 0 {
		return Verdict{State: Waiting}
	}
	return suspected(problems...)
}

// notCreated reports that a controller could not create a pod, and has created none since.
// A Deployment has a condition for it, other workloads only have events.
func notCreated(s Subject) (Problem, bool) {
	var youngest time.Time
	for _, p := range s.Pods {
		if t := moment(p, "metadata", "creationTimestamp"); t.After(youngest) {
			youngest = t
		}
	}
	for _, e := range s.Events {
		if merge.At[string](e, "reason") == "FailedCreate" && EventTime(e).After(youngest) {
			return Problem{Reason: "FailedCreate", Message: merge.At[string](e, "message")}, true
		}
	}
	return Problem{}, false
}

// EventTime returns when an event happened last, zero where it has no time. An event may
// have either of two forms (v1 Event, KEP-383).
func EventTime(e map[string]any) time.Time {
	for _, path := range [][]string{{"series", "lastObservedTime"}, {"lastTimestamp"}, {"eventTime"}} {
		if t := moment(e, path...); !t.IsZero() {
			return t
		}
	}
	return moment(e, "metadata", "creationTimestamp")
}

// pod judges a Pod without a controller.
func pod(s Subject) Verdict {
	o := s.Object
	switch phase := merge.At[string](o, "status", "phase"); {
	case phase == "Failed":
		return Verdict{State: Failed, Problem: ended(o)}
	case phase == "Succeeded" || isTrue(object.Condition(o, "Ready")):
		return ready("")
	}
	if problems := podProblems(o, s.Now); len(problems) > 0 {
		return suspected(problems...)
	}
	if c := object.Condition(o, "Ready"); c != nil {
		return waiting(because(c), stated(c, "it is not ready"))
	}
	return waiting(reasonProgressing, "it has not been started yet")
}

// ended returns why a pod has failed for good.
func ended(pod map[string]any) Problem {
	p := Problem{Reason: merge.At[string](pod, "status", "reason"), Message: merge.At[string](pod, "status", "message"), Pod: merge.At[string](pod, "metadata", "name")}
	for _, c := range containers(pod) {
		if t := merge.At[map[string]any](c, "state", "terminated"); t != nil && object.Int(t, 0, "exitCode") != 0 {
			p.Container = merge.At[string](c, "name")
			if p.Reason == "" {
				p.Reason, p.Message = cmp.Or(merge.At[string](t, "reason"), "Error"), exited(t)
			}
			break
		}
	}
	if p.Reason == "" {
		p.Reason, p.Message = "Failed", cmp.Or(p.Message, "it has failed and is not restarted")
	}
	return p
}

// exited describes how a container ended.
func exited(terminated map[string]any) string {
	out := fmt.Sprintf("exit code %d", object.Int(terminated, 0, "exitCode"))
	if m := merge.At[string](terminated, "message"); m != "" {
		out += ": " + m
	}
	return out
}

// containers returns the statuses of a pod's containers, in the order in which they start.
func containers(pod map[string]any) []map[string]any {
	return append(merge.MapsAt(pod, "status", "initContainerStatuses"), merge.MapsAt(pod, "status", "containerStatuses")...)
}

// podProblems returns what keeps a pod that has not ended from being ready. That is why it is not
// scheduled, as the server states it (for example a scheduling gate), else why its containers do not run, as the
// kubelet states it, else a readiness gate.
func podProblems(pod map[string]any, now time.Time) (problems []Problem) {
	name := merge.At[string](pod, "metadata", "name")
	if phase := merge.At[string](pod, "status", "phase"); phase == "Succeeded" || phase == "Failed" {
		return nil
	}
	if c := object.Condition(pod, "PodScheduled"); isFalse(c) && merge.At[string](c, "reason") != "" {
		return []Problem{{Reason: merge.At[string](c, "reason"), Message: merge.At[string](c, "message"), Pod: name}}
	}
	for _, c := range containers(pod) {
		p := Problem{Pod: name, Container: merge.At[string](c, "name"), Reason: merge.At[string](c, "state", "waiting", "reason"), Message: merge.At[string](c, "state", "waiting", "message")}
		if !slices.Contains(starting, p.Reason) {
			if last := merge.At[map[string]any](c, "lastState", "terminated"); p.Reason == "CrashLoopBackOff" && last != nil {
				p.Message = exited(last) + ": " + p.Message
			}
			problems = append(problems, p)
		} else if p, ok := crashing(pod, c, now); ok {
			problems = append(problems, p)
		}
	}
	if c := object.Condition(pod, "Ready"); len(problems) == 0 && isFalse(c) && because(c) == "ReadinessGatesNotReady" {
		problems = []Problem{{Reason: because(c), Message: merge.At[string](c, "message"), Pod: name}}
	}
	return problems
}

// starting are the reasons of a container that waits as every container does before its start; "": it does not wait.
var starting = []string{"", "ContainerCreating", "PodInitializing"}

// crashing reports whether a container is between two crashes. The kubelet reports
// CrashLoopBackOff only while it delays the next start. A start that has not lasted longer
// than the one before it proves nothing.
func crashing(pod, c map[string]any, now time.Time) (Problem, bool) {
	last := merge.At[map[string]any](c, "lastState", "terminated")
	running := merge.At[map[string]any](c, "state", "running")
	switch end := merge.At[map[string]any](c, "state", "terminated"); {
	case merge.At[string](pod, "spec", "restartPolicy") == "Never":
		return Problem{}, false
	case end != nil:
		last = end
	case running == nil || merge.At[bool](c, "ready"):
		return Problem{}, false
	case last != nil && now.Sub(moment(running, "startedAt")) > max(moment(last, "finishedAt").Sub(moment(last, "startedAt")), restarting):
		return Problem{}, false
	}
	if last == nil || object.Int(last, 0, "exitCode") == 0 {
		return Problem{}, false
	}
	return Problem{Reason: "CrashLoopBackOff", Message: exited(last), Pod: merge.At[string](pod, "metadata", "name"), Container: merge.At[string](c, "name")}, true
}

// restarting is the minimum time for which a start counts only as the next try: times in
// status have whole seconds.
const restarting = 2 * time.Second
