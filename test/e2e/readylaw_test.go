package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// readyEnd is the final state of a workload.
type readyEnd uint8

const (
	comesUp readyEnd = iota
	failsForGood
	staysUnready
)

// readyAct is an act of a workload that is played, and its end.
type readyAct struct {
	image   string // of the kubelet of ../cluster
	before  string // image that it had before; "" for none
	job     bool
	ordered bool // a StatefulSet whose pods start one after the other
	deleted bool // by another client, while it is waited for
	end     readyEnd
	because string // what the report has to name; "" where nothing is known of it
}

var readyActs = []readyAct{
	{image: "web:1", end: comesUp}, {image: "slow:1", end: comesUp}, {image: "flaky:1", end: comesUp}, {image: "web:1", ordered: true, end: comesUp},
	{image: "slow:2", before: "missing:1", end: comesUp}, {image: "web:2", before: "crash:1", end: comesUp}, {image: "web:2", before: "web:1", ordered: true, end: comesUp},
	{image: "missing:1", end: failsForGood, because: "ImagePull"}, {image: "missing:2", before: "web:1", end: failsForGood, because: "ImagePull"},
	{image: "crash:1", end: failsForGood, because: "CrashLoopBackOff"}, {image: "Wrong:1", end: failsForGood, because: "InvalidImageName"},
	{image: "unready:1", end: staysUnready}, {image: "unready:2", before: "web:1", end: staysUnready},
	{image: "unready:1", deleted: true, end: failsForGood, because: "Deleted"},
	// No pod of theirs is ever replaced (kubernetes/kubernetes#67250).
	{image: "web:2", before: "crash:1", ordered: true, end: failsForGood, because: "kubectl delete pod"},
	{image: "web:2", before: "unready:1", ordered: true, end: staysUnready, because: "kubectl delete pod"},
	{image: "exit-0:1", job: true, end: comesUp}, {image: "exit-1:1", job: true, end: failsForGood, because: "exit code 1"},
}

// workload is one of some kind that may play the act, and a manifest of it with an image.
func (a readyAct) workload(r *rand.Rand, name string) (ref string, manifest func(image string) string) {
	kind := []string{"Deployment", "StatefulSet", "DaemonSet"}[r.IntN(3)]
	spec := map[string]string{"Deployment": "replicas: 2", "StatefulSet": "replicas: 2, serviceName: none, podManagementPolicy: Parallel", "DaemonSet": "minReadySeconds: 0"}[kind]
	switch {
	case a.job:
		return "job.batch/" + name, func(image string) string {
			return fmt.Sprintf("---\n{apiVersion: batch/v1, kind: Job, metadata: {name: %s}, spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: app, image: %q}]}}}}\n", name, image)
		}
	case a.ordered:
		kind, spec = "StatefulSet", "replicas: 2, serviceName: none"
	}
	return strings.ToLower(kind) + ".apps/" + name, func(image string) string {
		return fmt.Sprintf("---\n{apiVersion: apps/v1, kind: %s, metadata: {name: %s}, spec: {%s, selector: {matchLabels: {app: %s}}, template: {metadata: {labels: {app: %s}}, spec: {containers: [{name: app, image: %q}]}}}}\n",
			kind, name, spec, name, name, image)
	}
}

// TestLawReadyServer rolls out random workloads, while the wait's own requests fail now and
// then: what is called ready is rolled out to kubectl rollout status, too; what has failed
// for good ends the wait before its time, with the reason; and only what never comes up
// waits it out.
func TestLawReadyServer(t *testing.T) {
	t.Parallel()
	s := staffed.need(t)
	n := seed(t)
	counts := &tally{counts: map[string]int{}}
	t.Cleanup(func() { t.Logf("%s", counts) })
	for i := range uint64(24 * *soak) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			readyRun{user: s.user(t, "law"), ends: map[string]readyAct{}}.play(rand.New(rand.NewPCG(n, i)), counts)
		})
	}
}

// readyRun is one wait for some workloads.
type readyRun struct {
	*user
	ends map[string]readyAct // by what the program calls them
}

