package ready_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-merge/kubectl-merge/internal/ready"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// object reads one object from YAML, with exact numbers.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	v, err := merge.ReadJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

func objects(t testing.TB, texts ...string) []map[string]any {
	var all []map[string]any
	for _, text := range texts {
		all = append(all, object(t, text))
	}
	return all
}

// say is a verdict in one line.
func say(v ready.Verdict) string {
	out := string(v.State)
	if p := v.Problem.String(); p != "" {
		out += ": " + p
	}
	if v.Unobserved {
		out += " (unobserved)"
	}
	if len(v.Suspects) > 0 {
		out += fmt.Sprintf(" (%d suspects)", len(v.Suspects))
	}
	return out
}

// kinds are the heads of objects.
var heads = map[string]string{
	"deployment":  "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, uid: d, generation: 2, annotations: {deployment.kubernetes.io/revision: '2'}}, ",
	"statefulset": "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, uid: s, generation: 2}, ",
	"daemonset":   "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent, uid: a, generation: 2, annotations: {deprecated.daemonset.template.generation: '2'}}, ",
	"job":         "{apiVersion: batch/v1, kind: Job, metadata: {name: once, uid: j, generation: 1}, ",
	"pod":         "{apiVersion: v1, kind: Pod, metadata: {name: p, uid: p}, ",
	"claim":       "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, uid: c}, ",
	"service":     "{apiVersion: v1, kind: Service, metadata: {name: web}, ",
	"crd":         "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, ",
	"apiservice":  "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.example.com}, ",
	"widget":      "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, generation: 2}, ",
	"configmap":   "{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, ",
}

func of(t testing.TB, head, rest string) map[string]any {
	t.Helper()
	if heads[head] == "" {
		t.Fatalf("no head %s", head)
	}
	return object(t, heads[head]+rest+"}")
}

// Pods of the newest and of an older revision, for every workload at once.
const (
	newest = "{metadata: {name: new, uid: n, creationTimestamp: '2026-01-02T11:00:00Z', labels: {controller-revision-hash: r2, pod-template-generation: '2'}, ownerReferences: [{controller: true, uid: %s}]}, "
	older  = "{metadata: {name: old, uid: o, creationTimestamp: '2026-01-02T10:00:00Z', labels: {controller-revision-hash: r1, pod-template-generation: '1'}, ownerReferences: [{controller: true, uid: %s}]}, "
)

const (
	pulling  = "status: {phase: Pending, containerStatuses: [{name: app, ready: false, state: {waiting: {reason: ImagePullBackOff, message: Back-off pulling image}}}]}}"
	creating = "status: {phase: Pending, containerStatuses: [{name: app, ready: false, state: {waiting: {reason: ContainerCreating}}}]}}"
	running  = "status: {phase: Running, conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: app, ready: true, state: {running: {}}}]}}"
)

