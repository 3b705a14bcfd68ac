package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestExplain(t *testing.T) {
	c := &Cluster{host: "https://k.example.com:6443"}
	deployment := Target{Resource: Resource{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments"}, Name: "web"}
	secret := Target{Resource: Resource{Version: "v1", Kind: "Secret", Plural: "secrets"}, Name: "s"}
	invalid := func(causes ...metav1.StatusCause) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid,
			Message: "Deployment.apps \"web\" is invalid: everything at once", Details: &metav1.StatusDetails{Causes: causes}}}
	}
	status := func(code int32, message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Message: message}}
	}
	long := `{"matchLabels":{"app":"` + strings.Repeat("x", 100) + `"}}`
	for _, tt := range []struct {
		reason string
		err    error
		target Target
		want   string
	}{
		{"an immutable field is named, with a way out, without the object",
			invalid(metav1.StatusCause{Field: "spec.selector", Message: "Invalid value: " + long + ": field is immutable"}), deployment,
			"spec.selector: invalid value: field is immutable: set it back to what the cluster has, or have the object deleted and created again: --recreate=Deployment"},
		{"a short value is shown",
			invalid(metav1.StatusCause{Field: "spec.replicas", Message: "Invalid value: -1: must be greater than or equal to 0"}), deployment,
			"spec.replicas: invalid value -1: must be greater than or equal to 0"},
		{"a value that holds what separates it",
			invalid(metav1.StatusCause{Field: "metadata.name", Message: `Invalid value: "a: b": must be lower case`}), deployment,
			`metadata.name: invalid value "a: b": must be lower case`},
		{"a Secret's value never is",
			invalid(metav1.StatusCause{Field: "data[a b]", Message: `Invalid value: "hunter2": a valid config key must consist of alphanumeric characters`}), secret,
			"data[a b]: invalid value: a valid config key must consist of alphanumeric characters"},
		{"what would be printed twice is printed once",
			invalid(metav1.StatusCause{Field: "data[a b]", Message: `Invalid value: "x": a`}, metav1.StatusCause{Field: "data[a b]", Message: `Invalid value: "y": a`}, metav1.StatusCause{Field: "b", Message: "Required value"}), secret,
			"data[a b]: invalid value: a; b: Required value"},
		{"several complaints are one line",
			invalid(metav1.StatusCause{Field: "a", Message: "Required value"}, metav1.StatusCause{Field: "b", Message: "Unsupported value: \"x\": supported values: \"y\""}), deployment,
			`a: Required value; b: unsupported value "x": supported values: "y"`},
		{"a variable, and a value in another case",
			invalid(metav1.StatusCause{Field: "a", Message: `Invalid value: "x-${NAME}": a lowercase RFC 1123 subdomain`}, metav1.StatusCause{Field: "b", Message: `Unsupported value: "always": supported values: "Always", "Never"`}), deployment,
			`a: invalid value "x-${NAME}": a variable that nothing replaced (envsubst); b: unsupported value "always": write Always`},
		{"what follows from a missing value is not repeated, and sets no remedy",
			invalid(metav1.StatusCause{Field: "spec.selector", Message: "Required value"}, metav1.StatusCause{Field: "spec.template.metadata.labels", Message: "Invalid value: null: `selector` does not match template `labels`"},
				metav1.StatusCause{Field: "spec.selector", Message: "Invalid value: null: field is immutable"}), deployment,
			"spec.selector: Required value"},
		{"more than a few are all told",
			invalid(metav1.StatusCause{Field: "a", Message: "x"}, metav1.StatusCause{Field: "b", Message: "x"}, metav1.StatusCause{Field: "c", Message: "x"}, metav1.StatusCause{Field: "d", Message: "x"},
				metav1.StatusCause{Field: "e", Message: "x"}, metav1.StatusCause{Field: "f", Message: "x"}, metav1.StatusCause{Field: "g", Message: "x"}), deployment,
			"a: x; b: x; c: x; d: x; e: x; f: x; g: x"},
		{"a remedy follows the cause that it is about",
			invalid(metav1.StatusCause{Field: "type", Message: "Invalid value: \"x\": field is immutable"}, metav1.StatusCause{Field: "metadata.labels", Message: "Invalid value: \"y!\": a valid label"}), secret,
			"metadata.labels: invalid value: a valid label; type: invalid value: field is immutable: set it back to what the cluster has, or have the object deleted and created again: --recreate=Secret"},
		{"a long message with a dump in it is cut at its first line",
			invalid(metav1.StatusCause{Field: "spec", Message: "Forbidden: pod updates may not change fields other than `image`\n  core.PodSpec{\n- 1"}), deployment,
			"spec: Forbidden: pod updates may not change fields other than `image` …: set it back"},
		{"a role with more permissions than its author's names them",
			status(403, "roles \"more\" is forbidden: user \"c\" (groups=[\"g\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"*\"]}"), deployment,
			`not currently held: {APIGroups:[""], Resources:["secrets"], Verbs:["*"]}: have them granted to you first, or have it written by somebody who holds them`},
		{"a missing right keeps verb and resource",
			status(403, `deployments.apps "web" is forbidden: User "r" cannot patch resource "deployments" in API group "apps"`), deployment,
			`User "r" cannot patch resource "deployments" in API group "apps": ask an administrator of the cluster for this permission`},
		{"a terminal escape is spelled out", status(400, "bad \x1b[31m thing"), deployment, `bad \x1b[31m thing`},
		{"an unknown user", status(401, "Unauthorized"), deployment, "log in again"},
		{"a missing namespace", status(404, `namespaces "x" not found`), deployment, "create it first"},
		{"a port on which no server listens", &url.Error{Op: "Get", Err: &net.OpError{Err: syscall.ECONNREFUSED}}, deployment, "the connection to the server k.example.com:6443 was refused"},
		{"no such host", &url.Error{Op: "Get", Err: &net.DNSError{}}, deployment, "its name cannot be resolved"},
		{"no answer", &url.Error{Op: "Get", Err: context.DeadlineExceeded}, deployment, "does not answer"},
		{"an interrupt stays one", fmt.Errorf("x: %w", context.Canceled), deployment, context.Canceled.Error()},
	} {
		got := c.explain(tt.err, tt.target, "patch")
		if !strings.Contains(got.Error(), tt.want) || strings.Contains(got.Error(), "null") || strings.Contains(got.Error(), "\n") {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.reason, got, tt.want)
		}
	}
}

