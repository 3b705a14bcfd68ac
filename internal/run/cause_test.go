package run

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
)

func item(group, kind, namespace, name string) *Item {
	return &Item{
		Details: &Details{},
		Object:  object.Object{Value: map[string]any{}},
		Target: cluster.Target{
			Resource:  cluster.Resource{Group: group, Version: "v1", Kind: kind, Namespaced: namespace != ""},
			Namespace: namespace, Name: name,
		},
	}
}

func crdItem(kind string) *Item {
	crd := item("apiextensions.k8s.io", "CustomResourceDefinition", "", "widgets.example.com")
	crd.Object.Value = map[string]any{"spec": map[string]any{
		"group": "example.com", "scope": "Namespaced",
		"names":    map[string]any{"kind": kind, "plural": "widgets"},
		"versions": []any{map[string]any{"name": "v1", "served": true}},
	}}
	return crd
}

func existing(i *Item) *Item {
	i.found = true
	return i
}

// recorded is a refusal as an API server sent it, see testdata/refusals/README.md.
func recorded(t *testing.T, name string) *cluster.Refusal {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/refusals", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var s metav1.Status
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	r := &cluster.Refusal{Code: int(s.Code), Reason: s.Reason, Message: s.Message, Text: s.Message}
	if s.Details != nil { // a webhook's answer need not have any
		r.Causes, r.Kind, r.Name = s.Details.Causes, s.Details.Kind, s.Details.Name
	}
	return r
}

// with is an item of what a manifest says.
func with(t *testing.T, i *Item, manifest string) *Item {
	t.Helper()
	i.Object.Value = parsed(t, manifest)
	return i
}

const (
	rbac      = "rbac.authorization.k8s.io"
	admission = "admissionregistration.k8s.io"
)

// pending are items that are not written yet, by a name for the test: all that a
// refusal could wait for, and as much that looks like it.
func pending(t *testing.T) map[string]*Item {
	relabelled := existing(item("", "Namespace", "", "restricted"))
	relabelled.Planned.Live = parsed(t, `{metadata: {labels: {pod-security.kubernetes.io/enforce: restricted}}}`)
	relabelled.Planned.Final = parsed(t, `{metadata: {labels: {pod-security.kubernetes.io/enforce: baseline}}}`)
	former := existing(with(t, item(admission, "MutatingWebhookConfiguration", "", "former"), `{webhooks: []}`))
	former.Planned.Live = parsed(t, `{webhooks: [{name: rec-verdict.example.com}]}`)
	return map[string]*Item{
		"the namespace": item("", "Namespace", "", "nowhere"), "another namespace": item("", "Namespace", "", "elsewhere"),
		"its namespace, whose labels change": relabelled, "its namespace, whose labels stay": existing(item("", "Namespace", "", "prod")),
		"the kind": with(t, existing(item("apiextensions.k8s.io", "CustomResourceDefinition", "", "gizmos.rec.example.com")), `
{spec: {group: rec.example.com, scope: Namespaced, names: {kind: Gizmo, plural: gizmos}, versions: [{name: v1, served: true}, {name: v2, served: true}]}}`),
		"another kind":    crdItem("Gadget"),
		"service account": item("", "ServiceAccount", "prod", "robot"), "another's service account": item("", "ServiceAccount", "test", "robot"),
		"quota": item("", "ResourceQuota", "quota", "team"), "another quota": item("", "ResourceQuota", "quota", "other"), "quota of limits": item("", "ResourceQuota", "quota2", "team"),
		"limits": item("", "LimitRange", "limits", "small"), "limits of the quota": item("", "LimitRange", "quota2", "small"), "others' limits": item("", "LimitRange", "prod", "small"),
		"priority": item("scheduling.k8s.io", "PriorityClass", "", "vip"), "another priority": item("scheduling.k8s.io", "PriorityClass", "", "low"),
		"runtime": item("node.k8s.io", "RuntimeClass", "", "gvisor"), "another runtime": item("node.k8s.io", "RuntimeClass", "", "kata"),
		"storage": item("storage.k8s.io", "StorageClass", "", "slow"),

		"cluster role reader": with(t, item(rbac, "ClusterRole", "", "reader"), `{rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]}`),
		"role reader":         with(t, item(rbac, "Role", "prod", "reader"), `{rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]}`),
		"role that suffices":  with(t, item(rbac, "Role", "prod", "writer"), `{rules: [{apiGroups: [""], resources: ["*"], verbs: [create]}]}`),
		"role of all of it":   with(t, item(rbac, "ClusterRole", "", "all"), `{rules: [{apiGroups: ["", apps], resources: [pods, secrets, deployments], verbs: [get, list]}]}`),
		"cluster-admin":       item(rbac, "ClusterRole", "", "cluster-admin"), "cluster role dangling": item(rbac, "ClusterRole", "", "dangling"),
		"the robot's binding": with(t, item(rbac, "RoleBinding", "prod", "r"), `{subjects: [{kind: ServiceAccount, name: robot, namespace: prod}]}`),
		"the robots' binding": with(t, item(rbac, "ClusterRoleBinding", "", "rs"), `{subjects: [{kind: Group, name: "system:serviceaccounts:prod"}]}`),
		"the deployer's":      with(t, item(rbac, "RoleBinding", "prod", "d"), `{subjects: [{kind: User, name: deployer}]}`),
		"the team's":          with(t, item(rbac, "ClusterRoleBinding", "", "t"), `{subjects: [{kind: Group, name: team}]}`),
		"somebody's":          with(t, item(rbac, "ClusterRoleBinding", "", "s"), `{subjects: [{kind: User, name: somebody}]}`),
		"binding elsewhere":   with(t, item(rbac, "RoleBinding", "test", "e"), `{subjects: [{kind: User, name: deployer}]}`),
		"policy":              item(admission, "ValidatingAdmissionPolicy", "", "no-fridays"), "another policy": item(admission, "ValidatingAdmissionPolicy", "", "no-mondays"),
		"policy binding": item(admission, "ValidatingAdmissionPolicyBinding", "", "no-fridays-anywhere"), "another policy binding": item(admission, "ValidatingAdmissionPolicyBinding", "", "no-fridays"),
		"webhook that is lost": with(t, item(admission, "ValidatingWebhookConfiguration", "", "a"), `{webhooks: [{name: other.example.com}, {name: rec-lost.example.com}]}`),
		"webhook that says no": with(t, item(admission, "ValidatingWebhookConfiguration", "", "b"), `{webhooks: [{name: rec-verdict.example.com}]}`),
		"webhook that goes":    former,
		"another webhook":      with(t, item(admission, "ValidatingWebhookConfiguration", "", "c"), `{webhooks: [{name: other.example.com}]}`),
		"guard":                item("", "Service", "guards", "guard"), "guard's workload": item("apps", "Deployment", "guards", "g"), "converter": item("", "Service", "guards", "convert"),
		"workload beside it": item("apps", "Deployment", "prod", "g"),
		"API":                with(t, existing(item("apiregistration.k8s.io", "APIService", "", "v1.rec.example.com")), `{spec: {group: rec.example.com, version: v1}}`),
		"config map":         item("", "ConfigMap", "prod", "c"),
	}
}

