package cluster

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
)

// onDisk has discovery kept in files, as the program has; the one kept in memory reads all at once.
type onDisk struct {
	*answers
	dir string
}

func (d onDisk) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	config, err := d.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	return disk.NewCachedDiscoveryClientForConfig(config, d.dir, "", time.Hour)
}

// TestOwnWord: every spelling that kubectl takes; and of what is kept in files, no more is
// read than the versions that had to be looked through.
func TestOwnWord(t *testing.T) {
	served := map[string][]reply{
		"/apis": {{body: `{"kind":"APIGroupList","groups":[
			{"name":"example.com","versions":[{"groupVersion":"example.com/v1","version":"v1"}],"preferredVersion":{"groupVersion":"example.com/v1","version":"v1"}},
			{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"},{"groupVersion":"apps/v1beta1","version":"v1beta1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}`}},
		"/apis/apps/v1": {{body: `{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[
			{"name":"deployments","singularName":"deployment","shortNames":["deploy"],"kind":"Deployment","namespaced":true,"verbs":["get"]},
			{"name":"deployments/status","kind":"Deployment","namespaced":true,"verbs":["get"]}]}`}},
		"/apis/example.com/v1": {{body: `{"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[{"name":"shops","kind":"Shop","namespaced":true,"verbs":["get"]}]}`}},
	}
	_, a := serve(t, served)
	dir := t.TempDir()
	find := func(word string) (Resource, bool) {
		c, err := New(onDisk{a, dir}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.OwnWord(t.Context(), word)
	}
	for _, tt := range []struct{ word, want, reads string }{
		{"po", "", "v1 apps/v1 apps/v1beta1"}, // this server gives pods no short name
		{"pods", "v1 Pod", "v1"},
		{"Pod", "v1 Pod", "v1"},
		{"pods.v1.", "v1 Pod", "v1"},
		{"deploy", "apps/v1 Deployment", "v1 apps/v1"},
		{"deployment", "apps/v1 Deployment", "v1 apps/v1"},
		{"deployments.apps", "apps/v1 Deployment", "apps/v1"},
		{"deployments.v1.apps", "apps/v1 Deployment", "apps/v1"},
		{"deployments.v1beta1.apps", "", "apps/v1beta1"},
		{"deployments/status", "", "v1 apps/v1 apps/v1beta1"},
		{"scales", "apps/v1beta1 Scale", "v1 apps/v1 apps/v1beta1"},
		{"shops", "", "v1 apps/v1 apps/v1beta1"},
		{"pods.apps", "", "apps/v1 apps/v1beta1"},
	} {
		find("none") // reads, and so keeps, all versions but that of example.com
		for _, gv := range []string{"v1", "apps/v1", "apps/v1beta1"} {
			if slices.Contains(strings.Fields(tt.reads), gv) {
				continue
			}
			if err := os.RemoveAll(filepath.Join(dir, gv)); err != nil {
				t.Fatal(err)
			}
		}
		requests := len(a.requests)
		got := ""
		r, ok := find(tt.word)
		if ok {
			got = r.GroupVersion() + " " + r.Kind
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.word, got, tt.want)
		}
		if more := a.requests[requests:]; len(more) > 0 {
			t.Errorf("%s: read besides %s: %q", tt.word, tt.reads, more)
		}
		if tt.word == "deploy" && (!r.Namespaced || !r.Status || r.Plural != "deployments") {
			t.Errorf("%s: %+v", tt.word, r)
		}
	}
	c, silent := serve(t, nil)
	silent.Close()
	if r, ok := c.OwnWord(t.Context(), "pods"); ok {
		t.Errorf("a server that does not answer: %+v", r)
	}
}
