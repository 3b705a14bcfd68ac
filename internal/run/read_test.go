package run

import (
	"fmt"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

func items(n int, group, kind, namespace string) []*Item {
	all := make([]*Item, n)
	for i := range all {
		all[i] = item(group, kind, namespace, fmt.Sprint(kind, i))
	}
	return all
}

func TestBatched(t *testing.T) {
	for _, tt := range []struct {
		reason string
		items  []*Item
		want   int
	}{
		{"nothing to read", nil, 0},
		{"a few are read at once anyway", items(listFrom-1, "", "ConfigMap", "prod"), 0},
		{"many of one kind and namespace", items(listFrom, "", "ConfigMap", "prod"), 1},
		{"many, but half of them elsewhere", append(items(listFrom/2, "", "ConfigMap", "prod"), items(listFrom/2, "", "ConfigMap", "test")...), 0},
		{"two kinds, a list each", append(items(listFrom, "", "ConfigMap", "prod"), items(listFrom, "apps", "Deployment", "prod")...), 2},
		{"cluster-scoped", items(listFrom, "rbac.authorization.k8s.io", "ClusterRole", ""), 1},
		{"the values of others' Secrets stay where they are", items(listFrom, "", "Secret", "prod"), 0},
		{"another kind of that name holds no secrets as far as anybody knows", items(listFrom, "example.com", "Secret", "prod"), 1},
	} {
		if got := len(batched(tt.items)); got != tt.want {
			t.Errorf("%s: %d lists, want %d", tt.reason, got, tt.want)
		}
	}
}

func TestNextLimit(t *testing.T) {
	page := func(n, size int) cluster.Page { return cluster.Page{Objects: make([]cluster.Listed, n), Size: size} }
	for _, tt := range []struct {
		reason string
		page   cluster.Page
		want   int
	}{
		{"a page without objects says nothing", page(0, 100), firstPage},
		{"small objects, a full page", page(100, 100_000), fullPage},
		{"of objects of 100 kB only ten fit", page(100, 10_000_000), 10},
		{"an object larger than a page comes alone", page(1, 2*pageBytes), 1},
	} {
		if got := nextLimit(firstPage, tt.page); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.reason, got, tt.want)
		}
	}
}

func TestCompleteLists(t *testing.T) {
	if !complete(cluster.Resource{Group: "apps", Version: "v1", Kind: "Deployment"}) {
		t.Error("the API server's own lists are complete")
	}
	if complete(cluster.Resource{Group: "project.openshift.io", Version: "v1", Kind: "Project"}) {
		t.Error("an aggregated server may leave out what it likes")
	}
}
