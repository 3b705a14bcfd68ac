// Package kstatus holds the verdicts of internal/ready to those of kstatus, which kpt, Flux and
// Helm go by, in the same situations: they agree, but for named differences. It is a module
// of its own, so that kstatus is in no list of what the program is made of.
package kstatus

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-merge/kubectl-merge/internal/ready"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// situation is an object in some state, as a server has it, and what both say of it.
type situation struct {
	name     string
	object   string
	pod      string // of its newest revision
	kstatus  status.Status
	ready    ready.State
	differs  string // why the two differ; "" where they agree
	patience bool   // after the patience, if the state lasts
}

const (
	web     = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: ns, uid: d, generation: 2, annotations: {deployment.kubernetes.io/revision: '1'}}, spec: {replicas: 1}, status: "
	db      = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: ns, uid: d, generation: 2}, spec: {replicas: 2, updateStrategy: {type: %}}, status: "
	agent   = "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent, namespace: ns, uid: d, generation: 2}, spec: {updateStrategy: {type: RollingUpdate}}, status: "
	once    = "{apiVersion: batch/v1, kind: Job, metadata: {name: once, namespace: ns, uid: d, generation: 1}, spec: {completions: 1}, status: "
	pod     = "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, uid: d}, spec: {}, status: "
	claim   = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: ns, uid: d}, spec: {}, status: "
	public  = "{apiVersion: v1, kind: Service, metadata: {name: public, namespace: ns, uid: d}, spec: {type: LoadBalancer, clusterIP: 10.0.0.1}, status: "
	widget  = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: ns, uid: d, generation: 2}, spec: {}"
	crash   = "{phase: Running, containerStatuses: [{name: app, state: {waiting: {reason: CrashLoopBackOff, message: back-off}}}]}"
	missing = "{phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ImagePullBackOff, message: back-off}}}]}"
	done    = "{type: Progressing, status: 'True', reason: NewReplicaSetAvailable}, {type: Available, status: 'True'}"
)

var situations = []situation{
	{name: "a Deployment that is rolled out", object: web + "{observedGeneration: 2, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [" + done + "]}}", kstatus: status.CurrentStatus, ready: ready.Ready},
	{name: "a Deployment that was never observed", object: web + "{observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [" + done + "]}}", kstatus: status.InProgressStatus, ready: ready.Waiting},
	{name: "a Deployment on its way", object: web + "{observedGeneration: 2, replicas: 2, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [" + done + "]}}", kstatus: status.InProgressStatus, ready: ready.Waiting},
	{name: "a Deployment past its deadline", object: web + "{observedGeneration: 2, replicas: 1, updatedReplicas: 1, conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded, message: too slow}]}}", kstatus: status.FailedStatus, ready: ready.Failed},
	{name: "a Deployment whose image cannot be pulled", object: web + "{observedGeneration: 2, replicas: 1, updatedReplicas: 1, conditions: [" + done + "]}}", pod: missing, patience: true, kstatus: status.InProgressStatus, ready: ready.Failed,
		differs: "kstatus looks at no pods, and so waits out its timeout"},
	{name: "a Deployment whose container crashes", object: web + "{observedGeneration: 2, replicas: 1, updatedReplicas: 1, conditions: [" + done + "]}}", pod: crash, patience: true, kstatus: status.InProgressStatus, ready: ready.Failed,
		differs: "kstatus looks at no pods, and so waits out its timeout"},
	{name: "a Deployment that is paused before its rollout", object: strings.Replace(web, "replicas: 1", "replicas: 1, paused: true", 1) + "{observedGeneration: 2, replicas: 1, updatedReplicas: 0, readyReplicas: 1, availableReplicas: 1, conditions: [" + done + "]}}", kstatus: status.InProgressStatus, ready: ready.Skipped,
		differs: "nothing happens until it is resumed"},
	{name: "a StatefulSet that is rolled out", object: strings.Replace(db, "%", "RollingUpdate", 1) + "{observedGeneration: 2, replicas: 2, readyReplicas: 2, currentReplicas: 2, updatedReplicas: 2, currentRevision: a, updateRevision: a}}", kstatus: status.CurrentStatus, ready: ready.Ready},
	{name: "a StatefulSet on its way", object: strings.Replace(db, "%", "RollingUpdate", 1) + "{observedGeneration: 2, replicas: 2, readyReplicas: 1, currentReplicas: 1, updatedReplicas: 1, currentRevision: a, updateRevision: b}}", kstatus: status.InProgressStatus, ready: ready.Waiting},
	{name: "a StatefulSet with OnDelete whose pods do not run", object: strings.Replace(db, "%", "OnDelete", 1) + "{observedGeneration: 2, replicas: 2, readyReplicas: 0, currentReplicas: 2, updatedReplicas: 0, currentRevision: a, updateRevision: b}}", kstatus: status.CurrentStatus, ready: ready.Waiting,
		differs: "kstatus calls every StatefulSet with OnDelete current"},
	{name: "a DaemonSet that is rolled out", object: agent + "{observedGeneration: 2, desiredNumberScheduled: 1, currentNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1, numberReady: 1}}", kstatus: status.CurrentStatus, ready: ready.Ready},
	{name: "a DaemonSet on its way", object: agent + "{observedGeneration: 2, desiredNumberScheduled: 2, currentNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 1, numberReady: 1}}", kstatus: status.InProgressStatus, ready: ready.Waiting},
	{name: "a Job that runs", object: once + "{startTime: '2026-01-02T11:00:00Z', active: 1}}", kstatus: status.CurrentStatus, ready: ready.Waiting,
		differs: "kstatus calls a Job current as soon as it has started"},
	{name: "a Job that is complete", object: once + "{startTime: '2026-01-02T11:00:00Z', succeeded: 1, conditions: [{type: Complete, status: 'True'}]}}", kstatus: status.CurrentStatus, ready: ready.Ready},
	{name: "a Job that has failed", object: once + "{startTime: '2026-01-02T11:00:00Z', failed: 1, conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded}]}}", kstatus: status.FailedStatus, ready: ready.Failed},
	{name: "a Pod that is ready", object: pod + "{phase: Running, conditions: [{type: Ready, status: 'True'}]}}", kstatus: status.CurrentStatus, ready: ready.Ready},
	{name: "a Pod that has succeeded", object: pod + "{phase: Succeeded, conditions: [{type: Ready, status: 'False', reason: PodCompleted}]}}", kstatus: status.CurrentStatus, ready: ready.Ready},
	{name: "a Pod that has failed", object: pod + "{phase: Failed, containerStatuses: [{name: app, state: {terminated: {exitCode: 1}}}]}}", kstatus: status.CurrentStatus, ready: ready.Failed,
		differs: "kstatus calls a pod current that has ended, however it did"},
	{name: "a claim that is bound", object: claim + "{phase: Bound}}", kstatus: status.CurrentStatus, ready: ready.Ready},
	{name: "a claim that is pending", object: claim + "{phase: Pending}}", kstatus: status.InProgressStatus, ready: ready.Waiting},
	{name: "a LoadBalancer without address", object: public + "{loadBalancer: {}}}", kstatus: status.CurrentStatus, ready: ready.Waiting,
		differs: "kstatus asks for a clusterIP alone"},
	{name: "a custom resource whose status was never written", object: widget + "}", kstatus: status.CurrentStatus, ready: ready.Waiting,
		differs: "kstatus knows no schema, and takes a missing status for a kind without one"},
	{name: "a custom resource that is stalled", object: widget + ", status: {observedGeneration: 2, conditions: [{type: Stalled, status: 'True', reason: Ill}]}}", kstatus: status.FailedStatus, ready: ready.Failed},
	{name: "a custom resource that is ready", object: widget + ", status: {observedGeneration: 2, conditions: [{type: Ready, status: 'True', reason: Fine}]}}", kstatus: status.CurrentStatus, ready: ready.Ready},
	{name: "a custom resource that is not available", object: widget + ", status: {observedGeneration: 2, conditions: [{type: Available, status: 'False', reason: Ill}]}}", kstatus: status.CurrentStatus, ready: ready.Waiting,
		differs: "of the conditions kstatus knows Ready alone"},
	{name: "an object that is being deleted", object: strings.Replace(widget, "generation: 2", "generation: 2, deletionTimestamp: '2026-01-02T11:00:00Z'", 1) + "}", kstatus: status.TerminatingStatus, ready: ready.Failed,
		differs: "to kstatus that is a state of its own"},
}

