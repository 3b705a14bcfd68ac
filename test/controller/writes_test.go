package controller

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/yaml"
)

var write = flag.Bool("write", false, "put the tables of this run into docs/library.md")

const (
	doc    = "../../docs/library.md"
	rounds = 100
)

// situation is an object that a controller desires, and what others do to it.
type situation struct {
	name   string
	object string
	others string // a JSON patch that another client sends after the first reconciliation; "" for none
	keeps  string // what of it has to be there in the end, as jsonpath of kubectl and its value

	writes [len(ways)]string // per 100 further reconciliations, in the order of ways
}

const certificate = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUI="

const pod = `{metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:1", ports: [{containerPort: 80}], resources: {limits: {cpu: 1000m, memory: 1024Mi}}}]}}`

var situations = []situation{
	{name: "a ConfigMap", object: `{apiVersion: v1, kind: ConfigMap, data: {a: "1"}}`, writes: [...]string{"0", "0", "0", "0", "0"}},
	{name: "a Secret with `stringData`", object: `{apiVersion: v1, kind: Secret, stringData: {pw: one}}`, writes: [...]string{"0", "0", "100", "100", "0"}},
	{name: "a Deployment whose pod template leaves out what has a default", object: `{apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {app: web}}, template: ` + pod + `}}`,
		writes: [...]string{"0", "0", "100", "100", "0"}},
	{name: "a StatefulSet with claim templates", object: `{apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: db, selector: {matchLabels: {app: web}}, template: ` + pod + `, volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}`,
		writes: [...]string{"0", "0", "100", "100", "0"}},
	{name: "a RoleBinding with `subjects: []`", object: `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}, subjects: []}`,
		writes: [...]string{"0", "0", "0", "0", "0"}},
	{name: "a RoleBinding whose subjects leave out `apiGroup`", object: `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {kind: Role, name: r}, subjects: [{kind: User, name: u}]}`,
		writes: [...]string{"0", "0", "100", "100", "0"}},
	{name: "a Service, whose addresses the server allocates", object: `{apiVersion: v1, kind: Service, spec: {type: NodePort, selector: {app: web}, ports: [{port: 80}]}}`,
		writes: [...]string{"0", "0", "100", "100", "0"}},
	{name: "a CronJob", object: `{apiVersion: batch/v1, kind: CronJob, spec: {schedule: "@daily", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "c:1"}]}}}}}}`,
		writes: [...]string{"0", "0", "100", "100", "0"}},
	{name: "a ValidatingAdmissionPolicy", object: `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, spec: {matchConstraints: {resourceRules: [{apiGroups: [none.example.com], apiVersions: [v1], operations: [CREATE], resources: [x]}]}, validations: [{expression: "true"}]}}`,
		writes: [...]string{"0", "0", "100", "100", "0"}},
	{name: "a webhook, for which another controller sets `caBundle`", object: `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, webhooks: [{name: w.example.com, sideEffects: None, admissionReviewVersions: [v1], failurePolicy: Ignore, namespaceSelector: {matchLabels: {none: such}}, clientConfig: {service: {name: s, namespace: default}}}]}`,
		others: `[{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "` + certificate + `"}]`, keeps: "{.webhooks[0].clientConfig.caBundle}=" + certificate, writes: [...]string{"0", "0", "100, lost", "100, lost", "0"}},
	{name: "a Deployment that an autoscaler has scaled", object: `{apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {app: web}}, template: ` + pod + `}}`,
		others: `[{"op": "add", "path": "/spec/replicas", "value": 7}]`, keeps: "{.spec.replicas}=7", writes: [...]string{"0", "0", "100, lost", "100, lost", "0"}},
	{name: "a Deployment to which a user has added a sidecar", object: `{apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {app: web}}, template: ` + pod + `}}`,
		others: `[{"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "mesh", "image": "mesh:1"}}]`, keeps: "{.spec.template.spec.containers[?(@.name==\"mesh\")].name}=mesh", writes: [...]string{"0", "0", "100, lost", "100, lost", "0"}},
	{name: "a Deployment whose image a user has changed", object: `{apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {app: web}}, template: ` + pod + `}}`,
		others: `[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "web:9"}]`, keeps: "{.spec.template.spec.containers[0].image}=web:1", writes: [...]string{"1", "1", "100", "100", "1"}},
	{name: "a custom resource with defaults", object: `{apiVersion: controller.example.com/v1, kind: Till, spec: {drawers: [{name: left}]}}`,
		writes: [...]string{"0", "0", "100", "100", "0"}},
	{name: "… with an entry that a user has added", object: `{apiVersion: controller.example.com/v1, kind: Till, spec: {drawers: [{name: left}]}}`,
		others: `[{"op": "add", "path": "/spec/drawers/-", "value": {"name": "right"}}]`, keeps: "{.spec.drawers[?(@.name==\"right\")].name}=right", writes: [...]string{"0", "0", "100, lost", "100, lost", "0"}},
}

