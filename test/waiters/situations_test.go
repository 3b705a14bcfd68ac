package waiters

import "strings"

// situation is an object in some state that each tool waits for, and how each of them ends.
type situation struct {
	name   string
	before string   // manifest of what was there before; "" for nothing
	first  string   // what kubectl waits --for before any tool does; "" for nothing
	object string   // manifest of what is waited for
	status string   // patch of its status, as its controller writes it; "" for none
	during []string // kubectl with these arguments, while it is waited for; nil: nothing happens
	ref    string   // as kubectl takes it
	until  string   // what kubectl wait waits --for, as people write it for the kind
	reason string   // what a report has to have, so that its reader knows what to do

	ends [5]string // in the order of tools
}

// How a tool ends, as the table has it; each may have "with the reason" behind it.
const (
	isReady  = "ready"
	failed   = "failed"
	timedOut = "timed out"
	skipped  = "not waited for"
	refused  = "not for this" // the tool refuses the object
	none     = "–"            // it has nothing for the kind
	why      = " with the reason"
)

const (
	available = "condition=Available"
	readyPods = "jsonpath={.status.readyReplicas}=1"
)

func deployment(image, spec string) string {
	return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {" + spec + "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: '" + image + "'}]}}}}"
}

func statefulSet(image, spec, pod string) string {
	return "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {" + spec + "serviceName: db, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {" + pod + "containers: [{name: app, image: '" + image + "'}]}}}}"
}

func widget(kind string) string {
	return "{apiVersion: waiters.example.com/v1, kind: " + kind + ", metadata: {name: w}, spec: {size: 1}}"
}

const quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {pods: '0'}}}"

