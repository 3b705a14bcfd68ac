package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const waitedFor = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"public"},"spec":{"type":"LoadBalancer","ports":[{"port":80}]}}`

// addressed gives the Service its address.
func (u *user) addressed() {
	u.does("kubectl", "patch", "service", "public", "--subresource=status", "-p", `{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`)
}

// TestWaitFaults has a wait's own requests fail, one way at a time, while what it waits
// for happens: it never misses that, never ends before, and reports no more than trouble
// on the way.
func TestWaitFaults(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	watch := func(request string) bool {
		return strings.Contains(request, "/services?") && strings.Contains(request, "watch=true")
	}
	list := func(request string) bool {
		return strings.Contains(request, "/services?") && !strings.Contains(request, "watch=true")
	}
	for _, tt := range []struct {
		what  string
		fault fault
	}{
		{"a watch is too old to go on", fault{hits: watch, most: 2, do: refuse(http.StatusGone, "Expired", "too old resource version")}},
		{"a watch ends with an error event", fault{hits: watch, most: 2, do: func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			_, _ = w.Write([]byte(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old","reason":"Expired","code":410}}` + "\n"))
		}}},
		{"a watch ends at once", fault{hits: watch, most: 3, do: func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusOK) }}},
		{"a watch is cut", fault{hits: watch, most: 2, do: cutBefore}},
		{"watching is forbidden", fault{hits: watch, do: refuse(http.StatusForbidden, "Forbidden", `services is forbidden: User "u" cannot watch resource "services"`)}},
		{"listing is forbidden", fault{hits: list, do: refuse(http.StatusForbidden, "Forbidden", `services is forbidden: User "u" cannot list resource "services"`)}},
		{"lists fail for a while", fault{hits: list, most: 3, do: refuse(http.StatusInternalServerError, "InternalError", "etcd is tired")}},
		{"a gateway answers", fault{hits: list, most: 2, do: gateway}},
		{"a list is cut", fault{hits: list, most: 4, do: cutBefore}},
	} {
		t.Run(strings.ReplaceAll(tt.what, " ", "-"), func(t *testing.T) {
			t.Parallel()
			u := s.user(t, "wait")
			u.file("public.yaml", waitedFor)
			u.merges("-f", "public.yaml")
			p, err := newProxy(s.config)
			if err != nil {
				t.Fatal(err)
			}
			defer p.http.Close()
			sick := u.proxied(p)
			f := p.fails(tt.fault)
			ended := make(chan said)
			go func() { ended <- sick.tries("kubectl-merge", "wait", "-f", "public.yaml", "--timeout=2m") }()
			u.awaits(func() bool {
				select {
				case got := <-ended:
					t.Fatalf("ended before there was anything to end for\n%s", got)
				default:
				}
				return p.hit(f) > 0
			})
			u.addressed()
			got := <-ended
			if got.code != 0 || got.stdout != "service/public ready\n" {
				t.Errorf("want a Service that is ready\n%s", got)
			}
		})
	}
}

// TestWaitServerKilled kills the server while something is waited for, and brings it
// back.
func TestWaitServerKilled(t *testing.T) {
	s := fragile.need(t)
	u := s.user(t, "wait")
	u.file("public.yaml", waitedFor)
	u.merges("-f", "public.yaml")
	p, err := newProxy(s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer p.http.Close()
	ended := make(chan said, 1)
	go func() {
		ended <- u.proxied(p).tries("bash", "-c", "exec kubectl-merge wait -f public.yaml --timeout=5m 2>trouble")
	}()
	u.awaits(func() bool { return len(ended) > 0 || p.watches() })
	s.order(t, "kill")
	u.awaits(func() bool {
		trouble, err := os.ReadFile(filepath.Join(u.dir, "trouble"))
		return len(ended) > 0 || err == nil && strings.Contains(string(trouble), "trying again")
	})
	s.order(t, "start")
	u.addressed()
	if got := <-ended; got.code != 0 || got.stdout != "service/public ready\n" {
		t.Errorf("want a Service that is ready, whatever happened on the way\n%s", got)
	}
}

// TestWaitRequests: how much a wait asks for depends on kinds and namespaces, and not on how
// many objects there are.
func TestWaitRequests(t *testing.T) {
	t.Parallel()
	s := staffed.need(t)
	for _, n := range []int{2, 60} {
		u := s.user(t, "wait")
		var all strings.Builder
		for i := range n {
			name := fmt.Sprintf("web-%d", i)
			fmt.Fprintf(&all, "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: 0, selector: {matchLabels: {app: %s}}, template: {metadata: {labels: {app: %s}}, spec: {containers: [{name: app, image: 'web:1'}]}}}}\n", name, name, name)
		}
		u.merges("-f", u.file("all.yaml", all.String()))
		p, err := newProxy(s.config)
		if err != nil {
			t.Fatal(err)
		}
		defer p.http.Close()
		got := u.proxied(p).does("kubectl-merge", "wait", "-f", "all.yaml", "--timeout=2m")
		p.mu.Lock()
		reads := p.counts()["READ"]
		p.mu.Unlock()
		if ready := strings.Count(got.stdout, " ready\n"); ready != n || reads > 7 {
			t.Errorf("%d of %d Deployments ready after %d reads, want 7 at most: a list and a watch each of Deployments, ReplicaSets and pods, and the Deployments once more before the verdict", ready, n, reads)
		}
		t.Logf("%d Deployments: %d reads", n, reads)
	}
}
