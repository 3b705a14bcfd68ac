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

// inSpaces is n objects of a kind in each of so many namespaces.
func inSpaces(spaces, n int, kind string) []*Item {
	var all []*Item
	for i := range spaces {
		all = append(all, items(n, "", kind, fmt.Sprint("ns", i))...)
	}
	return all
}

func TestBatched(t *testing.T) {
	for _, tt := range []struct {
		reason     string
		items      []*Item
		wide, rest int // lists
	}{
		{"nothing to read", nil, 0, 0},
		{"a few are read at once anyway", items(listFrom-1, "", "ConfigMap", "prod"), 0, 0},
		{"several of one kind and namespace", items(listFrom, "", "ConfigMap", "prod"), 0, 1},
		{"several, but half of them elsewhere", append(items(listFrom/2, "", "ConfigMap", "prod"), items(listFrom/2, "", "ConfigMap", "test")...), 0, 0},
		{"two kinds, a list each", append(items(listFrom, "", "ConfigMap", "prod"), items(listFrom, "apps", "Deployment", "prod")...), 0, 2},
		{"a few of many that are cluster-scoped", items(listMany-1, "rbac.authorization.k8s.io", "ClusterRole", ""), 0, 0},
		{"many that are cluster-scoped", items(listMany, "rbac.authorization.k8s.io", "ClusterRole", ""), 0, 1},
		{"the values of others' Secrets stay where they are", items(listMany, "", "Secret", "prod"), 0, 0},
		{"also where they are in many namespaces", inSpaces(wideSpans, listFrom, "Secret"), 0, 0},
		{"another kind of that name holds no secrets as far as anybody knows", items(listFrom, "example.com", "Secret", "prod"), 0, 1},
		{"a few in each of many namespaces, in one list", inSpaces(listMany, 1, "ConfigMap"), 1, 0},
		{"some in each of several namespaces, in one list", inSpaces(wideSpans, listFrom, "ConfigMap"), 1, 0},
		{"many in each, a list each, which can be read at once", inSpaces(wideSpans, listMany, "ConfigMap"), 0, wideSpans},
		{"too few namespaces", inSpaces(wideSpans-1, listMany-1, "ConfigMap"), 0, wideSpans - 1},
		{"many in one and a few in others", append(inSpaces(listMany, 1, "ConfigMap"), items(listMany, "", "ConfigMap", "prod")...), 1, 1},
	} {
		wide, rest := spread(batched(tt.items))
		lists := 0
		for _, b := range rest {
			if b.pays() {
				lists++
			}
		}
		if len(wide) != tt.wide || lists != tt.rest {
			t.Errorf("%s: %d wide lists and %d others, want %d and %d", tt.reason, len(wide), lists, tt.wide, tt.rest)
		}
	}
}

// TestReadingRequests: a thousand objects of five kinds in ten namespaces take at most sixty
// requests to read, also where the lists of all namespaces are in vain.
func TestReadingRequests(t *testing.T) {
	var all []*Item
	for i := range 1000 {
		kind := []string{"Deployment", "Service", "ConfigMap", "Deployment", "Service", "Shop", "Deployment", "Service", "ConfigMap", "ServiceAccount"}[i%10]
		all = append(all, item("", kind, fmt.Sprint("ns", i/100), fmt.Sprint("app", i)))
	}
	wide, rest := spread(batched(all))
	requests := len(wide)
	for _, b := range wide {
		rest = append(rest, batched(b.items)...)
	}
	for _, b := range rest {
		if !b.pays() {
			requests += len(b.items)
		} else {
			requests += 1 + (b.most()-1)/fullPage // pages
		}
	}
	if requests > 60 {
		t.Errorf("%d reading requests, want at most 60", requests)
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
