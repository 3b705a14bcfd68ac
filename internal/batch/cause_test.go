package batch

import (
	"errors"
	"net/http"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
)

func item(group, kind, namespace, name string) *Item {
	return &Item{
		Object: source.Object{Value: map[string]any{}},
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

func refusal(code int) error { return &cluster.Refusal{Code: code} }

func TestMayExplain(t *testing.T) {
	pod := item("", "Pod", "prod", "p")
	widget := item("example.com", "Widget", "prod", "w")
	for _, tt := range []struct {
		reason  string
		item    *Item
		other   *Item
		refusal error
		want    bool
	}{
		{"the namespace it goes to is made by this run", pod, item("", "Namespace", "", "prod"), refusal(404), true},
		{"another namespace is", pod, item("", "Namespace", "", "test"), refusal(404), false},
		{"a namespace that is there explains no missing one", pod, existing(item("", "Namespace", "", "prod")), refusal(404), false},
		{"its labels may choose what admission allows", pod, existing(item("", "Namespace", "", "prod")), refusal(403), true},
		{"its kind is made by this run", widget, crdItem("Widget"), refusal(404), true},
		{"its kind's schema changes in this run", widget, existing(crdItem("Widget")), refusal(400), true},
		{"another kind is", widget, crdItem("Gadget"), refusal(404), false},
		{"a pod waits for its service account", pod, item("", "ServiceAccount", "prod", "sa"), refusal(403), true},
		{"but not for one elsewhere", pod, item("", "ServiceAccount", "test", "sa"), refusal(403), false},
		{"a service account makes nothing valid", pod, item("", "ServiceAccount", "prod", "sa"), refusal(422), false},
		{"a quota may be raised", pod, item("", "ResourceQuota", "prod", "q"), refusal(403), true},
		{"a priority class, from wherever", pod, item("scheduling.k8s.io", "PriorityClass", "", "vip"), refusal(403), true},
		{"a right may be given", pod, item("rbac.authorization.k8s.io", "ClusterRoleBinding", "", "b"), refusal(403), true},
		{"a webhook may refuse with any code", pod, item("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "w"), refusal(500), true},
		{"a config map explains nothing", pod, item("", "ConfigMap", "prod", "c"), refusal(403), false},
		{"nothing explains itself", pod, pod, refusal(403), false},
	} {
		if got := mayExplain(tt.item, tt.other, tt.refusal); got != tt.want {
			t.Errorf("%s: got %t", tt.reason, got)
		}
	}
}

func TestStages(t *testing.T) {
	for _, tt := range []struct {
		item   *Item
		want   stage
		reason string
	}{
		{item("", "Namespace", "", "n"), first, "everything in it needs it"},
		{crdItem("Widget"), first, "its objects need it"},
		{item("", "ServiceAccount", "n", "s"), second, "pods need it"},
		{item("rbac.authorization.k8s.io", "Role", "n", "r"), second, "rights come before what uses them"},
		{item("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "w"), third, "a webhook written before its own server is up would refuse the server"},
		{item("apps", "Deployment", "n", "d"), third, "everything else"},
		{item("example.com", "Namespace", "", "n"), third, "a custom kind of that name is no namespace"},
	} {
		if got := tt.item.stage(); got != tt.want {
			t.Errorf("%s: %d, want %d: %s", tt.item.Target, got, tt.want, tt.reason)
		}
	}
}

func TestRefusesDryRun(t *testing.T) {
	if !refusesDryRun(&cluster.Refusal{Code: http.StatusBadRequest, Text: `admission webhook "a.b.c" does not support dry run`}) {
		t.Error("a webhook that cannot do dry runs says nothing about the object")
	}
	for _, err := range []error{nil, errors.New("dry run not supported"), &cluster.Refusal{Text: "is invalid"}} {
		if refusesDryRun(err) {
			t.Errorf("%v is about something else", err)
		}
	}
}

func TestPlace(t *testing.T) {
	object := func(namespace string) source.Object {
		return source.Object{Value: map[string]any{"kind": "Pod", "metadata": map[string]any{"name": "p", "namespace": namespace}}}
	}
	for _, tt := range []struct {
		reason     string
		ns         Namespacing
		own        string
		namespaced bool
		want       string
		refused    bool
	}{
		{"its own", Namespacing{Default: "default"}, "prod", true, "prod", false},
		{"the context's", Namespacing{Default: "team"}, "", true, "team", false},
		{"-n for one that names none", Namespacing{Default: "prod", Enforce: true}, "", true, "prod", false},
		{"-n against its own", Namespacing{Default: "prod", Enforce: true}, "test", true, "", true},
		{"a cluster-scoped kind has none", Namespacing{Default: "prod", Enforce: true}, "test", false, "", false},
	} {
		got, err := tt.ns.Place(object(tt.own), tt.namespaced)
		if (err != nil) != tt.refused || err == nil && got.Namespace() != tt.want {
			t.Errorf("%s: got %q, %v", tt.reason, got.Namespace(), err)
		}
	}
}