// TestWrites: what each way writes in a hundred reconciliations of an object that is as desired
// but for what others have done to it, and whether that is still there.
func TestWrites(t *testing.T) {
	s := start(t)
	s.does(t, definitions, "apply", "-f", "-")
	s.does(t, "", "wait", "--for=condition=Established", "crd/tills.controller.example.com", "--timeout=1m")
	cells, requests := make([][len(ways)]string, len(situations)), [len(ways)]string{}
	t.Run("ways", func(t *testing.T) {
		for n, w := range ways {
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				requests[n] = counts(t, s, n, cells)
			})
		}
	})
	var b strings.Builder
	for i, row := range cells {
		fmt.Fprintf(&b, "| %s | %s |\n", situations[i].name, strings.Join(row[:], " | "))
	}
	fmt.Fprintf(&b, "| requests besides, per reconciliation | %s |\n", strings.Join(requests[:], " | "))
	t.Logf("writes per %d reconciliations\n%s", rounds, b.String())
	if *write && !t.Failed() {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		head := table.FindSubmatch(text)
		if head == nil {
			t.Fatalf("%s has no such table", doc)
		}
		if err := os.WriteFile(doc, table.ReplaceAllLiteral(text, []byte(string(head[1])+b.String())), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// counts plays all situations in one way, and returns how many requests that were no writes it
// took to reconcile once.
func counts(t testing.TB, s server, way int, cells [][len(ways)]string) string {
	t.Helper()
	config, requests := s.counted()
	scheme := kinds(t)
	c, err := cluster.New(config, func(o *cluster.Options) {
		o.Scheme, o.Client = scheme, client.Options{Cache: &client.CacheOptions{Unstructured: true}}
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	namespace := fmt.Sprintf("ways-%d", way)
	s.does(t, "", "create", "namespace", namespace)
	reconcile := ways[way].make(t, c.GetClient())
	besides := 0
	for i, sit := range situations {
		desired := sit.desired(t, c.GetClient(), namespace, i)
		again := func() {
			if err := reconcile(ctx, desired); err != nil {
				t.Fatalf("%s: %v", sit.name, err)
			}
		}
		again()
		seen(t, c, []client.Object{desired})
		if sit.others != "" {
			sit.disturbed(t, s, c.GetClient(), desired)
			seen(t, c, []client.Object{desired})
		}
		writes, dry := requests.writes.Load(), requests.dryRuns.Load()
		for range rounds {
			before := requests.writes.Load()
			again()
			if requests.writes.Load() != before {
				seen(t, c, []client.Object{desired})
			}
		}
		besides += int(requests.dryRuns.Load() - dry)
		cell := fmt.Sprint(requests.writes.Load() - writes)
		if !sit.kept(t, s, c.GetClient(), desired) {
			cell += ", lost"
		}
		cells[i][way] = cell
		if cell != sit.writes[way] {
			t.Errorf("%s: %s, want %s", sit.name, cell, sit.writes[way])
		}
	}
	return fmt.Sprintf("%.1f", float64(besides)/float64(rounds*len(situations)))
}

// desired returns the object as a controller makes it.
func (s situation) desired(t testing.TB, c client.Client, namespace string, i int) client.Object {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte(s.object))
	if err != nil {
		t.Fatal(err)
	}
	var o client.Object
	if strings.Contains(s.object, "controller.example.com") {
		o = till(namespace)
	} else {
		o = typed(t, c.Scheme(), text)
	}
	o.SetName(fmt.Sprintf("%s-%d", namespace, i))
	o.SetLabels(map[string]string{"app": "web"})
	if _, custom := o.(*unstructured.Unstructured); custom {
		o.SetNamespace(namespace)
	} else {
		inNamespace(t, c, o, namespace)
	}
	return o
}

// disturbed has another client change the object.
func (s situation) disturbed(t testing.TB, on server, c client.Client, o client.Object) {
	t.Helper()
	on.does(t, "", append([]string{"patch", "--type=json", "--field-manager=others", "-p", s.others}, place(t, c, o)...)...)
}

// kept reports whether what others have done is there as it has to be.
func (s situation) kept(t testing.TB, on server, c client.Client, o client.Object) bool {
	t.Helper()
	if s.keeps == "" {
		return true
	}
	cut := strings.LastIndex(s.keeps, "}=") + 1
	path, want := s.keeps[:cut], s.keeps[cut+1:]
	return on.does(t, "", append([]string{"get", "-o", "jsonpath=" + path}, place(t, c, o)...)...) == want
}

// place is an object as arguments of kubectl.
func place(t testing.TB, c client.Client, o client.Object) []string {
	t.Helper()
	gvk, err := c.GroupVersionKindFor(o)
	if err != nil {
		t.Fatal(err)
	}
	kind := strings.ToLower(gvk.Kind) + "." + gvk.Version + "." + gvk.Group
	if gvk.Group == "" {
		kind = strings.ToLower(gvk.Kind)
	}
	return []string{kind, o.GetName(), "--namespace=" + o.GetNamespace()}
}

// table is the one of docs/library.md: its head, its rule, its rows.
var table = regexp.MustCompile("(?m)(^\\| writes per 100 reconciliations of .*\n\\|[-:|]+\n)((?:\\| .*\n)+)")

// TestDocumented: the table in the docs is the one that TestWrites holds.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	found := table.FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no such table", doc)
	}
	rows := strings.Split(strings.TrimSpace(string(found[2])), "\n")
	if len(rows) != len(situations)+1 {
		t.Fatalf("%d rows, want %d", len(rows), len(situations)+1)
	}
	for i, s := range situations {
		if want := "| " + s.name + " | " + strings.Join(s.writes[:], " | ") + " |"; rows[i] != want {
			t.Errorf("the docs have\n%s\nwant\n%s", rows[i], want)
		}
	}
}
