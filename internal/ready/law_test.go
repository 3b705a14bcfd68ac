package ready_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/ready"
)

// TestLawReady plays random histories of status: whatever is called ready satisfies the
// table, worked out anew here from the same status, at that moment; whatever has failed
// for good is called failed by then; and a problem is a failure exactly when it has
// lasted for the patience without a break.
func TestLawReady(t *testing.T) {
	const (
		histories = 600
		steps     = 25
		patience  = 30 * time.Second
	)
	r := rand.New(rand.NewPCG(18, 36))
	counts := map[ready.State]int{}
	for n := range histories {
		kind := []string{"Deployment", "StatefulSet", "DaemonSet", "Job", "Pod", "Widget"}[n%6]
		var (
			h     ready.History
			since = map[string]time.Time{} // of what lasts
			now   = noon
		)
		row := ready.Find(groups[kind], "v1", kind)
		for range steps {
			now = now.Add(time.Duration(1+r.IntN(15)) * time.Second)
			s := randomSubject(r, kind)
			s.Now = now
			var v ready.Verdict
			h, v = h.Next(row.Judge(s), now, patience)
			counts[v.State]++
			if why := breaks(s, kind, v, lasting(s, kind, since, now), patience); why != "" {
				text, _ := json.Marshal(s.Object)
				pods, _ := json.Marshal(s.Pods)
				t.Fatalf("history %d: %s: %v\n%s\npods %s", n, why, v, text, pods)
			}
		}
	}
	for _, state := range []ready.State{ready.Waiting, ready.Ready, ready.Failed, ready.Skipped} {
		if counts[state] < histories/20 {
			t.Errorf("only %d verdicts are %s: the histories are too much alike", counts[state], state)
		}
	}
	t.Logf("%d verdicts: %v", histories*steps, counts)
}

var groups = map[string]string{"Deployment": "apps", "StatefulSet": "apps", "DaemonSet": "apps", "Job": "batch", "Widget": "example.com"}

type m = map[string]any

func num(n int) json.Number { return json.Number(strconv.Itoa(n)) }

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// randomSubject is an object of a kind in some state, with two pods: new of its newest
// revision, old of another.
func randomSubject(r *rand.Rand, kind string) ready.Subject {
	meta := m{"name": "x", "uid": "u", "generation": num(2)}
	spec, status := m{}, m{"observedGeneration": num(pick(r, 1, 2, 2, 2, 2))}
	obj := m{"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": spec, "status": status}
	owner := "u"
	switch kind {
	case "Deployment":
		owner = "rs2"
		meta["annotations"] = m{"deployment.kubernetes.io/revision": "2"}
		spec["replicas"], spec["paused"] = num(r.IntN(3)), r.IntN(10) == 0
		status["replicas"], status["updatedReplicas"], status["availableReplicas"] = num(r.IntN(3)), num(r.IntN(3)), num(r.IntN(3))
		if r.IntN(8) == 0 {
			status["conditions"] = []any{m{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}}
		}
	case "StatefulSet":
		spec["replicas"], status["updateRevision"] = num(r.IntN(3)), "r2"
		status["replicas"], status["updatedReplicas"], status["readyReplicas"] = num(r.IntN(3)), num(r.IntN(3)), num(r.IntN(3))
		spec["podManagementPolicy"] = pick(r, "Parallel", "OrderedReady")
		spec["updateStrategy"] = m{"type": pick(r, "RollingUpdate", "OnDelete"), "rollingUpdate": m{"partition": num(r.IntN(2))}}
	case "DaemonSet":
		meta["annotations"] = m{"deprecated.daemonset.template.generation": "2"}
		status["desiredNumberScheduled"], status["updatedNumberScheduled"], status["numberAvailable"] = num(r.IntN(3)), num(r.IntN(3)), num(r.IntN(3))
	case "Job":
		obj["apiVersion"] = "batch/v1"
		status["startTime"] = "2026-01-02T11:00:00Z"
		spec["suspend"] = r.IntN(5) == 0
		if r.IntN(3) == 0 {
			status["conditions"] = []any{m{"type": pick(r, "Complete", "Failed"), "status": pick(r, "True", "False")}}
		}
	case "Pod":
		obj["apiVersion"] = "v1"
		return ready.Subject{Object: randomPod(r, "new", "", obj)}
	case "Widget":
		obj["apiVersion"] = "example.com/v1"
		status["conditions"] = []any{m{"type": pick(r, "Ready", "Available", "Stalled"), "status": pick(r, "True", "False", "Unknown"), "observedGeneration": num(pick(r, 1, 2, 2))}}
	}
	set := func(uid, revision string) m {
		return m{"metadata": m{"uid": uid, "annotations": m{"deployment.kubernetes.io/revision": revision}}}
	}
	pods := []map[string]any{randomPod(r, "new", owner, m{}), randomPod(r, "old", pick(r, "rs1", "u"), m{})}
	if kind == "Job" {
		pods = pods[:1] // which has no revisions
	}
	return ready.Subject{Object: obj, ReplicaSets: []map[string]any{set("rs1", "1"), set("rs2", "2")}, Pods: pods}
}