func TestTable(t *testing.T) {
	both := func(uid, newState, oldState string) []map[string]any {
		oldUID := uid
		if uid == "rs2" {
			oldUID = "rs1"
		}
		return objects(t, fmt.Sprintf(newest, uid)+newState, fmt.Sprintf(older, oldUID)+oldState)
	}
	sets := objects(t,
		"{metadata: {name: web-1, uid: rs1, annotations: {deployment.kubernetes.io/revision: '1'}}}",
		"{metadata: {name: web-2, uid: rs2, annotations: {deployment.kubernetes.io/revision: '2'}}}")
	for _, c := range []struct {
		name, head, rest string
		more             ready.Subject
		want             string
	}{
		{"not observed by its controller", "deployment", "spec: {replicas: 1}", ready.Subject{}, "waiting: NotObserved: its status is not written yet (unobserved)"},
		{"its latest change has not been seen", "deployment", "spec: {replicas: 1}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1}", ready.Subject{}, "waiting: NotObserved: its controller has not seen its latest change yet (generation 1 of 2)"},
		{"all there", "deployment", "spec: {replicas: 2}, status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2}", ready.Subject{}, "ready"},
		{"scaled to none", "deployment", "spec: {replicas: 0}, status: {observedGeneration: 2}", ready.Subject{}, "ready"},
		{"not all updated", "deployment", "spec: {replicas: 2}, status: {observedGeneration: 2, replicas: 3, updatedReplicas: 1, availableReplicas: 2}", ready.Subject{}, "waiting: 1 of 2 replicas updated"},
		{"old ones left", "deployment", "spec: {replicas: 2}, status: {observedGeneration: 2, replicas: 3, updatedReplicas: 2, availableReplicas: 3}", ready.Subject{}, "waiting: 1 replica of an older revision, or too many, still to be removed"},
		{"not available", "deployment", "spec: {}, status: {observedGeneration: 2, replicas: 1, updatedReplicas: 1}", ready.Subject{}, "waiting: 0 of 1 replica available"},
		{"paused", "deployment", "spec: {replicas: 1, paused: true}, status: {observedGeneration: 2, replicas: 1}", ready.Subject{}, "not waited for: Paused: its rollout is paused: 0 of 1 replica updated"},
		{"paused, and complete", "deployment", "spec: {replicas: 1, paused: true}, status: {observedGeneration: 2, replicas: 1, updatedReplicas: 1, availableReplicas: 1}", ready.Subject{}, "ready"},
		{"deadline", "deployment", "spec: {replicas: 1}, status: {observedGeneration: 2, conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded, message: it has timed out}]}", ready.Subject{}, "failed: ProgressDeadlineExceeded: it has timed out"},
		{"deadline, by a pod", "deployment", "spec: {replicas: 1}, status: {observedGeneration: 2, conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded, message: it has timed out}]}", ready.Subject{ReplicaSets: sets, Pods: both("rs2", pulling, running)}, "failed: ProgressDeadlineExceeded: pod new, container app: it has timed out: ImagePullBackOff: Back-off pulling image"},
		{"quota", "deployment", "spec: {replicas: 1}, status: {observedGeneration: 2, conditions: [{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: exceeded quota}]}", ready.Subject{}, "waiting: FailedCreate: exceeded quota (1 suspects)"},
		{"a new pod has trouble", "deployment", "spec: {replicas: 2}, status: {observedGeneration: 2, updatedReplicas: 1}", ready.Subject{ReplicaSets: sets, Pods: both("rs2", pulling, running)}, "waiting: ImagePullBackOff: pod new, container app: Back-off pulling image (1 suspects)"},
		{"a new pod waits for another reason", "deployment", "spec: {}, status: {observedGeneration: 2, updatedReplicas: 1}", ready.Subject{ReplicaSets: sets, Pods: both("rs2", strings.Replace(pulling, "ImagePullBackOff", "ImageInspectError", 1), running)}, "waiting: ImageInspectError: pod new, container app: Back-off pulling image"},
		{"a readiness gate of a new pod", "deployment", "spec: {}, status: {observedGeneration: 2, updatedReplicas: 1}", ready.Subject{ReplicaSets: sets, Pods: both("rs2", "status: {phase: Running, conditions: [{type: Ready, status: 'False', reason: ReadinessGatesNotReady, message: gate x}], containerStatuses: [{name: app, ready: true, state: {running: {}}}]}}", running)}, "waiting: ReadinessGatesNotReady: pod new: gate x"},
		{"an old pod has trouble", "deployment", "spec: {replicas: 2}, status: {observedGeneration: 2, updatedReplicas: 1}", ready.Subject{ReplicaSets: sets, Pods: both("rs2", creating, pulling)}, "waiting: 1 of 2 replicas updated"},
		{"the newest ReplicaSet is not known yet", "deployment", "spec: {replicas: 2}, status: {observedGeneration: 2, updatedReplicas: 1}", ready.Subject{ReplicaSets: sets[:1], Pods: both("rs2", creating, pulling)}, "waiting: 1 of 2 replicas updated"},

		{"all there", "statefulset", "spec: {replicas: 2}, status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2, updateRevision: r2}", ready.Subject{}, "ready"},
		{"not ready", "statefulset", "spec: {replicas: 2}, status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 1, updateRevision: r2}", ready.Subject{}, "waiting: 1 of 2 replicas available"},
		{"not observed by its controller", "statefulset", "spec: {replicas: 2}", ready.Subject{}, "waiting: NotObserved: its status is not written yet (unobserved)"},
		{"for so many seconds", "statefulset", "spec: {minReadySeconds: 5, replicas: 2}, status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 0}", ready.Subject{}, "waiting: 0 of 2 replicas available"},
		{"partition", "statefulset", "spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 2}}}, status: {observedGeneration: 2, replicas: 3, updatedReplicas: 1, readyReplicas: 3}", ready.Subject{}, "ready: 2 replicas of an older revision: partition is 2"},
		{"above the partition", "statefulset", "spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 2}}}, status: {observedGeneration: 2, replicas: 3, readyReplicas: 3}", ready.Subject{}, "waiting: 0 of 1 replica updated"},
		{"on delete", "statefulset", "spec: {replicas: 2, updateStrategy: {type: OnDelete}}, status: {observedGeneration: 2, replicas: 2, readyReplicas: 2, updatedReplicas: 1}", ready.Subject{}, "ready: 1 replica of an older revision: updateStrategy is OnDelete"},
		{"a new pod has trouble", "statefulset", "spec: {replicas: 2}, status: {observedGeneration: 2, updateRevision: r2, replicas: 2, readyReplicas: 1}", ready.Subject{Pods: both("s", pulling, running)}, "waiting: ImagePullBackOff: pod new, container app: Back-off pulling image (1 suspects)"},
		{"an old pod has trouble", "statefulset", "spec: {replicas: 2}, status: {observedGeneration: 2, updateRevision: r2, replicas: 2, readyReplicas: 1}", ready.Subject{Pods: both("s", running, pulling)}, "waiting: ImagePullBackOff: pod old, container app: Back-off pulling image: OrderedReady replaces no pod before this one, of an older revision, is ready; if it never will be: kubectl delete pod old (1 suspects)"},
		{"an old pod has trouble, and is replaced all the same", "statefulset", "spec: {podManagementPolicy: Parallel, replicas: 2}, status: {observedGeneration: 2, updateRevision: r2, replicas: 2, readyReplicas: 1}", ready.Subject{Pods: both("s", running, pulling)}, "waiting: 0 of 2 replicas updated"},
		{"an old pod is not ready", "statefulset", "spec: {replicas: 2}, status: {observedGeneration: 2, updateRevision: r2, replicas: 2, readyReplicas: 1}", ready.Subject{Pods: both("s", running, creating)}, "waiting: pod old, container app: it is not ready: OrderedReady replaces no pod before this one, of an older revision, is ready; if it never will be: kubectl delete pod old"},
		{"an old pod is not ready, and a new one has trouble", "statefulset", "spec: {replicas: 2}, status: {observedGeneration: 2, updateRevision: r2, replicas: 2, readyReplicas: 1}", ready.Subject{Pods: both("s", pulling, creating)}, "waiting: ImagePullBackOff: pod new, container app: Back-off pulling image (1 suspects)"},
		{"an old pod waits for another reason", "statefulset", "spec: {replicas: 2}, status: {observedGeneration: 2, updateRevision: r2, replicas: 2, readyReplicas: 1}", ready.Subject{Pods: both("s", running, strings.Replace(pulling, "ImagePullBackOff", "ImageInspectError", 1))}, "waiting: ImageInspectError: pod old, container app: Back-off pulling image: OrderedReady replaces no pod before this one, of an older revision, is ready; if it never will be: kubectl delete pod old"},
		{"an old pod is ready", "statefulset", "spec: {replicas: 2}, status: {observedGeneration: 2, updateRevision: r2, replicas: 2, readyReplicas: 1}", ready.Subject{Pods: both("s", creating, running)}, "waiting: 0 of 2 replicas updated"},
		{"an old pod whose trouble is final for a new one", "statefulset", "spec: {replicas: 2}, status: {observedGeneration: 2, updateRevision: r2, replicas: 2, readyReplicas: 1}", ready.Subject{Pods: both("s", running, strings.Replace(pulling, "ImagePullBackOff", "InvalidImageName", 1))}, "waiting: InvalidImageName: pod old, container app: Back-off pulling image: OrderedReady replaces no pod before this one, of an older revision, is ready; if it never will be: kubectl delete pod old (1 suspects)"},
		{"an old pod that has failed, and is replaced", "statefulset", "spec: {replicas: 2}, status: {observedGeneration: 2, updateRevision: r2, replicas: 2, readyReplicas: 1}", ready.Subject{Pods: both("s", running, `status: {phase: Failed}}`)}, "waiting: 0 of 2 replicas updated"},
		{"no pod can be created", "statefulset", "spec: {replicas: 1}, status: {observedGeneration: 2}", ready.Subject{Events: objects(t, "{reason: FailedCreate, message: exceeded quota, lastTimestamp: '2026-01-02T11:00:00Z'}")}, "waiting: FailedCreate: exceeded quota (1 suspects)"},
		{"one has been created since", "statefulset", "spec: {replicas: 1}, status: {observedGeneration: 2, updateRevision: r2}", ready.Subject{Pods: both("s", creating, running), Events: objects(t, "{reason: FailedCreate, message: exceeded quota, lastTimestamp: '2026-01-02T10:30:00Z'}")}, "waiting: 0 of 1 replica updated"},

		{"all there", "daemonset", "status: {observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2}", ready.Subject{}, "ready"},
		{"no node", "daemonset", "status: {observedGeneration: 2, desiredNumberScheduled: 0}", ready.Subject{}, "ready"},
		{"not observed by its controller", "daemonset", "spec: {}", ready.Subject{}, "waiting: NotObserved: its status is not written yet (unobserved)"},
		{"on delete", "daemonset", "spec: {updateStrategy: {type: OnDelete}}, status: {observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 0, numberAvailable: 2}", ready.Subject{}, "ready: 2 replicas of an older revision: updateStrategy is OnDelete"},
		{"a new pod has trouble", "daemonset", "status: {observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 1}", ready.Subject{Pods: both("a", pulling, running)}, "waiting: ImagePullBackOff: pod new, container app: Back-off pulling image (1 suspects)"},
		{"an old pod has trouble", "daemonset", "status: {observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 1}", ready.Subject{Pods: both("a", running, pulling)}, "waiting: 1 of 2 pods updated"},

		{"complete", "job", "status: {conditions: [{type: Complete, status: 'True'}]}", ready.Subject{}, "ready"},
		{"failed", "job", "status: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit}]}", ready.Subject{}, "failed: BackoffLimitExceeded: Job has reached the specified backoff limit"},
		{"failed, by its pods", "job", "status: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded, message: too often}]}", ready.Subject{Pods: objects(t,
			"{metadata: {name: a, creationTimestamp: '2026-01-02T11:00:00Z'}, status: {phase: Failed, containerStatuses: [{name: app, state: {terminated: {exitCode: 3}}}]}}",
			"{metadata: {name: b, creationTimestamp: '2026-01-02T10:00:00Z'}, status: {phase: Failed}}")}, "failed: BackoffLimitExceeded: pod a, container app: too often: exit code 3"},
		{"about to fail", "job", "status: {startTime: '2026-01-02T11:00:00Z', conditions: [{type: FailureTarget, status: 'True', reason: DeadlineExceeded, message: too long}]}", ready.Subject{}, "waiting: DeadlineExceeded: too long"},
		{"suspended", "job", "spec: {suspend: true}", ready.Subject{}, "not waited for: Suspended: it is suspended"},
		{"not started", "job", "spec: {}", ready.Subject{}, "waiting: NotObserved: its status is not written yet (unobserved)"},
		{"under way", "job", "spec: {completions: 3}, status: {startTime: '2026-01-02T11:00:00Z', succeeded: 1}", ready.Subject{}, "waiting: 1 of 3 pods succeeded"},
		{"a pod has trouble", "job", "status: {startTime: '2026-01-02T11:00:00Z'}", ready.Subject{Pods: both("j", pulling, running)}, "waiting: ImagePullBackOff: pod new, container app: Back-off pulling image (1 suspects)"},

		{"bound", "claim", "status: {phase: Bound}", ready.Subject{}, "ready"},
		{"pending", "claim", "status: {phase: Pending}", ready.Subject{}, "waiting: Pending: it is not bound to a volume yet"},
		{"lost", "claim", "status: {phase: Lost}", ready.Subject{}, "failed: Lost: its volume is gone"},
		{"pending until it is used", "claim", "status: {phase: Pending}", ready.Subject{Class: object(t, "{volumeBindingMode: WaitForFirstConsumer}")}, "ready: it is bound when the first pod uses it"},
		{"pending until it is used, by its events", "claim", "status: {phase: Pending}", ready.Subject{Events: objects(t, "{reason: WaitForFirstConsumer}")}, "ready: it is bound when the first pod uses it"},

		{"at once", "service", "spec: {type: ClusterIP}", ready.Subject{}, "ready"},
		{"without an address", "service", "spec: {type: LoadBalancer}, status: {loadBalancer: {}}", ready.Subject{}, "waiting: Pending: its load balancer has no address yet"},
		{"with an address", "service", "spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}", ready.Subject{}, "ready"},
		{"with a name", "service", "spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{hostname: a.example}]}}", ready.Subject{}, "ready"},

		{"established", "crd", "status: {conditions: [{type: NamesAccepted, status: 'True'}, {type: Established, status: 'True'}]}", ready.Subject{}, "ready"},
		{"being installed", "crd", "status: {conditions: [{type: Established, status: 'False', reason: Installing, message: the initial names have been accepted}]}", ready.Subject{}, "waiting: the initial names have been accepted"},
		{"just created", "crd", "spec: {}", ready.Subject{}, "waiting: its kind is not served yet"},
		{"a name is taken", "crd", "status: {conditions: [{type: NamesAccepted, status: 'False', reason: PluralConflict, message: widgets is already in use}]}", ready.Subject{}, "failed: PluralConflict: widgets is already in use"},

		{"available", "apiservice", "status: {conditions: [{type: Available, status: 'True'}]}", ready.Subject{}, "ready"},
		{"not available", "apiservice", "status: {conditions: [{type: Available, status: 'False', reason: ServiceNotFound, message: service/x is not present}]}", ready.Subject{}, "waiting: ServiceNotFound: service/x is not present"},
		{"just created", "apiservice", "spec: {}", ready.Subject{}, "waiting: NotObserved: its status is not written yet (unobserved)"},

		{"at once", "configmap", "data: {}", ready.Subject{}, "ready"},
		{"being deleted, and held", "configmap", "metadata: {name: a, deletionTimestamp: '2026-01-02T11:00:00Z', finalizers: [example.com/a, example.com/b]}", ready.Subject{}, "failed: Deleted: is being deleted, and waits for example.com/a, example.com/b"},
		{"being deleted", "configmap", "metadata: {name: a, deletionTimestamp: '2026-01-02T11:00:00Z'}", ready.Subject{}, "failed: Deleted: is being deleted"},
		{"excluded", "deployment", "spec: {}", ready.Subject{Rule: ready.Rule{Skip: true}}, "not waited for: excluded by a rule"},
	} {
		t.Run(c.head+"/"+c.name, func(t *testing.T) {
			s := c.more
			s.Object, s.Now = of(t, c.head, c.rest), noon
			if strings.HasPrefix(c.rest, "metadata:") {
				s.Object = object(t, "{apiVersion: v1, kind: ConfigMap, "+c.rest+"}")
			}
			if got := say(ready.Judge(s)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestPods(t *testing.T) {
	container := func(rest string) string {
		return "status: {phase: Running, conditions: [{type: Ready, status: 'False', reason: ContainersNotReady, message: 'containers with unready status: [app]'}], containerStatuses: [{name: app, ready: false, " + rest + "}]}"
	}
	for _, c := range []struct{ name, rest, want string }{
		{"ready", "status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}", "ready"},
		{"succeeded", "status: {phase: Succeeded}", "ready"},
		{"evicted", "status: {phase: Failed, reason: Evicted, message: The node was low on resource}", "failed: Evicted: pod p: The node was low on resource"},
		{"failed", "status: {phase: Failed, containerStatuses: [{name: side, state: {terminated: {exitCode: 0}}}, {name: app, state: {terminated: {exitCode: 3, reason: Error, message: boom}}}]}", "failed: Error: pod p, container app: exit code 3: boom"},
		{"failed without a word", "status: {phase: Failed}", "failed: Failed: pod p: it has failed and is not restarted"},
		{"nothing known", "spec: {}", "waiting: it has not been started yet"},
		{"unschedulable", "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: 0/3 nodes}]}", "waiting: Unschedulable: pod p: 0/3 nodes (1 suspects)"},
		{"gated", "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: SchedulingGated, message: blocked by gates}]}", "waiting: SchedulingGated: pod p: blocked by gates"},
		{"creating", container("state: {waiting: {reason: ContainerCreating}}"), "waiting: ContainersNotReady: containers with unready status: [app]"},
		{"for another reason", container("state: {waiting: {reason: ImageInspectError, message: corrupt}}"), "waiting: ImageInspectError: pod p, container app: corrupt"},
		{"for another reason, behind an init container", "status: {initContainerStatuses: [{name: one, state: {waiting: {reason: ImageInspectError, message: corrupt}}}], containerStatuses: [{name: app, state: {waiting: {reason: PodInitializing}}}]}", "waiting: ImageInspectError: pod p, container one: corrupt"},
		{"pull failed", container("state: {waiting: {reason: ErrImagePull, message: not found}}"), "waiting: ErrImagePull: pod p, container app: not found (1 suspects)"},
		{"name of no image", container("state: {waiting: {reason: InvalidImageName, message: none}}"), "failed: InvalidImageName: pod p, container app: none"},
		{"never pulled", container("state: {waiting: {reason: ErrImageNeverPull, message: none}}"), "failed: ErrImageNeverPull: pod p, container app: none"},
		{"no configuration", container("state: {waiting: {reason: CreateContainerConfigError, message: configmap not found}}"), "waiting: CreateContainerConfigError: pod p, container app: configmap not found (1 suspects)"},
		{"held back", container("restartCount: 3, state: {waiting: {reason: CrashLoopBackOff, message: back-off 40s}}, lastState: {terminated: {exitCode: 1}}"), "waiting: CrashLoopBackOff: pod p, container app: exit code 1: back-off 40s (1 suspects)"},
		{"just crashed", container("state: {terminated: {exitCode: 2}}"), "waiting: CrashLoopBackOff: pod p, container app: exit code 2 (1 suspects)"},
		{"tries again", container("state: {running: {startedAt: '2026-01-02T11:59:55Z'}}, lastState: {terminated: {exitCode: 1, startedAt: '2026-01-02T11:59:00Z', finishedAt: '2026-01-02T11:59:30Z'}}"), "waiting: CrashLoopBackOff: pod p, container app: exit code 1 (1 suspects)"},
		{"runs longer than before", container("state: {running: {startedAt: '2026-01-02T11:59:00Z'}}, lastState: {terminated: {exitCode: 1, startedAt: '2026-01-02T11:58:00Z', finishedAt: '2026-01-02T11:58:10Z'}}"), "waiting: ContainersNotReady: containers with unready status: [app]"},
		{"ended well and starts again", container("state: {running: {startedAt: '2026-01-02T11:59:59Z'}}, lastState: {terminated: {exitCode: 0}}"), "waiting: ContainersNotReady: containers with unready status: [app]"},
		{"not restarted", "spec: {restartPolicy: Never}, " + container("state: {terminated: {exitCode: 2}}"), "waiting: ContainersNotReady: containers with unready status: [app]"},
		{"an init container", "status: {phase: Pending, initContainerStatuses: [{name: init, ready: false, state: {waiting: {reason: ImagePullBackOff, message: Back-off}}}]}", "waiting: ImagePullBackOff: pod p, container init: Back-off (1 suspects)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := say(ready.Judge(ready.Subject{Object: of(t, "pod", c.rest), Now: noon})); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestCustomResources(t *testing.T) {
	typeOf := func(status string) *merge.Type {
		crd := object(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets},
			versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}`+status+`}}}}]}}`)
		defs, err := schema.FromCRD(crd, merge.SourceServer)
		if err != nil {
			t.Fatal(err)
		}
		return defs[0].Type
	}
	declared := typeOf(", status: {type: object, properties: {observedGeneration: {type: integer}, conditions: {type: array, items: {type: object, properties: {type: {type: string}}}}}}")
	phase := typeOf(", status: {type: object, properties: {phase: {type: string}}}")
	for _, c := range []struct {
		name string
		typ  *merge.Type
		rest string
		want string
	}{
		{"no schema, no status", nil, "spec: {}", "ready"},
		{"no status declared", typeOf(""), "spec: {}", "ready"},
		{"a status without conditions", phase, "status: {phase: Pending}", "ready"},
		{"its status is missing", declared, "spec: {}", "waiting: NotObserved: its status is not written yet (unobserved)"},
		{"its status lacks the declared fields", declared, "status: {other: 1}", "waiting: NotObserved: its status is not written yet (unobserved)"},
		{"an older generation", declared, "status: {observedGeneration: 1, conditions: [{type: Ready, status: 'True'}]}", "waiting: NotObserved: its controller has not seen its latest change yet (generation 1 of 2)"},
		{"a condition about an older generation", declared, "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}", "waiting: NotObserved: its conditions are about an older generation"},
		{"ready", declared, "status: {observedGeneration: 2, conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}", "ready"},
		{"available", nil, "status: {conditions: [{type: Available, status: 'True'}]}", "ready"},
		{"succeeded", nil, "status: {conditions: [{type: Succeeded, status: 'True'}]}", "ready"},
		{"healthy", nil, "status: {conditions: [{type: Healthy, status: 'True'}]}", "ready"},
		{"not ready", declared, "status: {conditions: [{type: Ready, status: 'False', reason: DoesNotExist, message: secret not found}]}", "waiting: DoesNotExist: secret not found"},
		{"unknown", declared, "status: {conditions: [{type: Ready, status: Unknown}]}", "waiting: Ready: Ready is Unknown"},
		{"stalled", declared, "status: {conditions: [{type: Stalled, status: 'True', reason: BadSpec, message: no such thing}, {type: Ready, status: 'True'}]}", "failed: BadSpec: no such thing"},
		{"failed", declared, "status: {conditions: [{type: Failed, status: 'True'}]}", "failed: Failed: Failed is True"},
		{"stalled before", declared, "status: {conditions: [{type: Stalled, status: 'True', observedGeneration: 1}, {type: Ready, status: 'True', observedGeneration: 2}]}", "ready"},
		{"reconciling", declared, "status: {conditions: [{type: Reconciling, status: 'True', reason: Upgrading, message: 2 of 3}, {type: Ready, status: 'True'}]}", "waiting: Upgrading: 2 of 3"},
		{"other conditions", declared, "status: {conditions: [{type: Synced, status: 'False'}]}", "ready"},
		{"observed, no conditions", declared, "status: {observedGeneration: 2}", "ready"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := say(ready.Judge(ready.Subject{Object: of(t, "widget", c.rest), Type: c.typ, Now: noon})); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRules(t *testing.T) {
	for _, c := range []struct{ path, value, rest, want string }{
		{"status.phase", "Running", "status: {phase: Running}", "ready"},
		{"status.phase", "Running", "status: {phase: Pending}", "waiting: Rule: status.phase is Pending, and is to be Running"},
		{"status.phase", "Running", "spec: {}", "waiting: Rule: status.phase is not there, and is to be Running"},
		{"status.count", "3", "status: {count: 3}", "ready"},
		{"status.ok", "true", "status: {ok: true}", "ready"},
		{"status.list", `["a"]`, "status: {list: [a]}", "ready"},
		{"status.conditions[type=Ready].status", "True", "status: {conditions: [{type: Ready, status: 'True'}]}", "ready"},
		{"status.phase", "Running", "status: {phase: Running, observedGeneration: 1}", "waiting: NotObserved: its controller has not seen its latest change yet (generation 1 of 2)"},
	} {
		path, err := merge.ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		s := ready.Subject{Object: of(t, "widget", c.rest), Rule: ready.Rule{Path: path, Value: c.value}}
		if got := say(ready.Judge(s)); got != c.want {
			t.Errorf("%s=%s: got  %s\nwant %s", c.path, c.value, got, c.want)
		}
	}
}

func TestUnready(t *testing.T) {
	s := ready.Subject{Object: of(t, "statefulset", "status: {updateRevision: r2}"), Pods: objects(t,
		fmt.Sprintf(newest, "s")+running, strings.Replace(fmt.Sprintf(newest, "s"), "name: new", "name: newer", 1)+creating)}
	if pod, c := ready.Unready(s); pod != "newer" || c != "app" {
		t.Errorf("got %s, %s", pod, c)
	}
	if pod, c := ready.Unready(ready.Subject{Object: of(t, "service", "spec: {}")}); pod+c != "" {
		t.Errorf("a Service has no pods: %s, %s", pod, c)
	}
}

func TestPatience(t *testing.T) {
	const patience = 30 * time.Second
	pull := ready.Problem{Reason: "ErrImagePull", Pod: "a", Container: "app"}
	backoff := ready.Problem{Reason: "ImagePullBackOff", Pod: "a", Container: "app"}
	other := ready.Problem{Reason: "CrashLoopBackOff", Pod: "b", Container: "app"}
	waits := func(ps ...ready.Problem) ready.Verdict {
		v := ready.Verdict{State: ready.Waiting, Suspects: ps}
		if len(ps) > 0 {
			v.Problem = ps[0]
		}
		return v
	}
	var h ready.History
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	for _, c := range []struct {
		second int
		v      ready.Verdict
		want   ready.State
	}{
		{0, waits(pull), ready.Waiting},
		{10, waits(backoff, other), ready.Waiting}, // one problem under two names
		{20, waits(), ready.Waiting},               // a break
		{25, waits(backoff), ready.Waiting},
		{40, waits(other, pull), ready.Waiting},
		{54, waits(backoff), ready.Waiting},
		{55, waits(other, backoff), ready.Failed},
	} {
		var v ready.Verdict
		if h, v = h.Next(c.v, at(c.second), patience); v.State != c.want {
			t.Errorf("after %d s: %s, want %s", c.second, v.State, c.want)
		}
		if v.State == ready.Failed && v.Problem != backoff {
			t.Errorf("what has lasted is the failure: %v", v.Problem)
		}
	}
	for _, names := range [][]string{{"ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "SignatureValidationFailed"}, {"CrashLoopBackOff", "RunContainerError", "PostStartHookError"}, {"CreateContainerError"}} {
		var v ready.Verdict
		h = ready.History{}
		for i := range 7 { // the kubelet goes back and forth between them
			h, v = h.Next(ready.Judge(ready.Subject{Object: of(t, "pod", "status: {phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: "+names[i%len(names)]+"}}}]}"), Now: at(5 * i)}), at(5*i), patience)
		}
		if v.State != ready.Failed {
			t.Errorf("%v: are one problem that has lasted: %v", names, v)
		}
	}
	lost := ready.Verdict{State: ready.Waiting, Unobserved: true, Problem: ready.Problem{Message: "not yet"}}
	h, _ = ready.History{}.Next(lost, at(0), patience)
	if _, v := h.Next(lost, at(30), patience); v.State != ready.Waiting || !strings.Contains(v.Message, "is its controller running?") {
		t.Errorf("a status that no controller writes is asked about, and waited for: %v", v)
	}
	if _, v := h.Next(waits(), at(30), patience); strings.Contains(v.Message, "controller") {
		t.Error("a status that has been written is not asked about")
	}
}

func TestSame(t *testing.T) {
	v := func(state ready.State, p ready.Problem) ready.Verdict {
		return ready.Verdict{State: state, Problem: p}
	}
	a := v(ready.Waiting, ready.Problem{Reason: "ErrImagePull", Pod: "p", Message: "back-off 10s"})
	for _, c := range []struct {
		b    ready.Verdict
		same bool
	}{
		{v(ready.Waiting, ready.Problem{Reason: "ImagePullBackOff", Pod: "p", Message: "back-off 20s"}), true},
		{v(ready.Failed, a.Problem), false},
		{v(ready.Waiting, ready.Problem{Reason: "ErrImagePull", Pod: "q"}), false},
		{v(ready.Waiting, ready.Problem{Reason: "CrashLoopBackOff", Pod: "p"}), false},
	} {
		if a.Same(c.b) != c.same {
			t.Errorf("%v and %v: %v", a, c.b, !c.same)
		}
	}
	if v(ready.Waiting, ready.Problem{Message: "1 of 2"}).Same(v(ready.Waiting, ready.Problem{Message: "2 of 2"})) {
		t.Error("counts that have changed are a change")
	}
	if !v(ready.Waiting, ready.Problem{Reason: "FailedCreate", Message: "pod a-1 exceeds the quota"}).Same(v(ready.Waiting, ready.Problem{Reason: "FailedCreate", Message: "pod a-2 exceeds the quota"})) {
		t.Error("the next pod that cannot be created is no change")
	}
}

func TestRowsAreJudgedAndOthersFound(t *testing.T) {
	for _, r := range ready.Rows {
		if r.When == "" || r.Custom || r.Instant {
			t.Errorf("%s: a row says when", r.Kind)
		}
	}
	for kind, want := range map[[3]string]bool{{"", "v1", "ConfigMap"}: true, {"batch", "v1", "CronJob"}: true, {"networking.k8s.io", "v1", "Ingress"}: true, {"example.com", "v1", "Widget"}: false, {"example.com", "v1", "Job"}: false} {
		if r := ready.Find(kind[0], kind[1], kind[2]); r.Instant != want || r.Custom == want {
			t.Errorf("%v: instant %v, custom %v", kind, r.Instant, r.Custom)
		}
	}
}
