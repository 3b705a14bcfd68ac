package e2e

const podOf = `
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers:
      - {name: main, image: "app:1"}
`

// platforms are what the platform team has set on every object, and no file states.
var platforms = []agentValue{{"metadata/labels/team", "payments"}, {"metadata/annotations/budget", "b-17"}}

func others(oncall agentValue) []agentValue { return append([]agentValue{oncall}, platforms...) }

// agentKinds are the objects of the tasks.
var agentKinds = map[string]agentKind{
	"Deployment": {
		manifest: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: NAME}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: NAME}}" + podOf,
		goal:     agentValue{"spec/template/spec/containers/0/image", "app:2"},
		others:   others(agentValue{"spec/replicas", 7}),
		wrong:    []agentValue{{"spec/selector/matchLabels/tier", "front"}, {"spec/template/metadata/labels/tier", "front"}},
		madeUp:   agentValue{"spec/replicaCount", 3},
	},
	"StatefulSet": {
		manifest: "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: NAME}\nspec:\n  replicas: 1\n  serviceName: NAME\n  selector: {matchLabels: {app: NAME}}" + podOf,
		goal:     agentValue{"spec/template/spec/containers/0/image", "app:2"},
		others:   others(agentValue{"spec/replicas", 3}),
		wrong:    []agentValue{{"spec/serviceName", "headless"}},
		madeUp:   agentValue{"spec/template/spec/containers/0/imagePolicy", "Always"},
	},
	"ConfigMap": {
		manifest: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {level: info, limit: \"10\"}\n",
		goal:     agentValue{"data/level", "debug"},
		others:   others(agentValue{"data/limit", "50"}),
		madeUp:   agentValue{"settings", map[string]any{"level": "debug"}},
	},
	"Service": {
		manifest: "apiVersion: v1\nkind: Service\nmetadata: {name: NAME}\nspec:\n  selector: {app: NAME}\n  sessionAffinity: None\n  ports:\n  - {name: http, port: 80, targetPort: 8080}\n",
		goal:     agentValue{"spec/selector/version", "v2"},
		others:   others(agentValue{"spec/sessionAffinity", "ClientIP"}),
		madeUp:   agentValue{"spec/ports/0/hostPort", 80},
	},
	"CronJob": {
		manifest: "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: NAME}\nspec:\n  schedule: 0 1 * * *\n  suspend: false\n  jobTemplate:\n    spec:\n      template:\n        spec: {restartPolicy: Never, containers: [{name: main, image: \"app:1\"}]}\n",
		goal:     agentValue{"spec/schedule", "0 5 * * *"},
		others:   others(agentValue{"spec/suspend", true}),
		madeUp:   agentValue{"spec/timezone", "Europe/Vienna"},
	},
	"RoleBinding": {
		manifest: "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: NAME, annotations: {ticket: \"1\"}}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\nsubjects:\n- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: one}\n",
		goal:     agentValue{"subjects/0/name", "two"},
		others:   others(agentValue{"metadata/annotations/ticket", "2"}),
		wrong:    []agentValue{{"roleRef/name", "edit"}},
	},
}