func TestMayExplain(t *testing.T) {
	binding := func(kind, name string) *Item {
		return with(t, item(rbac, "RoleBinding", "prod", "robots"), "{roleRef: {kind: "+kind+", name: "+name+"}}")
	}
	configMap := func(namespace string) *Item { return item("", "ConfigMap", namespace, "settings") }
	pod := func(namespace string) *Item { return item("", "Pod", namespace, "web") }
	gizmo := item("rec.example.com", "Gizmo", "prod", "g")
	for _, tt := range []struct {
		refusal string
		item    *Item
		waits   []string
	}{
		{"namespace-missing", configMap("nowhere"), []string{"the namespace"}},
		{"namespace-missing", item("rec.example.com", "Gizmo", "elsewhere", "g"), []string{"another namespace"}},
		{"immutable-field", item("batch", "Job", "prod", "once"), nil},
		{"invalid-value", item("apps", "Deployment", "prod", "web"), nil},
		{"unknown-field", configMap("prod"), nil},
		{"priority-class-missing", pod("prod"), []string{"priority"}},
		{"runtime-class-missing", pod("prod"), []string{"runtime"}},
		{"quota-exceeded", pod("quota"), []string{"quota"}},
		{"quota-needs-limits", pod("quota2"), []string{"quota of limits", "limits of the quota"}},
		{"limit-range", pod("limits"), []string{"limits"}},
		{"pod-security", pod("restricted"), []string{"its namespace, whose labels change"}},
		{"rbac-denied", configMap("prod"), []string{"role that suffices", "the robot's binding", "the robots' binding"}},
		{"rbac-role-of-a-binding-missing", configMap("prod"), []string{"cluster role dangling", "role that suffices"}},
		{"cluster-role-missing", binding("ClusterRole", "reader"), []string{"cluster role reader"}},
		{"role-missing", binding("Role", "reader"), []string{"role reader"}},
		{"rbac-escalation-binding", binding("ClusterRole", "cluster-admin"), []string{"cluster-admin", "the deployer's", "the team's"}},
		{"rbac-escalation-role", item(rbac, "Role", "prod", "reader"), []string{"role of all of it", "the deployer's", "the team's"}},
		{"validating-policy", configMap("prod"), []string{"policy", "policy binding"}},
		{"webhook-denied", configMap("hooked"), []string{"webhook that says no", "webhook that goes"}},
		{"webhook-service-missing", configMap("hooked"), []string{"webhook that is lost", "guard", "guard's workload"}},
		{"webhook-without-endpoints", configMap("hooked"), []string{"webhook that is lost", "guard", "guard's workload"}},
		{"custom-resource-invalid", gizmo, []string{"the kind"}},
		{"custom-resource-unknown-field", gizmo, []string{"the kind"}},
		{"conversion-webhook", gizmo, []string{"the kind", "converter", "guard's workload"}},
		{"claim-resize", item("", "PersistentVolumeClaim", "prod", "disk"), []string{"storage"}},
	} {
		r := recorded(t, tt.refusal)
		for name, other := range pending(t) {
			want := slices.Contains(tt.waits, name)
			if got := mayExplain(tt.item, other, r); got != want {
				t.Errorf("%s: %s waits for %s: %t, want %t", tt.refusal, tt.item.Target, name, got, want)
			}
		}
	}
}