func (u readyRun) play(r *rand.Rand, counts *tally) {
	u.t.Helper()
	var before, after strings.Builder
	for i := range 1 + r.IntN(3) {
		act := readyActs[r.IntN(len(readyActs))]
		ref, manifest := act.workload(r, fmt.Sprintf("x%d", i))
		u.ends[ref] = act
		after.WriteString(manifest(act.image))
		if act.before != "" {
			before.WriteString(manifest(act.before))
		}
	}
	if before.Len() > 0 {
		u.merges("-f", u.file("before.yaml", before.String()))
		u.t.Log(u.tries("kubectl-merge", "wait", "-f", "before.yaml", "--patience=1s", "--timeout=5s"))
	}
	u.merges("-f", u.file("all.yaml", after.String()))
	p, err := newProxy(u.server.config)
	if err != nil {
		u.t.Fatal(err)
	}
	defer p.http.Close()
	harm := p.fails(readyFault(r, u.ns))
	timeout := 3 * time.Minute
	if u.worst() == staysUnready {
		timeout = 10 * time.Second
	}
	ended := make(chan said, 1)
	go func() {
		ended <- u.proxied(p).tries("kubectl-merge", "wait", "-f", "all.yaml", "--patience=10s", "--timeout="+timeout.String())
	}()
	for ref, act := range u.ends {
		if act.deleted {
			watch := regexp.MustCompile("/" + strings.Split(ref, ".")[0] + `s\?.*watch=true`) // it has been listed before
			u.awaits(func() bool { return len(ended) > 0 || p.came(watch) > 0 })
			u.does("kubectl", "delete", strings.Replace(ref, ".apps", "", 1), "--ignore-not-found")
		}
	}
	u.hold(<-ended, timeout)
	counts.add("waits", 1)
	counts.add("workloads", len(u.ends))
	counts.add("faults", p.hit(harm))
	counts.add([]string{"ready", "failed", "timed out"}[u.worst()], 1)
}

// worst is how the wait has to end: a failure ends it at once.
func (u readyRun) worst() readyEnd {
	worst := comesUp
	for _, act := range u.ends {
		if worst == comesUp || act.end == failsForGood {
			worst = act.end
		}
	}
	return worst
}

// readyFault is one of the faults that a wait has to bear, at some of its requests.
func readyFault(r *rand.Rand, ns string) fault {
	hits := func(request string) bool {
		return strings.Contains(request, "/namespaces/"+ns+"/") && strings.Contains(request, "?")
	}
	do := []harm{
		refuse(http.StatusGone, "Expired", "too old resource version"), refuse(http.StatusInternalServerError, "InternalError", "etcd is tired"), cutBefore, gateway,
	}[r.IntN(4)]
	return fault{hits: hits, skip: r.IntN(4), most: 1 + r.IntN(4), do: do}
}

// hold holds what a wait has reported to what was played.
func (u readyRun) hold(got said, timeout time.Duration) {
	u.t.Helper()
	failed := 0
	for ref, act := range u.ends {
		says := strings.Contains(got.stdout, ref+" ready")
		reported := strings.Contains(got.stderr, "error: "+ref+": failed: ")
		if reported {
			failed++
		}
		switch {
		case says && act.end != comesUp:
			u.t.Errorf("%s is called ready\n%s", ref, got)
		case reported && act.end != failsForGood:
			u.t.Errorf("%s is called failed\n%s", ref, got)
		case (reported || u.worst() == staysUnready) && !explained(got.stderr, ref, act.because):
			u.t.Errorf("%s: want %q in the report\n%s", ref, act.because, got)
		case says && !act.job:
			u.does("kubectl", "rollout", "status", strings.Replace(ref, ".apps", "", 1), "--timeout=5m")
		}
	}
	switch worst := u.worst(); {
	case worst == comesUp && got.code != 0, worst != comesUp && got.code != 4:
		u.t.Errorf("exit %d for %v\n%s", got.code, u.ends, got)
	case worst == failsForGood && (failed == 0 || strings.Contains(got.stderr, "not ready within")):
		u.t.Errorf("what has failed for good is not reported as that before the time is over\n%s", got)
	case worst == staysUnready && !strings.Contains(got.stderr, "not ready within "+timeout.String()):
		u.t.Errorf("nothing waited out the time\n%s", got)
	}
}

// explained: the error about an object, if there is one, says why.
func explained(stderr, ref, because string) bool {
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "error: "+ref+": ") {
			return strings.Contains(line, because)
		}
	}
	return true
}