// same says which of kstatus' words means what a verdict does.
var same = map[status.Status]ready.State{
	status.CurrentStatus: ready.Ready, status.InProgressStatus: ready.Waiting, status.FailedStatus: ready.Failed,
}

func TestKstatus(t *testing.T) {
	differ := 0
	for _, s := range situations {
		got, err := status.Compute(&unstructured.Unstructured{Object: native(t, s.object)})
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		verdict := judge(t, s)
		if got.Status != s.kstatus || verdict.State != s.ready {
			t.Errorf("%s: kstatus says %s (%s), want %s; ready says %s (%s), want %s", s.name, got.Status, got.Message, s.kstatus, verdict.State, verdict.Problem, s.ready)
		}
		if agree := same[s.kstatus] == s.ready; agree != (s.differs == "") {
			t.Errorf("%s: kstatus %s, ready %s, difference %q", s.name, s.kstatus, s.ready, s.differs)
		}
		if s.differs != "" {
			differ++
		}
	}
	t.Logf("%d situations, %d named differences", len(situations), differ)
}

// TestDocumented holds the table of docs/wait.md to the situations.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/wait.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range situations {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(s.name) + ` \| ` + string(s.kstatus) + ` \| ` + regexp.QuoteMeta(string(s.ready)))
		if (s.differs != "") != row.Match(doc) {
			t.Errorf("docs/wait.md: want a row exactly where the two differ: %q, %s, %s", s.name, s.kstatus, s.ready)
		}
	}
}

// judge is the verdict of internal/ready, after the patience where the situation asks for it.
func judge(t *testing.T, s situation) ready.Verdict {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	subject := ready.Subject{Object: exact(t, s.object), Now: now}
	if strings.Contains(s.object, "kind: Widget") {
		defs, err := schema.FromCRD(exact(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, properties: {observedGeneration: {type: integer}, conditions: {type: array, items: {type: object}}}}}}}}]}}`), "test")
		if err != nil {
			t.Fatal(err)
		}
		subject.Type = defs[0].Type
	}
	if s.pod != "" {
		subject.ReplicaSets = []map[string]any{exact(t, "{metadata: {uid: r, annotations: {deployment.kubernetes.io/revision: '1'}}}")}
		subject.Pods = []map[string]any{exact(t, "{metadata: {name: p, uid: p, ownerReferences: [{controller: true, uid: r}]}, status: "+s.pod+"}")}
	}
	const patience = 30 * time.Second
	var h ready.History
	h, v := h.Next(ready.Judge(subject), now, patience)
	if s.patience {
		subject.Now = now.Add(patience)
		_, v = h.Next(ready.Judge(subject), subject.Now, patience)
	}
	return v
}

// native is an object as unstructured holds it, exact one as this project does.
func native(t *testing.T, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return u.Object
}

func exact(t *testing.T, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v, err := merge.ReadJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}