var reasons = []string{"", "", "ContainerCreating", "ImagePullBackOff", "ErrImagePull", "CrashLoopBackOff", "CreateContainerConfigError", "InvalidImageName", "ErrImageNeverPull"}

func randomPod(r *rand.Rand, name, owner string, pod m) m {
	generation := map[string]string{"new": "2", "old": "1"}[name]
	pod["metadata"] = m{"name": name, "uid": name, "labels": m{"controller-revision-hash": "r" + generation, "pod-template-generation": generation},
		"ownerReferences": []any{m{"controller": true, "uid": owner}}}
	state := m{"running": m{"startedAt": "2026-01-01T00:00:00Z"}}
	if reason := pick(r, reasons...); reason != "" {
		state = m{"waiting": m{"reason": reason}}
	}
	pod["status"] = m{
		"phase":             pick(r, "Pending", "Running", "Running", "Running", "Succeeded", "Failed"),
		"conditions":        []any{m{"type": "Ready", "status": pick(r, "True", "False", "False")}},
		"containerStatuses": []any{m{"name": "app", "ready": false, "state": state}},
	}
	return pod
}

// The table once more, in the plainest words there are.

func n(obj map[string]any, path ...string) int {
	v, _ := strconv.Atoi(fmt.Sprint(get(obj, path...)))
	return v
}

func get(obj map[string]any, path ...string) any {
	var v any = obj
	for _, p := range path {
		inner, _ := v.(map[string]any)
		v = inner[p]
	}
	return v
}

func has(obj map[string]any, kind, status string) bool {
	list, _ := get(obj, "status", "conditions").([]any)
	return slices.ContainsFunc(list, func(c any) bool { return get(c.(m), "type") == kind && get(c.(m), "status") == status })
}

func satisfied(o map[string]any, kind string) bool {
	seen := n(o, "status", "observedGeneration") >= n(o, "metadata", "generation")
	switch want := n(o, "spec", "replicas"); kind {
	case "Deployment":
		return seen && n(o, "status", "updatedReplicas") >= want && n(o, "status", "replicas") <= want && n(o, "status", "availableReplicas") >= want
	case "StatefulSet":
		update := want - n(o, "spec", "updateStrategy", "rollingUpdate", "partition")
		if get(o, "spec", "updateStrategy", "type") == "OnDelete" {
			update = 0
		}
		return seen && n(o, "status", "updatedReplicas") >= update && n(o, "status", "replicas") <= want && n(o, "status", "readyReplicas") >= want
	case "DaemonSet":
		want = n(o, "status", "desiredNumberScheduled")
		return seen && n(o, "status", "updatedNumberScheduled") >= want && n(o, "status", "numberAvailable") >= want
	case "Job":
		return has(o, "Complete", "True")
	case "Pod":
		return get(o, "status", "phase") == "Succeeded" || get(o, "status", "phase") != "Failed" && has(o, "Ready", "True")
	}
	return seen && !has(o, "Stalled", "True") && !has(o, "Ready", "False") && !has(o, "Ready", "Unknown") && !has(o, "Available", "False") && !has(o, "Available", "Unknown")
}