var situations = []situation{
	{name: "a Deployment that starts", object: deployment("slow:1", ""), ref: "deployment/web", until: available,
		ends: [...]string{isReady, isReady, isReady, isReady, isReady}},
	{name: "a Deployment whose image cannot be pulled", object: deployment("missing:1", ""), ref: "deployment/web", until: available, reason: "ErrImagePull|ImagePullBackOff",
		ends: [...]string{timedOut, timedOut, timedOut, timedOut, failed + why}},
	{name: "… whose container crashes", object: deployment("crash:1", ""), ref: "deployment/web", until: available, reason: "CrashLoopBackOff",
		ends: [...]string{timedOut, timedOut, timedOut, timedOut, failed + why}},
	{name: "… whose new image cannot be pulled, while older pods serve", before: deployment("web:1", ""), first: available, object: deployment("missing:2", ""), ref: "deployment/web", until: available, reason: "ErrImagePull|ImagePullBackOff",
		ends: [...]string{timedOut, isReady, timedOut, timedOut, failed + why}},
	{name: "… past its progressDeadlineSeconds", object: deployment("unready:1", "progressDeadlineSeconds: 3, "), ref: "deployment/web", until: available, reason: "[Dd]eadline|timed out progressing",
		ends: [...]string{failed + why, timedOut, failed + why, failed, failed + why}},
	{name: "… whose pods exceed a quota", before: quota, object: deployment("web:1", ""), ref: "deployment/web", until: available, reason: "exceeded quota",
		ends: [...]string{timedOut, timedOut, timedOut, timedOut, failed + why}},
	{name: "… that is paused before its rollout", before: deployment("web:1", ""), first: available, object: deployment("web:2", "paused: true, "), ref: "deployment/web", until: available, reason: "paused",
		ends: [...]string{timedOut, isReady, isReady, timedOut, skipped + why}},
	{name: "… that is deleted meanwhile", object: deployment("unready:1", ""), during: []string{"delete", "deployment/web"}, ref: "deployment/web", until: available, reason: "deleted",
		ends: [...]string{failed + why, timedOut, timedOut, timedOut, failed + why}},
	{name: "… that is replaced by another one meanwhile", object: deployment("unready:1", ""), during: []string{"replace", "--force", "-f", "-"}, ref: "deployment/web", until: available, reason: "deleted",
		ends: [...]string{failed + why, isReady, isReady, isReady, failed + why}},
	{name: "a StatefulSet whose pod no node takes", object: statefulSet("web:1", "", "nodeSelector: {disk: ssd}, "), ref: "statefulset/db", until: readyPods, reason: "didn't match",
		ends: [...]string{timedOut, timedOut, timedOut, timedOut, failed + why}},
	{name: "… whose older pod is broken, and holds up the repair", before: statefulSet("crash:1", "", ""), object: statefulSet("web:2", "", ""), ref: "statefulset/db", until: readyPods, reason: "kubectl delete pod db-0",
		ends: [...]string{timedOut, timedOut, timedOut, timedOut, failed + why}},
	{name: "… with `OnDelete`, of an older revision", before: statefulSet("web:1", "updateStrategy: {type: OnDelete}, ", ""), first: readyPods, object: statefulSet("web:2", "updateStrategy: {type: OnDelete}, ", ""), ref: "statefulset/db", until: readyPods, reason: "older revision",
		ends: [...]string{refused, isReady, isReady, isReady, isReady + why}},
	{name: "a DaemonSet whose init container fails", object: "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {selector: {matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, spec: {initContainers: [{name: first, image: 'crash:1'}], containers: [{name: app, image: 'web:1'}]}}}}",
		ref: "daemonset/agent", until: "jsonpath={.status.numberReady}=1", reason: "container first",
		ends: [...]string{timedOut, timedOut, timedOut, timedOut, failed + why}},
	{name: "a Job that has failed", first: "condition=Failed", object: "{apiVersion: batch/v1, kind: Job, metadata: {name: once}, spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: app, image: 'exit-1:1'}]}}}}",
		ref: "job/once", until: "condition=Complete", reason: "exit code 1",
		ends: [...]string{none, timedOut, failed, failed, failed + why}},
	{name: "a Pod that fails", object: "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {restartPolicy: Never, containers: [{name: app, image: 'exit-1:1'}]}}",
		ref: "pod/p", until: "condition=Ready", reason: "exit code 1",
		ends: [...]string{none, timedOut, isReady, isReady, failed + why}},
	{name: "a claim that is bound on first use", before: "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: waiters-later}, provisioner: example.com/none, volumeBindingMode: WaitForFirstConsumer}",
		object: "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: waiters-later, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
		ref:    "pvc/data", until: "jsonpath={.status.phase}=Bound", reason: "first pod uses it",
		ends: [...]string{none, timedOut, timedOut, timedOut, isReady + why}},
	{name: "a LoadBalancer without address", object: "{apiVersion: v1, kind: Service, metadata: {name: public}, spec: {type: LoadBalancer, ports: [{port: 80}]}}",
		ref: "service/public", until: "jsonpath={.status.loadBalancer.ingress}", reason: "address",
		ends: [...]string{none, timedOut, isReady, isReady, timedOut + why}},
	{name: "a custom resource that no controller observes", object: widget("Widget"), ref: "widgets.waiters.example.com/w", until: "condition=Ready", reason: "controller running",
		ends: [...]string{none, timedOut, isReady, isReady, timedOut + why}},
	{name: "… that is stalled", object: widget("Widget"), status: `{"status":{"conditions":[{"type":"Stalled","status":"True","reason":"BadSize","message":"no such size"}]}}`, ref: "widgets.waiters.example.com/w", until: "condition=Ready", reason: "no such size",
		ends: [...]string{none, timedOut, failed + why, failed, failed + why}},
	{name: "… whose schema has no status", object: widget("Note"), ref: "notes.waiters.example.com/w", until: "condition=Ready",
		ends: [...]string{none, timedOut, isReady, isReady, isReady}},
}

// kinds are the custom resources' definitions.
var kinds = definition("Widget", "subresources: {status: {}}, ", ", status: {type: object, properties: {conditions: {type: array, items: {type: object, properties: {type: {type: string}, status: {type: string}, reason: {type: string}, message: {type: string}}}}}}") +
	"\n---\n" + definition("Note", "", "")

func definition(kind, version, status string) string {
	plural := strings.ToLower(kind) + "s"
	return "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: " + plural + ".waiters.example.com}, spec: {group: waiters.example.com, scope: Namespaced, names: {kind: " + kind + ", plural: " + plural + "}, versions: [{name: v1, served: true, storage: true, " + version +
		"schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}" + status + "}}}}]}}"
}
