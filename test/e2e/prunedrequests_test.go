package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// tenKinds are objects of ten kinds; META stands for name and namespace.
var tenKinds = []string{
	`{apiVersion: v1, kind: ConfigMap, metadata: META}`,
	`{apiVersion: v1, kind: ServiceAccount, metadata: META}`,
	`{apiVersion: v1, kind: Service, metadata: META, spec: {ports: [{port: 80}]}}`,
	`{apiVersion: v1, kind: LimitRange, metadata: META}`,
	`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: META}`,
	`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: META, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}}`,
	`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: META, spec: {podSelector: {}}}`,
	`{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: META, spec: {defaultBackend: {service: {name: a, port: {number: 80}}}}}`,
	`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: META, spec: {minAvailable: 1, selector: {matchLabels: {app: a}}}}`,
	`{apiVersion: apps/v1, kind: Deployment, metadata: META, spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a}]}}}}`,
}

// TestPrunedRequests: a set of unchanged objects of ten kinds in ten namespaces costs one
// read for its parent and one list for each kind, however many objects and namespaces there
// are, and writes nothing.
func TestPrunedRequests(t *testing.T) {
	s := server.need(t)
	u := s.user(t, "pruned-requests")
	var text strings.Builder
	for n := range 10 {
		ns := fmt.Sprintf("%s-%d", u.ns, n)
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
		if _, err := s.client.CoreV1().Namespaces().Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.client.CoreV1().Namespaces().Delete(context.Background(), ns, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
		for i, object := range append(tenKinds, tenKinds...) {
			fmt.Fprintf(&text, "---\n%s\n", strings.Replace(object, "META", fmt.Sprintf("{name: a%d, namespace: %s}", i, ns), 1))
		}
	}
	u.file("all.yaml", text.String())
	set := []string{"-f", "all.yaml", "--prune", "--applyset=configmaps/shop", "--applyset-namespace=" + u.ns}
	if made := u.merges(set...); strings.Count(made.stdout, " created\n") != 200 {
		t.Fatalf("want 200 objects created\n%s", made)
	}
	p, err := newProxy(s.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.http.Close)
	u.through(p)
	count := func(args ...string) map[string]int {
		u.merges(args...) // fetches discovery and schemas
		p.mu.Lock()
		p.requests = nil
		p.mu.Unlock()
		if got := u.merges(args...); strings.Count(got.stdout, " unchanged\n") != 200 {
			t.Fatalf("want 200 objects unchanged\n%s", got)
		}
		return p.counts()
	}
	without, with := count("-f", "all.yaml"), count(set...)
	t.Logf("without the set %v, with it %v", without, with)
	if reads, most := without["READ"], mostReads(u); reads > most {
		t.Errorf("%d reads of 200 objects, want at most %d", reads, most)
	}
	if more := with["READ"] - without["READ"]; more > 11 {
		t.Errorf("%d reads more than without the set, want at most 11", more)
	}
	if n := with["WRITE"] + with["DRYRUN"] + with["DISCOVERY"] - without["DISCOVERY"] + with["SCHEMA"] - without["SCHEMA"]; n != 0 {
		t.Errorf("%d requests beside the reads, want none: %v, without the set %v", n, with, without)
	}
}

// mostReads is how many reads the twenty objects of each kind, two in each namespace, may take:
// a list or two, where others have few of the kind; where other tests have left many, a read
// each, and the list that found that out.
func mostReads(u *user) int {
	most := 0
	for _, object := range tenKinds {
		_, kind, _ := strings.Cut(object, "kind: ")
		kind, _, _ = strings.Cut(kind, ",")
		all := strings.Count(u.admin().does("kubectl", "get", kind, "-A", "-o", "name").stdout, "\n")
		if all <= 50 { // of which twenty are ours
			most += 2
		} else {
			most += 21
		}
	}
	return most
}
