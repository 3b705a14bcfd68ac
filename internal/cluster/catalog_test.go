package cluster

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
)

// whole is a server's answer with groups and resources in one.
var whole = map[string][]reply{
	"/api": {{header: map[string]string{"Content-Type": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}, body: `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{},"versions":[{"version":"v1","freshness":"Current","resources":[
		{"resource":"pods","responseKind":{"group":"","version":"v1","kind":"Pod"},"scope":"Namespaced","singularResource":"pod","verbs":["get","list","patch"],"shortNames":["po"],"categories":["all"],
			"subresources":[{"subresource":"status","responseKind":{"group":"","version":"v1","kind":"Pod"},"verbs":["get"]},{"subresource":"exec","verbs":["create"]}]},
		{"resource":"namespaces","responseKind":{"group":"","version":"v1","kind":"Namespace"},"scope":"Cluster","singularResource":"namespace","verbs":["get"],"shortNames":["ns"]}]}]}]}`}},
	"/apis": {{header: map[string]string{"Content-Type": "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io;charset=utf-8"}, body: `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
		{"metadata":{"name":"apps"},"versions":[
			{"version":"v1","freshness":"Current","resources":[{"resource":"deployments","responseKind":{"group":"apps","version":"v1","kind":"Deployment"},"scope":"Namespaced","singularResource":"deployment","verbs":["get","patch"],"shortNames":["deploy"],"categories":["all"]},
				{"resource":"orphans","scope":"Namespaced","verbs":["get"],"subresources":[{"subresource":"scale","responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},"verbs":["get"]}]}]},
			{"version":"v1beta1","freshness":"Current","resources":[{"resource":"deployments","responseKind":{"group":"apps","version":"v1beta1","kind":"Deployment"},"scope":"Namespaced","singularResource":"deployment","verbs":["get"],"shortNames":["deploy"]}]}]},
		{"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]},
		{"metadata":{"name":"example.com"},"versions":[{"version":"v1","resources":[{"resource":"podcasts","responseKind":{"group":"example.com","version":"v1","kind":"Podcast"},"scope":"Namespaced","singularResource":"podcast","verbs":["get"],"shortNames":["po","pc"]}]}]}]}`}},
}