// troubleOf is the reason of a pod that is not to end, "" where there is none.
func troubleOf(pod m) string {
	if phase := get(pod, "status", "phase"); phase == "Succeeded" || phase == "Failed" {
		return ""
	}
	status := get(pod, "status", "containerStatuses").([]any)[0].(m)
	reason, _ := get(status, "state", "waiting", "reason").(string)
	if reason == "ErrImagePull" {
		reason = "ImagePullBackOff"
	}
	return reason
}

// newTrouble is that of the pod of the newest revision.
func newTrouble(s ready.Subject, kind string) string {
	if kind == "Pod" {
		return troubleOf(s.Object)
	}
	return troubleOf(s.Pods[0])
}

// oldTrouble is that of the pod of the older revision, where no pod is replaced before it
// is ready.
func oldTrouble(s ready.Subject, kind string) string {
	if kind != "StatefulSet" || get(s.Object, "spec", "podManagementPolicy") != "OrderedReady" || has(s.Pods[1], "Ready", "True") {
		return ""
	}
	return troubleOf(s.Pods[1])
}

// lasting notes since when the problems that can pass are there, and gives the longest.
func lasting(s ready.Subject, kind string, since map[string]time.Time, now time.Time) time.Duration {
	there := map[string]bool{}
	if !over(s, kind) {
		passes := []string{"ImagePullBackOff", "CrashLoopBackOff", "CreateContainerConfigError"}
		if reason := newTrouble(s, kind); slices.Contains(passes, reason) {
			there["new "+reason] = true
		}
		// Deleting the older pod ends any trouble of it.
		if reason := oldTrouble(s, kind); slices.Contains(append(passes, finals...), reason) {
			there["old "+reason] = true
		}
	}
	longest := time.Duration(-1)
	for key := range since {
		if !there[key] {
			delete(since, key)
		}
	}
	for key := range there {
		if _, ok := since[key]; !ok {
			since[key] = now
		}
		longest = max(longest, now.Sub(since[key]))
	}
	return longest
}

var finals = []string{"InvalidImageName", "ErrImageNeverPull"}

// over: the object's pods are no longer considered.
func over(s ready.Subject, kind string) bool {
	o := s.Object
	stale := kind != "Job" && kind != "Pod" && n(o, "status", "observedGeneration") < n(o, "metadata", "generation")
	paused := get(o, "spec", "paused") == true || kind == "Job" && get(o, "spec", "suspend") == true
	return kind == "Widget" || stale || paused || satisfied(o, kind) || dead(o, kind)
}

// dead: the object's own status says that it has failed.
func dead(o map[string]any, kind string) bool {
	switch kind {
	case "Deployment":
		return has(o, "Progressing", "False") && !satisfied(o, kind) && n(o, "status", "observedGeneration") >= 2 && get(o, "spec", "paused") != true
	case "Job":
		return has(o, "Failed", "True")
	case "Pod":
		return get(o, "status", "phase") == "Failed"
	}
	return false
}

// breaks says which part of the law a verdict breaks, "" for none.
func breaks(s ready.Subject, kind string, v ready.Verdict, lasts, patience time.Duration) string {
	final := !over(s, kind) && slices.Contains(finals, newTrouble(s, kind))
	mustFail := dead(s.Object, kind) || final || lasts >= patience
	if kind == "Widget" {
		mustFail = false
		for _, c := range get(s.Object, "status", "conditions").([]any) {
			mustFail = mustFail || get(c.(m), "type") == "Stalled" && get(c.(m), "status") == "True" && n(c.(m), "observedGeneration") >= 2 && n(s.Object, "status", "observedGeneration") >= 2
		}
	}
	switch {
	case v.State == ready.Ready && !satisfied(s.Object, kind):
		return "called ready, and the table says otherwise"
	case v.State == ready.Failed && !mustFail:
		return "called failed too early"
	case v.State != ready.Failed && mustFail:
		return "has failed, and is called " + string(v.State)
	}
	return ""
}
