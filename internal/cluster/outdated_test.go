package cluster

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
)

// TestOutdated: a kind that discovery has kept, and that the server does not serve any more, or in another scope, is no
// object that does not exist: discovery is read anew, once for all reads. Of an object that does not exist, and of a
// kind that the run itself defines, it is not.
func TestOutdated(t *testing.T) {
	const group = "/apis/example.com/"
	kept := map[string][]reply{
		"/apis":      {{body: `{"kind":"APIGroupList","groups":[{"name":"example.com","versions":[{"groupVersion":"example.com/v1","version":"v1"},{"groupVersion":"example.com/v2","version":"v2"}],"preferredVersion":{"groupVersion":"example.com/v2","version":"v2"}}]}`}},
		group + "v1": {{body: `{"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[{"name":"shops","kind":"Shop","namespaced":true,"verbs":["get"]}]}`}},
		group + "v2": {{body: `{"kind":"APIResourceList","groupVersion":"example.com/v2","resources":[{"name":"shops","kind":"Shop","namespaced":true,"verbs":["get"]}]}`}},
	}
	gone := status(404, "NotFound", "the server could not find the requested resource")
	for _, tt := range []struct {
		what     string
		now      [2]reply // of discovery, in each version, once it was kept
		object   reply
		declares string // the scope in which the run defines the kind, and the versions
		want     string
		reads    int // of discovery
	}{
		{"no version any more", [2]reply{gone, kept[group+"v2"][0]}, gone, "", `no matches for kind "Shop" in version "example.com/v1" (did you mean apiVersion example.com/v2?)`, 1},
		{"in another scope", [2]reply{{body: `{"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[{"name":"shops","kind":"Shop","verbs":["get"]}]}`}, gone},
			gone, "", "in another scope or under another plural: run this again", 1},
		{"served, as it is said", [2]reply{kept[group+"v1"][0], gone}, gone, "", "the server does not serve this kind", 1},
		{"no object", [2]reply{gone, gone}, status(404, "NotFound", `shops.example.com "a" not found`), "", `"a" not found`, 0},
		{"defined by the run", [2]reply{gone, gone}, gone, "Namespaced v1 v2", "the server does not serve this kind", 0},
		{"defined by the run in one version", [2]reply{gone, gone}, gone, "Namespaced v1", "the server does not serve this kind", 0},
		{"defined by the run in another scope", [2]reply{gone, gone}, gone, "Cluster v1", "the server does not serve this kind", 0},
	} {
		_, a := serve(t, kept)
		dir := t.TempDir()
		for _, version := range []string{"v1", "v2"} {
			before, err := New(onDisk{a, dir}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := before.Find(t.Context(), "example.com", version, "Shop"); err != nil || !r.Namespaced {
				t.Fatal(r, err)
			}
			before.versions(t.Context(), "example.com")
		}
		c, err := New(onDisk{a, dir}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if scope, defined, declares := strings.Cut(tt.declares, " "); declares {
			versions := object.Each(strings.Fields(defined), func(v string) any { return map[string]any{"name": v, "served": true} })
			c.Declare(map[string]any{"spec": map[string]any{"group": "example.com", "scope": scope, "names": map[string]any{"kind": "Shop", "plural": "shops"}, "versions": versions}})
		}
		r, err := c.Find(t.Context(), "example.com", "v1", "Shop")
		if err != nil || r.Plural != "shops" || r.Namespaced != !strings.HasPrefix(tt.declares, "Cluster") {
			t.Fatal(tt.what, r, err)
		}
		a.mu.Lock()
		a.requests = nil
		for i, version := range []string{"v1", "v2"} {
			a.byPath[group+version] = []reply{tt.now[i]}
			a.byPath[group+version+"/namespaces/prod/shops/a"], a.byPath[group+version+"/shops/a"] = []reply{tt.object}, []reply{tt.object}
		}
		a.mu.Unlock()
		errs := make([]error, 4)
		parallel.Each(t.Context(), parallel.Steps{N: len(errs), Limit: len(errs)}, func(i int) {
			_, errs[i] = c.Get(t.Context(), Target{Resource: r, Namespace: "prod", Name: "a"})
		})
		for _, err := range errs {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", tt.what, err)
			}
			if known := errors.As(err, new(*UnknownKindError)); known != strings.Contains(tt.want, "no matches") || IsNotFound(err) == strings.Contains(tt.want, "in ") {
				t.Errorf("%s: %T", tt.what, err)
			}
		}
		reads := 0
		for _, req := range a.requests {
			if strings.HasPrefix(req, "GET "+group+"v1?") {
				reads++
			}
		}
		if reads != tt.reads {
			t.Errorf("%s: %d reads of discovery: %q", tt.what, reads, a.requests)
		}
	}
}