// TestCatalogAgrees: what a server serves is what client-go's discovery makes of the same
// answers, in either format, and so is what both store.
func TestCatalogAgrees(t *testing.T) {
	for _, tt := range []struct {
		format string
		served map[string][]reply
	}{
		{"one answer with all", whole},
		{"an answer for each version", nil},
		{"groups in one format, the core in the other", map[string][]reply{"/apis": whole["/apis"], "/apis/example.com/v1": {{body: `{"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[{"name":"podcasts","kind":"Podcast"}]}`}}}},
		{"no core group", map[string][]reply{"/api": {status(404, "NotFound", "no")}}},
	} {
		_, a := serve(t, tt.served)
		own, theirs := t.TempDir(), t.TempDir()
		a.cache = own
		c, err := New(a, nil)
		if err != nil {
			t.Fatal(err)
		}
		config, _ := a.ToRESTConfig()
		client, err := disk.NewCachedDiscoveryClientForConfig(config, theirs, "", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		groups, lists, err := c.catalog.all(t.Context())
		wantGroups, wantLists, wantErr := client.ServerGroupsAndResourcesWithContext(t.Context())
		if text(err) != text(wantErr) {
			t.Errorf("%s: %v, of client-go: %v", tt.format, err, wantErr)
		}
		same(t, tt.format, groups.Groups, values(wantGroups))
		same(t, tt.format, lists, wantLists)
		storedAlike(t, c.catalog.cache.dir, theirs)
		before := len(a.requests)
		again, err := New(a, nil)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := again.catalog.resources(t.Context(), "apps/v1")
		if err != nil || len(stored.APIResources) == 0 || len(a.requests) != before || again.catalog.fresh() {
			t.Errorf("%s: %v, %v, %d requests: what another process has stored is used, and may be outdated", tt.format, stored, err, len(a.requests)-before)
		}
		again.Refresh()
		if _, err := again.catalog.resources(t.Context(), "apps/v1"); err != nil || len(a.requests) == before || !again.catalog.fresh() {
			t.Errorf("%s: %v: after a refresh the server is asked", tt.format, err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func values(groups []*metav1.APIGroup) []metav1.APIGroup {
	var out []metav1.APIGroup
	for _, g := range groups {
		out = append(out, *g)
	}
	return out
}

// same compares what is sent as JSON.
func same(t *testing.T, about string, got, want any) {
	t.Helper()
	a, err := json.Marshal(got)
	b, err2 := json.Marshal(want)
	if err != nil || err2 != nil || string(a) != string(b) {
		t.Errorf("%s:\n%s\nof client-go:\n%s", about, a, b)
	}
}

// storedAlike: both caches have the same files.
func storedAlike(t *testing.T, own, theirs string) {
	t.Helper()
	read := func(dir string) map[string]any {
		all := map[string]any{}
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			var v any
			if err == nil {
				err = json.Unmarshal(data, &v)
			}
			name, _ := filepath.Rel(dir, path)
			all[name] = v
			return err
		})
		return all
	}
	if a, b := read(own), read(theirs); !reflect.DeepEqual(a, b) || len(a) < 2 {
		t.Errorf("stored here and by client-go: %s", cmp.Diff(a, b))
	}
}

// TestCatalogPlace: the cache is where kubectl's is.
func TestCatalogPlace(t *testing.T) {
	for host, want := range map[string]string{
		"https://127.0.0.1:6443":                 "127.0.0.1_6443",
		"https://api.example.com/k8s/clusters/a": "api.example.com/k8s/clusters/a",
		"http://[::1]:8080":                      "___1__8080",
	} {
		if got := newCatalogCache("cache", host).dir; got != filepath.Join("cache", "discovery", filepath.FromSlash(want)) {
			t.Errorf("%s: %s", host, got)
		}
	}
	if c := newCatalogCache("", "https://a"); c.fresh() != true || c.get(groupsFile, "APIGroupList", &metav1.APIGroupList{}) {
		t.Error("a cache without a folder has something")
	}
}

// TestCatalogUnreadable: what cannot be read, is too old or lies outside of the cache is asked
// of the server.
func TestCatalogUnreadable(t *testing.T) {
	c := newCatalogCache(t.TempDir(), "https://a")
	name := filepath.Join(c.dir, groupsFile)
	if err := os.MkdirAll(c.dir, 0o750); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"", "{", `{"kind":"APIResourceList"}`} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if c.get(groupsFile, "APIGroupList", &metav1.APIGroupList{}) {
			t.Errorf("%q counts", content)
		}
	}
	if err := os.WriteFile(name, []byte(`{"kind":"APIGroupList","apiVersion":"v1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if !c.get(groupsFile, "APIGroupList", &metav1.APIGroupList{}) {
		t.Error("a stored answer does not count")
	}
	old := time.Now().Add(-catalogLife - time.Minute)
	if err := os.Chtimes(name, old, old); err != nil || c.get(groupsFile, "APIGroupList", &metav1.APIGroupList{}) {
		t.Errorf("%v: an old answer counts", err)
	}
	c.put(resourcesFile("../../../up"), &metav1.APIResourceList{})
	if _, err := os.Stat(filepath.Join(c.dir, "../../../up")); err == nil {
		t.Error("the server chose a file outside of the cache")
	}
}

// TestNamed: kubectl's words for types, and its preferences among them.
func TestNamed(t *testing.T) {
	c, _ := serve(t, whole)
	var warned []string
	c.Warn = func(text string) { warned = append(warned, text) }
	for word, want := range map[string]string{
		"po": "/v1 Pod", "pod": "/v1 Pod", "pods": "/v1 Pod", "Pod": "/v1 Pod", "deploy": "apps/v1 Deployment", "deployments.apps": "apps/v1 Deployment",
		"deployments.v1beta1.apps": "apps/v1beta1 Deployment", "Deployment.v1beta1.apps": "apps/v1beta1 Deployment", "deploy.app": "apps/v1 Deployment", "pc": "example.com/v1 Podcast", "po.example.com": "example.com/v1 Podcast",
	} {
		if r, err := c.Named(t.Context(), word); err != nil || r.Group+"/"+r.Version+" "+r.Kind != want {
			t.Errorf("%s: %+v, %v, want %s", word, r, err, want)
		}
	}
	if !slices.Equal(warned, []string{`short name "po" could also match lower priority resource podcasts.example.com`}) {
		t.Errorf("%q", warned)
	}
	for word, want := range map[string]string{"gadgets": `resource type "gadgets"`, "gadgets.example.com": `resource type "gadgets" in group "example.com"`} {
		if _, err := c.Named(t.Context(), word); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", word, err)
		}
	}
	if all, err := c.types(t.Context(), "all,ns"); err != nil || len(all) != 3 || all[0].Kind != "Pod" || all[2].Kind != "Namespace" {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := c.Patchable(t.Context()); err != nil || !slices.Equal(all, []string{"deployments.apps", "pods"}) {
		t.Errorf("%q, %v", all, err)
	}
	if _, err := c.Query(t.Context(), Query{Args: []string{"pods/a", "b"}}); err == nil || !strings.Contains(err.Error(), "there is no need to specify a resource type") {
		t.Errorf("%v", err)
	}
	if found, err := c.Query(t.Context(), Query{Args: []string{"pods,deploy", "a", "b"}, Namespace: "x"}); err != nil || len(found) != 4 {
		t.Errorf("%v, %v", found, err)
	}
	for _, args := range [][]string{{"pods/a/b"}, {"/a"}, {"pods,deploy/a"}, {"pods/"}} {
		if _, err := c.Query(t.Context(), Query{Args: args, Namespace: "x"}); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

// TestIncomplete: a version that is not known at present hides nothing else.
func TestIncomplete(t *testing.T) {
	c, _ := serve(t, whole)
	if _, err := c.catalog.resources(t.Context(), "metrics.k8s.io/v1beta1"); !errors.As(err, new(*staleError)) {
		t.Errorf("%v", err)
	}
	if _, err := c.catalog.resources(t.Context(), "nobody.example.com/v1"); !errors.Is(err, errNotServed) {
		t.Errorf("%v", err)
	}
	if !isWhole(discovery.AcceptV2) || isWhole("application/json") || isWhole("a;b;c") {
		t.Error("formats are mistaken for one another")
	}
}
