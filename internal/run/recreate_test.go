package run

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// immutable is a server's error about a changed selector.
func immutable() error {
	return &cluster.Refusal{Code: 422, Text: "spec.selector: field is immutable", Causes: []metav1.StatusCause{{Field: "spec.selector", Message: `Invalid value: "b": field is immutable`}}}
}

const (
	wasWeb = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, uid: one, resourceVersion: '1', creationTimestamp: x, labels: {a: b}, managedFields: [{manager: ops, operation: Update, fieldsV1: {'f:metadata': {'f:labels': {'f:a': {}}}}}]}\nspec: {selector: {matchLabels: {app: a}}}\nstatus: {replicas: 3}\n"
	isWeb  = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {selector: {matchLabels: {app: b}}}\n---\n"
)

// TestRecreate: only what the server refuses to change, only if it accepts both steps, and
// never without a way out.
func TestRecreate(t *testing.T) {
	const name = "deployment.apps/web"
	patched := []string{"try patch " + name}
	tried := slices.Concat(patched, []string{"try delete " + name, "try create " + name})
	for _, tt := range []struct {
		reason   string
		kinds    []string
		patch    error // what the trial of the change ends with; nil: the selector is immutable
		create   error // what the trial of the creation ends with
		then     error // what the creation ends with
		requests []string
		err      string // that is in it
		gone     bool
	}{
		{"it is deleted and created", []string{"Deployment"}, nil, &cluster.Refusal{Code: 409, Reason: metav1.StatusReasonAlreadyExists}, nil,
			slices.Concat(tried, []string{"delete " + name, "create " + name}), "", false},
		{"the server gives another reason", []string{"Deployment"}, refused(422, "must match what is there"), nil, nil,
			slices.Concat(tried, []string{"delete " + name, "create " + name}), "", false},
		{"it is refused for no value of it", []string{"Deployment"}, refused(403, "not yours"), nil, nil, patched, "not yours", false},
		{"another kind is allowed", []string{"StatefulSet"}, nil, nil, nil, []string{"patch " + name}, "field is immutable", false},
		{"the new one is invalid", []string{"deployment.apps"}, nil, refused(422, "no such image"), nil, tried, "cannot be created again, and so was not deleted: no such image", false},
		{"it cannot be created after all", []string{"deployment"}, nil, nil, refused(403, "exceeded quota"),
			slices.Concat(tried, []string{"delete " + name, "create " + name, "create " + name}), "WAS DELETED AND IS NOT CREATED YET: exceeded quota: merge again, which creates it", true},
	} {
		p, m := setup(t, isWeb, wasWeb)
		p.Planner.Policy, _ = merge.PolicyNamed("apply")
		p.Recreate = Recreation{Kinds: tt.kinds}
		m.refuse = func(verb string, _ cluster.Target, trial bool) error {
			switch {
			case verb == "patch":
				return cmp.Or(tt.patch, immutable())
			case verb == "create" && trial:
				return tt.create
			case verb == "create":
				return tt.then
			}
			return nil
		}
		got := send(t.Context(), p, m)
		if !slices.Equal(got.requests, tt.requests) || !strings.Contains(got.err, tt.err) || (got.err == "") != (tt.err == "") {
			t.Errorf("%s: %q, %s\nwant %q, %s", tt.reason, got.requests, got.err, tt.requests, tt.err)
		}
		obj := m.objects[name]
		if tt.err == "" {
			meta := obj["metadata"].(map[string]any)
			if meta["uid"] != nil || meta["managedFields"] != nil || obj["status"] != nil || meta["labels"].(map[string]any)["a"] != "b" {
				t.Errorf("%s: created %v", tt.reason, obj)
			}
		}
		if tt.gone != (obj == nil) {
			t.Errorf("%s: there: %v", tt.reason, obj)
		}
	}
}

// TestExpected: a preview that asks no server knows fields of built-in kinds.
func TestExpected(t *testing.T) {
	for kind, want := range map[string]string{"Deployment": "recreated: spec.selector", "Job": "refused: spec.selector (can be set only once: --recreate=Deployment deletes the object and creates it again)"} {
		p, m := setup(t, isWeb, wasWeb)
		p.Planner.Policy, _ = merge.PolicyNamed("apply")
		p.Recreate = Recreation{Kinds: []string{kind}}
		p.Merge(t.Context())
		p.Show(t.Context(), func(i *Item) {
			if got := i.Impact().String(); got != want {
				t.Errorf("%s: %s, want %s", kind, got, want)
			}
		})
		if len(m.writes()) > 0 {
			t.Errorf("%s: %v", kind, m.log)
		}
	}
}

func TestIsKind(t *testing.T) {
	r := cluster.Resource{Group: "apps", Kind: "StatefulSet", Plural: "statefulsets"}
	for name, want := range map[string]bool{"StatefulSet": true, "statefulsets": true, "statefulset.apps": true, "statefulset.example.com": false, "sts": false, "": false} {
		if IsKind(r, name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
	for _, r := range cluster.Holding {
		if (Recreation{Kinds: []string{r.Kind}}).allows(r) {
			t.Errorf("%s may be deleted", r.Kind)
		}
	}
}
