package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// many is a manifest of n ConfigMaps that hold a version.
func many(n int, version string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: m%d}, data: {version: %q, only-%s: x}}\n", i, version, version)
	}
	return b.String()
}

// labelled adds a label by another manager to the objects of many.
func (u *user) labelled() {
	u.t.Helper()
	u.does("kubectl", "label", "--field-manager=other", "configmaps", "--all", "theirs=kept")
}

// wantMany checks that every object of many is whole: of the one version or the
// other, its last-applied configuration of the same, the others' label in place;
// all of them of the version that is named, if any is.
func (u *user) wantMany(n int, version string) {
	u.t.Helper()
	list, err := u.server.client.CoreV1().ConfigMaps(u.ns).List(u.t.Context(), metav1.ListOptions{})
	if err != nil {
		u.t.Fatal(err)
	}
	seen := 0
	for _, c := range list.Items {
		if !strings.HasPrefix(c.Name, "m") {
			continue
		}
		seen++
		is := c.Data["version"]
		var applied struct{ Data map[string]string }
		if err := json.Unmarshal([]byte(c.Annotations["kubectl.kubernetes.io/last-applied-configuration"]), &applied); err != nil {
			u.t.Errorf("%s: last-applied: %v", c.Name, err)
		}
		switch {
		case version != "" && is != version:
			u.t.Errorf("%s is of version %q, want %q", c.Name, is, version)
		case len(c.Data) != 2 || c.Data["only-"+is] == "" || short(c.Data) != short(applied.Data):
			u.t.Errorf("%s is of two versions: %v, last-applied %v", c.Name, c.Data, applied.Data)
		case c.Labels["theirs"] != "kept":
			u.t.Errorf("%s: a label of another manager is lost: %v", c.Name, c.Labels)
		}
	}
	if seen != n {
		u.t.Errorf("%d objects, want %d", seen, n)
	}
}

func count(reported map[string]string, word string) (n int) {
	for _, w := range reported {
		if w == word {
			n++
		}
	}
	return n
}

// TestServerKilled kills the API server in mid-run, starts it again, and runs the
// program again.
func TestServerKilled(t *testing.T) {
	s := fragile.need(t)
	const objects = 60
	u := s.user(t, "killed")
	u.file("v1.yaml", many(objects, "1"))
	u.file("v2.yaml", many(objects, "2"))
	u.merges("-f", "v1.yaml")
	u.labelled()
	files := []string{"v1.yaml", "v2.yaml"}
	for i := range 1 + *soak {
		next := files[(i+1)%2]
		was := u.versions(next)
		p, err := newProxy(s.config)
		if err != nil {
			t.Fatal(err)
		}
		var once sync.Once // before a write is let through, so that the run cannot be faster
		p.fails(fault{skip: 1 + rand.IntN(objects/2), hits: func(request string) bool { return class(request) == "WRITE" }, do: func(w http.ResponseWriter, r *http.Request, server http.Handler) {
			once.Do(func() { s.order(t, "kill") })
			cutBefore(w, r, server)
		}})
		got := u.proxied(p).tries("kubectl-merge", "-f", next)
		p.http.Close()
		s.order(t, "start")
		if got.code != 1 {
			t.Fatalf("the server was killed: %s", got)
		}
		is := u.versions(next)
		truthful(t, got, was, is)
		u.wantMany(objects, "")
		again := u.merges("-f", next)
		u.wantMany(objects, next[1:2])
		t.Logf("%d of %d objects written before the server was killed, %d after", count(words(got), "configured"), objects, count(words(again), "configured"))
		notUnchanged(t, "the third run", words(u.merges("-f", next)), objects)
	}
}

// order has the launched server do something and waits until it has.
func (s *apiServer) order(t *testing.T, order string) {
	_, err := io.WriteString(s.stdin, order+"\n")
	if err == nil {
		err = s.answer(&struct{}{})
	}
	if err != nil {
		t.Errorf("the server cannot %s: %v", order, err)
	}
}

// TestStorm has a run meet all sorts of faults at once, at random, and runs again
// until one ends well: each run reports the truth, no object is ever half of one
// version and half of the other, and in the end the work is done.
func TestStorm(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	n := seed(t)
	for i := range uint64(2 * *soak) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			storm(t, s, rand.New(rand.NewPCG(n, i)))
		})
	}
}

func storm(t *testing.T, s *apiServer, random *rand.Rand) {
	const objects = 25
	u := s.user(t, "storm")
	u.file("v1.yaml", many(objects, "1"))
	u.file("v2.yaml", many(objects, "2"))
	u.merges("-f", "v1.yaml")
	u.labelled()
	p, err := newProxy(s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer p.http.Close()
	harms := []harm{
		refuse(409, "Conflict", "modified"), refuse(429, "TooManyRequests", busy, "Retry-After", "1"), refuse(429, "TooManyRequests", busy),
		refuse(500, "InternalError", "etcd is away"), refuse(503, "ServiceUnavailable", busy), refuse(504, "Timeout", "etcd is slow"),
		gateway, cutBefore, cutAfter, truncate, tear, slow(200 * time.Millisecond), stranger,
	}
	// Seldom enough that a run can get to its writes, often enough that few do well.
	for _, h := range harms {
		p.fails(fault{do: h, hits: func(request string) bool {
			c := class(request)
			return c == "WRITE" && random.IntN(50) == 0 || c != "DISCOVERY" && random.IntN(150) == 0
		}})
	}
	sick := u.proxied(p)
	for runs := 1; ; runs++ {
		was := u.versions("v2.yaml")
		got := sick.tries("kubectl-merge", "-f", "v2.yaml")
		truthful(t, got, was, u.versions("v2.yaml"))
		u.wantMany(objects, "")
		if got.code == 0 || t.Failed() {
			t.Logf("%d runs through %d requests", runs, len(p.requests))
			break
		}
		if runs == 100 {
			t.Fatalf("does not get through:\n%s", got)
		}
	}
	u.wantMany(objects, "2")
	p.heals()
	notUnchanged(t, "the run after the storm", words(sick.merges("-f", "v2.yaml")), objects)
}