// TestMayExplainUnrecorded: what the test server does not do: it has no admission of
// service accounts, and what client-go makes of a path that is not served is no Status.
func TestMayExplainUnrecorded(t *testing.T) {
	pod, widget := item("", "Pod", "prod", "p"), item("example.com", "Widget", "prod", "w")
	account := &cluster.Refusal{Code: 403, Kind: "pods", Name: "p", Message: `pods "p" is forbidden: error looking up service account prod/robot: serviceaccount "robot" not found`}
	unserved := &cluster.Refusal{Code: 404, Message: "the server could not find the requested resource"}
	for _, tt := range []struct {
		reason      string
		item, other *Item
		refusal     error
		want        bool
	}{
		{"a pod waits for its service account", pod, item("", "ServiceAccount", "prod", "robot"), account, true},
		{"but not for one elsewhere", pod, item("", "ServiceAccount", "test", "robot"), account, false},
		{"nor for its namespace, which makes no robot", pod, existing(item("", "Namespace", "", "prod")), account, false},
		{"nor for another", pod, item("", "ServiceAccount", "prod", "default"), account, false},
		{"its kind is made by this run", widget, crdItem("Widget"), unserved, true},
		{"its kind changes in this run", widget, existing(crdItem("Widget")), unserved, true},
		{"another kind is made", widget, crdItem("Gadget"), unserved, false},
		{"its API is added to the server", widget, with(t, item("apiregistration.k8s.io", "APIService", "", "v1.example.com"), `{spec: {group: example.com, version: v1}}`), unserved, true},
		{"another API is", widget, with(t, item("apiregistration.k8s.io", "APIService", "", "v1.example.org"), `{spec: {group: example.org, version: v1}}`), unserved, false},
		{"what is no answer waits for nothing", widget, existing(crdItem("Widget")), errors.New("unreachable"), false},
	} {
		if got := mayExplain(tt.item, tt.other, tt.refusal); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.reason, got, tt.want)
		}
	}
}

func TestStages(t *testing.T) {
	for _, tt := range []struct {
		item   *Item
		want   stage
		reason string
	}{
		{item("", "Namespace", "", "n"), spaces, "everything in it needs it"},
		{crdItem("Widget"), definitions, "its objects need it"},
		{item("", "ServiceAccount", "n", "s"), consulted, "pods need it"},
		{item("rbac.authorization.k8s.io", "Role", "n", "r"), consulted, "permissions come before what uses them"},
		{item("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "w"), remaining, "a webhook written before its own server is up would refuse the server"},
		{item("apps", "Deployment", "n", "d"), remaining, "everything else"},
		{item("example.com", "Namespace", "", "n"), remaining, "a custom kind of that name is no namespace"},
	} {
		if got := tt.item.stage(); got != tt.want {
			t.Errorf("%s: %d, want %d: %s", tt.item.Target, got, tt.want, tt.reason)
		}
	}
}

// TestTurns: objects are deleted in the reverse order of writing, and what pods name after
// the pods.
func TestTurns(t *testing.T) {
	items := []*Item{item("", "Namespace", "", "n"), crdItem("Widget"), item("", "ServiceAccount", "n", "s"), item("rbac.authorization.k8s.io", "Role", "n", "r"), item("", "ConfigMap", "n", "c"), item("apps", "Deployment", "n", "d")}
	for i := range items[1:] {
		if before, after := items[i+1], items[i]; before.turn() <= after.turn() {
			t.Errorf("%s has to be deleted before %s", before.Target, after.Target)
		}
	}
}

func TestRefusesDryRun(t *testing.T) {
	if !cluster.RefusesDryRun(&cluster.Refusal{Code: http.StatusBadRequest, Text: `admission webhook "a.b.c" does not support dry run`}) {
		t.Error("a webhook that cannot do dry runs says nothing about the object")
	}
	for _, err := range []error{nil, errors.New("dry run not supported"), &cluster.Refusal{Text: "is invalid"}} {
		if cluster.RefusesDryRun(err) {
			t.Errorf("%v is about something else", err)
		}
	}
}