func TestRefusalsAreTold(t *testing.T) {
	c := &Cluster{}
	conflict := c.explain(&apierrors.StatusError{ErrStatus: metav1.Status{Code: 409, Reason: metav1.StatusReasonConflict}}, Target{}, "patch")
	exists := c.explain(&apierrors.StatusError{ErrStatus: metav1.Status{Code: 409, Reason: metav1.StatusReasonAlreadyExists}}, Target{}, "create")
	if !IsConflict(conflict) || IsAlreadyExists(conflict) || !IsAlreadyExists(exists) || IsConflict(exists) {
		t.Error("one kind of refusal is taken for another")
	}
	for _, tt := range []struct {
		reason string
		status metav1.Status
		want   bool
	}{
		{"a test of a JSON patch", metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid, Message: "the server rejected our request due to an error in our request"}, true},
		{"an object that is wrong", metav1.Status{Code: 422, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: "spec"}}}}, false},
		{"a webhook that says no without a reason", metav1.Status{Code: 400, Message: `admission webhook "a.example.com" denied the request: no`}, false},
		{"a webhook that says why", metav1.Status{Code: 422, Message: `admission webhook "a.example.com" denied the request: no`}, false},
		{"a webhook that cannot try", metav1.Status{Code: 400, Reason: metav1.StatusReasonBadRequest, Message: `admission webhook "a.example.com" does not support dry run`}, false},
	} {
		var r *Refusal
		if !errors.As(c.explain(&apierrors.StatusError{ErrStatus: tt.status}, Target{}, "patch"), &r) || r.ofTest() != tt.want || IsTestFailed(r) {
			t.Errorf("%s: %+v: is that of a test: %t, want %t, and only for a JSON patch", tt.reason, r, r.ofTest(), tt.want)
		}
	}
	if IsRefusal(errors.New("x")) || Code(errors.New("x")) != 0 || Code(conflict) != 409 {
		t.Error("what is no refusal is taken for one")
	}
}

func TestDeclared(t *testing.T) {
	crd := map[string]any{"spec": map[string]any{
		"group": "example.com", "scope": "Namespaced",
		"names": map[string]any{"kind": "Widget", "plural": "widgets"},
		"versions": []any{
			map[string]any{"name": "v1", "served": true, "subresources": map[string]any{"status": map[string]any{}}},
			map[string]any{"name": "v1alpha1", "served": false},
		},
	}}
	got := Declared(crd)
	want := Resource{Group: "example.com", Version: "v1", Kind: "Widget", Plural: "widgets", Namespaced: true, Status: true}
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want only %+v: a version that is not served cannot be written", got, want)
	}
	if Declared(map[string]any{"kind": "Pod"}) != nil {
		t.Error("a pod declares no kinds")
	}
}
